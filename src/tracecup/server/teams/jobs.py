"""The kind of job that sends letters about a contest, and the letter about a job that died.

See `tracecup.server.jobs.kinds`.
"""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from tracecup.server.jobs.kinds import Due, JobKind
from tracecup.server.jobs.queue import job_died
from tracecup.server.models import Job
from tracecup.server.teams.mailing import (
    handle_mail,
    tell_of_dead,
)

KINDS = (JobKind("mail", 85, while_paused=True, chore=handle_mail),)
DUE: tuple[Due, ...] = ()


@receiver(job_died)
def _tell(job: Job, **_: Any) -> None:
    tell_of_dead(job)
