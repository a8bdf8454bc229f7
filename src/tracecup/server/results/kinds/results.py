"""The job `results`: all results of a round, from the files of its archive.

Asked for when attacks are over, and by organisers.
"""

from __future__ import annotations

from typing import Any

from tracecup.server import clock
from tracecup.server.access import SYSTEM
from tracecup.server.entries import keep_file
from tracecup.server.jobs.plausible import require_tables
from tracecup.server.jobs.queue import NotNow, dead_jobs, pending
from tracecup.server.jobs.subjects import result_set_of
from tracecup.server.jobs.task import Outputs, Task
from tracecup.server.models import Job, ResultSet
from tracecup.server.results.archiving import archive_plan
from tracecup.server.results.service import publish_result_set

OPEN = ("computing", "failed")
PATIENCE = 8


def prepare(job: Job) -> Task | None:
    """The archive without results; later, while answers are still being scored."""
    found = result_set_of(job)
    round = found.round
    if found.state not in OPEN:
        return None
    for kind in ("score", "sample", "shuffle", "data"):
        if pending(f"{kind}:{round.pk}:").exists():
            raise NotNow(f"jobs of the kind {kind} are not done yet", 3)
    plan = archive_plan(round)
    return Task("results.of_round", {"texts": dict(plan.texts)}, plan.files, PATIENCE)


def apply(job: Job, result: dict[str, Any], outputs: Outputs) -> None:
    """Keep the result set; publish it if it was to go out by itself and nothing is amiss."""
    found = result_set_of(job)
    if found.state not in OPEN:
        return
    round = found.round
    require_tables(result["tables"])
    for name, blob in outputs.items():
        kept = f"set{found.number:02d}_{name}"
        keep_file(round, kept, blob, kind="scores")
    found.files = {name: [blob.sha256, blob.size] for name, blob in outputs.items()}
    found.tables, found.summary = result["tables"], result["summary"]
    found.scorer, found.seconds = result["scorer"], result["seconds"]
    found.inputs_sha256 = result["inputs_sha256"]
    found.state, found.created_at = "draft", clock.now()
    found.save()
    wanted = job.payload["automatic"] and round.auto_results and round.contest.paused_at is None
    # A letter that could not be sent changes no result.
    amiss = dead_jobs(round.contest).exclude(pk=job.pk).exclude(kind="mail")
    if wanted and not amiss.exists():
        publish_result_set(found, SYSTEM)


def died(job: Job) -> None:
    """The set stays, marked, so that organisers see it."""
    ResultSet.objects.filter(pk=job.payload["result_set"]).update(state="failed")


def revived(job: Job) -> None:
    """It is computed again."""
    ResultSet.objects.filter(pk=job.payload["result_set"], state="failed").update(state="computing")
