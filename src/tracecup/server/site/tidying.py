"""Blobs that nobody names: left by killed uploads, failed attempts and files that gave way.

Once a day a job removes those that are older than a day.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import models

from tracecup.server import auditlog as log
from tracecup.server.access import SYSTEM
from tracecup.server.jobs.queue import enqueue
from tracecup.server.models import Contest, Job, ResultSet, StoredFile, Submission
from tracecup.server.storage import store

KIND = "tidy"
DAY = timedelta(days=1)
NAMING: dict[type[models.Model], str] = {
    StoredFile: "sha256",
    Submission: "sha256",
    Contest: "city_sha256",
}
"""The columns that name blobs; result sets name theirs in `files`."""


def due(at: datetime) -> list[Job]:
    """The job of a day, if it was not asked for; a server younger than a day has nothing old."""
    key = f"{KIND}:{at:%Y-%m-%d}"
    if Job.objects.filter(key=key).exists():
        return []
    if not Contest.objects.filter(created_at__lt=at - DAY).exists():
        return []
    return [enqueue(KIND, key, {})]


def handle_tidy(payload: dict[str, Any]) -> dict[str, Any]:
    """The job `tidy`: remove the blobs that no row names and nobody has put for a day.

    Every file is put before its row is written, and a put touches the blob: what is old and has
    no row will get none. A blob that is put again in this moment stays or is written anew.
    """
    old = store().unused_since(DAY.total_seconds())
    named = named_blobs()
    found = [sha256 for sha256 in old if sha256 not in named]
    sizes = [store().discard(sha256, DAY.total_seconds()) for sha256 in found]
    gone = [size for size in sizes if size is not None]
    result = {"removed": len(gone), "bytes": sum(gone), "left": len(sizes) - len(gone)}
    if gone:
        log.record(SYSTEM, "blobs.tidied", after=result)
    return result


def named_blobs() -> set[str]:
    """The SHA-256 of every blob that some row names."""
    found = {
        sha256
        for model, column in NAMING.items()
        for sha256 in model._default_manager.values_list(column, flat=True).distinct()
    }
    for files in ResultSet.objects.values_list("files", flat=True):
        found |= {sha256 for sha256, _size in files.values()}
    return found
