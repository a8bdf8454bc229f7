"""The schedule: which acts of the judge are due on each contest's clock.

Asking twice gives one job.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db import transaction

from tracecup.server import clockwatch
from tracecup.server.jobs.queue import enqueue
from tracecup.server.judging.service import due_at, ensure_data
from tracecup.server.models import Contest, Job, Round


def due_acts(at: datetime) -> list[Job]:
    """Put the acts that are due into the queue; the new jobs.

    Nothing is due in a contest that is paused or deleted, nor in a round without instants; and
    while the clock is in doubt nothing but what demonstrations do.
    """
    made = []
    waiting = list(_waiting(at))
    real = [round for round, _act in waiting if not _is_demonstration(round.contest)]
    trusted = clockwatch.is_trusted(due=bool(real))
    for round, act in waiting:
        if trusted or _is_demonstration(round.contest):
            with transaction.atomic():
                ensure_data(round.contest)
                key = f"{act}:{round.pk}"
                made.append(enqueue(act, key, {"round": round.pk}, contest=round.contest))
    return made


def _waiting(at: datetime) -> Iterator[tuple[Round, str]]:
    """The acts that are due and were not asked for."""
    for contest in Contest.objects.filter(deleted_at=None, paused_at=None):
        here = at + timedelta(seconds=contest.clock_offset)
        for round in contest.rounds.filter(closed_at=None):
            round.contest = contest
            act = next_due(round, here)
            if act is not None and not Job.objects.filter(key=f"{act}:{round.pk}").exists():
                yield round, act


def _is_demonstration(contest: Contest) -> bool:
    return bool(contest.is_demo or contest.is_rehearsal)


def next_due(round: Round, at: datetime) -> str | None:
    """The act that is due at an instant of the contest's clock, the earliest one first."""
    for act, when in plan(round):
        if when is not None and when <= at:
            return act
        return None
    return None


def plan(round: Round) -> list[tuple[str, datetime | None]]:
    """The acts that are still to come in a round, in their order, each with its instant.

    None: at no set time, because it waits for the judge, the organisers or instants.
    """
    phases = round.rules.phases
    if not phases.scheduled:
        return []
    coming: list[tuple[str, datetime | None]] = []
    if round.announced_at is None:
        coming.append(("announce", phases.announce))
    if round.judging_at is None:
        coming.append(("judge", due_at(round, "release")))
    if round.published_at is None:
        ready = round.judged_at is not None or round.judging_at is None
        coming.append(("publish", phases.attack if ready and round.auto_publish else None))
    if round.closed_at is None:
        coming.append(("close", due_at(round, "attack")))
    return coming
