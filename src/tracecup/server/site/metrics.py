"""Numbers for Prometheus: counters and gauges without names of people, teams or contests.

The text format, version 0.0.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import Count

from tracecup.server.jobs.data import (
    queue_counts,
)
from tracecup.server.models import Contest, Download, Job, LogEntry, Person, Submission, Team
from tracecup.server.models.submissions import STATES
from tracecup.server.storage import store

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def metrics_text() -> str:
    """All numbers; each metric with its help and type."""
    return "".join(f"{line}\n" for line in _lines())


def _lines() -> Iterator[str]:
    contests = Contest.objects.filter(deleted_at=None)
    queue = queue_counts()
    yield from _metric("contests", "gauge", "Contests.", contests.count())
    yield from _metric(
        "contests_paused", "gauge", "Paused contests.", contests.exclude(paused_at=None).count()
    )
    yield from _metric("teams", "gauge", "Teams.", Team.objects.filter(deleted_at=None).count())
    yield from _metric(
        "people", "gauge", "Accounts.", Person.objects.filter(is_active=True).count()
    )
    yield from _by(
        "submissions", "gauge", "Files handed in.", ("state",), Submission.objects, STATES
    )
    yield from _by("jobs", "gauge", "Jobs.", ("kind", "state"), Job.objects)
    yield from _metric(
        "jobs_oldest_waiting_seconds",
        "gauge",
        "How long the oldest job has been waiting that could run.",
        queue.oldest_waiting_seconds or 0.0,
    )
    yield from _metric("downloads_total", "counter", "Files fetched.", Download.objects.count())
    yield from _metric(
        "log_entries_total", "counter", "Entries of the audit log.", LogEntry.objects.count()
    )
    yield from _metric("disk_free_bytes", "gauge", "Bytes left on the disk.", store().free())


def _metric(name: str, kind: str, about: str, value: float) -> Iterator[str]:
    yield f"# HELP tracecup_{name} {about}"
    yield f"# TYPE tracecup_{name} {kind}"
    yield f"tracecup_{name} {value:g}" if isinstance(value, float) else f"tracecup_{name} {value}"


def _by(
    name: str,
    kind: str,
    about: str,
    labels: tuple[str, ...],
    rows: Any,
    known: tuple[str, ...] = (),
) -> Iterator[str]:
    """A metric for each value of some columns."""
    yield f"# HELP tracecup_{name} {about}"
    yield f"# TYPE tracecup_{name} {kind}"
    found = {one[:-1]: one[-1] for one in rows.order_by().values_list(*labels, Count("pk"))}
    found = {(value,): 0 for value in known} | found
    for values, count in sorted(found.items()):
        said = ",".join(f'{label}="{value}"' for label, value in zip(labels, values, strict=True))
        yield f"tracecup_{name}{{{said}}} {count}"
