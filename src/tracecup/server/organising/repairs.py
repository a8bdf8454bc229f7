"""What organisers do by hand when something went wrong, or is to happen now: always with a reason.

Jobs again, submissions again or away, publication now, a new result set, a backup.
"""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.errors import Refused
from tracecup.server.jobs.queue import again, enqueue, pending
from tracecup.server.judging.service import (
    publish_round,
)
from tracecup.server.models import Contest, Job, ResultSet, Round, Submission
from tracecup.server.people.erasure import erase_people_of
from tracecup.server.reasons import (
    require_reason,
)
from tracecup.server.results.service import compute_result_set, publish_result_set
from tracecup.server.submissions import choices
from tracecup.server.submissions.choices import locked_submission, stand_again
from tracecup.server.submissions.scoring import (
    enqueue_scoring,
    scoring_key,
)

BACKUP_KIND = "backup"


def retry_job(job: Job, actor: Actor, why: str) -> None:
    """Put a job that was given up into the queue again, with new attempts."""
    why = require_reason(why)
    with transaction.atomic():
        held = Job.objects.select_for_update().get(pk=job.pk)
        if held.state != "dead":
            raise Refused("conflict", _("Only a job that was given up can be tried again."))
        log.record(
            actor,
            "job.retry",
            contest=held.contest,
            subject=f"job:{held.kind}",
            before={"state": held.state, "attempts": held.attempts, "error": held.error},
            after={"state": "waiting", "attempts": 0},
            why=why,
        )
        again(held)
    job.refresh_from_db()


def withdraw(submission: Submission, actor: Actor, why: str) -> Submission:
    """Take a submission of a team away, at any time; `restore` undoes it."""
    return choices.withdraw(submission, actor, why=require_reason(why), at_any_time=True)


def restore(submission: Submission, actor: Actor, why: str) -> Submission:
    """Undo a withdrawal."""
    return choices.restore(submission, actor, why=require_reason(why))


def rerun(submission: Submission, actor: Actor, why: str) -> None:
    """Have an answer scored again; what it costs does not change.

    A failed one counts again and costs its try again, if the team has one left (`Refused`).
    """
    why = require_reason(why)
    with transaction.atomic():
        # The job first, as workers and `retry_job` do: nobody waits for the other.
        list(Job.objects.select_for_update().filter(key=scoring_key(submission)))
        held = locked_submission(submission)
        if not may_rerun(held):
            raise Refused("conflict", _("Only an answer that was scored, or failed, is run again."))
        before = {"state": held.state, "score": held.score, "charged": held.charged}
        held = stand_again(held)
        # Without its old score: withdrawn and restored meanwhile, it would pass for scored.
        held.state, held.score, held.low, held.high = "queued", None, None, None
        held.save(update_fields=["state", "score", "low", "high"])
        enqueue_scoring(held)
        log.record(
            actor,
            "submission.rerun",
            contest=held.contest,
            subject=f"submission:{held.ref}",
            before=before,
            after={"state": held.state, "charged": held.charged},
            why=why,
        )
    submission.refresh_from_db()


def may_rerun(submission: Submission) -> bool:
    """Whether an answer can be scored again; releases are measured when they come in."""
    return submission.kind != "release" and submission.state in ("scored", "failed")


def publish_now(round: Round, actor: Actor, why: str) -> None:
    """Publish the judged releases of a round, whatever the clock says."""
    publish_round(round, actor, require_reason(why))
    round.refresh_from_db()


def ask_results(round: Round, actor: Actor, why: str) -> ResultSet:
    """Have a new set of results computed, as a draft beside the others."""
    return compute_result_set(round, require_reason(why), actor)


def publish_results(result_set: ResultSet, actor: Actor, why: str) -> ResultSet:
    """Make a set of results the published one."""
    return publish_result_set(result_set, actor, require_reason(why))


def forget_people(contest: Contest, actor: Actor, why: str) -> int:
    """Erase the personal data of the players of a contest that is over; how many accounts."""
    return erase_people_of(contest, actor, require_reason(why))


def ask_backup(actor: Actor) -> Job:
    """Have a backup of the whole server made by a worker; one at a time."""
    with transaction.atomic():
        if pending(f"{BACKUP_KIND}:").exists():
            raise Refused("conflict", _("A backup is being made already."))
        log.record(actor, "backup.ask")
        return enqueue(BACKUP_KIND, f"{BACKUP_KIND}:{clock.now().isoformat()}", {})
