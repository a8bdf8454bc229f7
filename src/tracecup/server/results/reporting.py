"""The report of a round, made by a worker when results are published; a file for everybody.

It is made from what of the archive is public, so that no secret can be in it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings

from tracecup.server import clock
from tracecup.server.entries import keep_file
from tracecup.server.jobs.queue import enqueue
from tracecup.server.judging.compute.results import SECRET, lay_out
from tracecup.server.models import ResultSet
from tracecup.server.models.filekinds import KIND_OF_FILE
from tracecup.server.results.archiving import archive_plan
from tracecup.server.storage import store

KIND = "report"
REPORT_FILE = KIND_OF_FILE[KIND].file
SECONDS = 300


def enqueue_report(result_set: ResultSet) -> None:
    """Have the report of a published result set made."""
    if getattr(settings, "TRACECUP_INLINE", False):
        return  # where everything happens in one process, who wants a report asks for it
    round = result_set.round
    key = f"{KIND}:{round.pk}:{result_set.number}"
    enqueue(KIND, key, {"result_set": result_set.pk}, contest=round.contest)


def handle_report(payload: dict[str, Any]) -> dict[str, Any]:
    """The job: write the report and keep it. May happen twice; the last one stays."""
    found = ResultSet.objects.select_related("round__contest").get(pk=payload["result_set"])
    round = found.round
    if found.state != "published":
        return {}
    with TemporaryDirectory(dir=settings.CONFIG.incoming) as name:
        out = Path(name) / REPORT_FILE
        _write(found, Path(name) / "archive", out)
        blob = store().put_file(out)
    at = clock.contest_now(round.contest)
    keep_file(round, REPORT_FILE, blob, kind=KIND, visible_from=at)
    return {"size": blob.size}


def _write(found: ResultSet, folder: Path, out: Path) -> None:
    plan, blobs = archive_plan(found.round, found), store()
    files = {
        name: str(blobs.checked(sha256))
        for name, sha256 in plan.files.items()
        if not name.startswith(SECRET)
    }
    texts = {name: text for name, text in plan.texts.items() if not name.startswith(SECRET)}
    lay_out(folder, files, texts, link=True)
    teams = found.round.contest.teams.values_list("number", "name")
    names = {f"{number:03d}": name for number, name in teams}
    subprocess.run(
        [sys.executable, "-m", "tracecup.server.judging.compute.report", str(folder), str(out)],
        input=json.dumps(names).encode(),
        timeout=SECONDS,
        check=True,
        capture_output=True,
    )
