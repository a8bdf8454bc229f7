"""What organisers do by hand when something went wrong, or is to happen now: always with a reason.

Jobs again, submissions again or away, publication now, a new result set, a backup.
"""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.errors import Refused
from tracecup.server.models import Contest, Job, ResultSet, Round, Submission
from tracecup.server.services import log
from tracecup.server.services.rulechange import require_reason

BACKUP_KIND = "backup"


def retry_job(job: Job, actor: Actor, why: str) -> None:
    """Put a job that was given up into the queue again, with new attempts."""
    from tracecup.server.jobs.queue import again

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
    from tracecup.server.services import submissions

    return submissions.withdraw(submission, actor, why=require_reason(why), at_any_time=True)


def restore(submission: Submission, actor: Actor, why: str) -> Submission:
    """Undo a withdrawal."""
    from tracecup.server.services import submissions

    return submissions.restore(submission, actor, why=require_reason(why))


def forget_people(contest: Contest, actor: Actor, why: str) -> int:
    """Erase the personal data of the players of a contest that is over; how many accounts."""
    from tracecup.server.services.people import erase_people_of

    why = require_reason(why)
    with transaction.atomic():
        log.record(actor, "people.forget", contest=contest, why=why)
        return erase_people_of(contest, actor)


def ask_backup(actor: Actor) -> Job:
    """Have a backup of the whole server made by a worker; one at a time."""
    from tracecup.server.jobs.queue import enqueue, pending

    with transaction.atomic():
        if pending(f"{BACKUP_KIND}:").exists():
            raise Refused("conflict", _("A backup is being made already."))
        log.record(actor, "backup.ask")
        return enqueue(BACKUP_KIND, f"{BACKUP_KIND}:{clock.now().isoformat()}", {}, priority=5)
