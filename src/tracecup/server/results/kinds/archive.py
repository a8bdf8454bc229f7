"""The job `archive`: the archive of a round as one file, for those to whom it is open.

Asked for when results are published.
"""

from __future__ import annotations

from typing import Any

from tracecup.server import clock
from tracecup.server.entries import keep_file
from tracecup.server.jobs.plausible import require_files
from tracecup.server.jobs.subjects import result_set_of
from tracecup.server.jobs.task import Outputs, Task
from tracecup.server.judging.compute.results import ZIP_FILE
from tracecup.server.models import Job, Round
from tracecup.server.models.filekinds import Audience
from tracecup.server.results.archiving import archive_plan

PATIENCE = 8


def prepare(job: Job) -> Task | None:
    """Everything of the round, with the results."""
    found = result_set_of(job)
    plan = archive_plan(found.round, found)
    payload = {"texts": dict(plan.texts), "received": dict(plan.received)}
    return Task("results.zipped", payload, plan.files, PATIENCE)


def apply(job: Job, _: dict[str, Any], outputs: Outputs) -> None:
    """Keep the file; originals and ID tables are in it, so it is the organisers' to open."""
    # Locked: who opens or closes the archive meanwhile does so before or after this.
    found = Round.objects.select_for_update(no_key=True)
    round = found.get(pk=result_set_of(job).round_id)
    name = f"{round.contest.slug}-{round.name}.zip"
    audience: Audience = "all" if round.archive_open else "judge"
    require_files(outputs, [ZIP_FILE])
    now = clock.contest_now(round.contest)
    keep_file(round, name, outputs[ZIP_FILE], kind="archive", audience=audience, visible_from=now)
