"""The job `score`: one accepted answer against the truth.

Asked for in the transaction that accepts the answer.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction

from tracecup.contest.archive.folder import CITY_FILE
from tracecup.contest.entries import Entry
from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import SYSTEM
from tracecup.server.entries import digests
from tracecup.server.jobs.plausible import require_score
from tracecup.server.jobs.task import Outputs, Task
from tracecup.server.judging.compute.score import ANSWER
from tracecup.server.models import Job, Submission
from tracecup.server.submissions.choices import stand_again
from tracecup.server.submissions.quotas import enter

OPEN = ("queued", "scoring")


def prepare(job: Job) -> Task | None:
    """The answer and the truth; nothing for an answer that was withdrawn or is scored."""
    with transaction.atomic():
        found = _submission(job)
        if found.state == "queued":
            found.state = "scoring"
            found.save(update_fields=["state"])
        return _task(found) if found.state in OPEN else None


def apply(job: Job, result: dict[str, Any], _: Outputs) -> None:
    """Write the score, once."""
    require_score(result)
    found = _submission(job)
    if found.state not in OPEN:
        return
    found.state, found.scored_at = "scored", clock.now()
    found.score, found.low, found.high = result["score"], result["low"], result["high"]
    found.scorer, found.inputs_sha256 = result["scorer"], result["inputs_sha256"]
    found.seconds = result["seconds"]
    found.save(
        update_fields=[
            "state", "scored_at", "score", "low", "high", "scorer", "inputs_sha256", "seconds",
        ]
    )  # fmt: skip


def died(job: Job) -> None:
    """An answer that could not be scored: an error is never a score, the try is given back."""
    found = _submission(job)
    if found.state not in OPEN:
        return
    enter(found, "failed")
    subject, after = f"submission:{found.ref}", {"state": found.state, "charged": found.charged}
    log.record(SYSTEM, "submission.failed", contest=found.contest, subject=subject, after=after)


def revived(job: Job) -> None:
    """A dead job was given new attempts: the answer counts again, and so does its try."""
    stand_again(Submission.objects.get(pk=job.payload["submission"]))


def _task(found: Submission) -> Task:
    round = found.round
    entry = Entry(found.target, found.challenge)
    names = [CITY_FILE, entry.file("orgtraces"), entry.file("ptable")]
    inputs = digests(round, names)
    missing = [name for name in names if name not in inputs]
    if missing:
        raise LookupError(f"no file {missing[0]}")
    payload = {
        "rules": round.contest.rules_text,
        "round": round.name,
        "team": entry.team,
        "challenge": entry.challenge,
        "kind": found.kind,
    }
    return Task("score.answer", payload, inputs | {ANSWER: found.sha256})


def _submission(job: Job) -> Submission:
    found: Submission = (
        Submission.objects.select_for_update(of=("self",))
        .select_related("round__contest", "contest", "team")
        .get(pk=job.payload["submission"])
    )
    return found
