"""The queue: jobs as rows, leased for a while, renewed while they run, fenced when they write.

A worker that dies loses its lease and the job is taken again; one that comes back too late finds
another fence number and writes nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.dispatch import Signal

from tracecup.server import clock
from tracecup.server.jobs.kinds import declared, kind_of, while_paused
from tracecup.server.models import Contest, Job

MAX_ATTEMPTS = 5
BACKOFF_SECONDS = 2.0
LONGEST_BACKOFF = 300.0
LONGEST_ERROR = 1000

log = logging.getLogger(__name__)

job_died = Signal()
"""Sent with `job`, inside the transaction that gives it up."""


class LostLease(Exception):
    """Somebody else has the job now; nothing was written."""


class NotNow(Exception):
    """A job that has to wait for something else; costs no attempt."""

    def __init__(self, reason: str, seconds: float = 5.0) -> None:
        super().__init__(reason)
        self.reason, self.seconds = reason, seconds


def enqueue(
    kind: str,
    key: str,
    payload: dict[str, Any],
    *,
    contest: Contest | None = None,
    run_after: Any = None,
    max_attempts: int = MAX_ATTEMPTS,
) -> Job:
    """Put a job in the queue; the same key again gives the job that is there.

    Call it inside the transaction that makes the job necessary: both happen, or neither.
    """
    at = clock.now()
    job, _ = Job.objects.get_or_create(
        key=key,
        defaults={
            "kind": kind,
            "contest": contest,
            "payload": payload,
            "priority": kind_of(kind).priority,
            "run_after": run_after or at,
            "max_attempts": max_attempts,
            "created_at": at,
        },
    )
    return job


def lease(worker: str, kinds: Iterable[str] | None = None) -> Job | None:
    """Take the most urgent job that is ready, or whose worker is gone; None if there is none."""
    ready = _ready(kinds)
    if not ready.exists():  # SQLite: look before taking the write lock
        return None
    while True:
        with transaction.atomic():
            job = _first(ready)
            if job is None:
                return None
            at = clock.now()
            if job.attempts >= job.max_attempts:
                _bury(job, job.error or "its worker died each time")
                continue
            job.state, job.worker = "running", worker[:80]
            job.attempts, job.fence = job.attempts + 1, job.fence + 1
            job.started_at, job.finished_at = at, None
            job.lease_until = at + timedelta(seconds=settings.CONFIG.lease_seconds)
            job.save()
            return job


def renew(job: Job) -> bool:
    """Keep a job for another while; False if it is somebody else's by now."""
    until = clock.now() + timedelta(seconds=settings.CONFIG.lease_seconds)
    return _held(job).update(lease_until=until) == 1


def finish(
    job: Job,
    result: dict[str, Any],
    apply: Callable[[Job], None] | None = None,
    seconds: float | None = None,
) -> None:
    """Write what a job found, and that it is done, in one transaction.

    `LostLease` if the fence is not this worker's any more: then nothing is written.
    """
    with transaction.atomic():
        row = _held(job).select_for_update().first()
        if row is None:
            raise LostLease(job.key)
        if apply is not None:
            apply(row)
        row.state, row.result, row.error = "done", result, ""
        row.finished_at, row.lease_until, row.seconds = clock.now(), None, seconds
        row.save()


def finish_idle(job: Job, prepare: Callable[[Job], object | None]) -> None:
    """End a job that `prepare` found nothing to do for, if that still holds.

    Between the look and the end a withdrawn answer may have been restored, by somebody who saw
    that its job runs. `NotNow` then: it is taken again.
    """

    def still(row: Job) -> None:
        if prepare(row) is not None:
            raise NotNow("there is something to do now", 0)

    finish(job, {}, still)


def fail(job: Job, error: str, *, final: bool = False) -> None:
    """Note that an attempt failed: again later, or dead after the last one (or if `final`)."""
    with transaction.atomic():
        row = _held(job).select_for_update().first()
        if row is None:
            raise LostLease(job.key)
        if final or row.attempts >= row.max_attempts:
            _bury(row, error)
            return
        wait = min(BACKOFF_SECONDS * 2.0 ** (row.attempts - 1), LONGEST_BACKOFF)
        row.state, row.error, row.lease_until = "waiting", error[:LONGEST_ERROR], None
        row.run_after = clock.now() + timedelta(seconds=wait)
        row.save()


def put_back(job: Job, reason: str, seconds: float) -> None:
    """Let a job wait that could not begin; the attempt is not counted."""
    _held(job).update(
        state="waiting",
        attempts=F("attempts") - 1,
        error=reason[:LONGEST_ERROR],
        lease_until=None,
        run_after=clock.now() + timedelta(seconds=seconds),
    )


def again(job: Job) -> None:
    """Give a dead job new attempts; what it was for is open again."""
    with transaction.atomic():
        changed = Job.objects.filter(pk=job.pk, state="dead").update(
            state="waiting", attempts=0, run_after=clock.now(), finished_at=None
        )
        revived = kind_of(job.kind).revived
        if changed and revived is not None:
            revived(job)


def dead_jobs(contest: Contest | None = None) -> QuerySet[Job]:
    """The jobs that organisers have to look at; of one contest, or all."""
    found = Job.objects.filter(state="dead").order_by("-finished_at")
    return found if contest is None else found.filter(contest=contest)


def pending(prefix: str) -> QuerySet[Job]:
    """The jobs whose key begins like this and that are neither done nor dead."""
    return Job.objects.filter(key__startswith=prefix, state__in=("waiting", "running"))


def _held(job: Job) -> QuerySet[Job]:
    return Job.objects.filter(pk=job.pk, fence=job.fence, state="running")


def _ready(kinds: Iterable[str] | None) -> QuerySet[Job]:
    at = clock.now()
    # A job that was never put off is ready whatever a clock that was set back says.
    ready = Job.objects.filter(
        Q(state="waiting", run_after__lte=at)
        | Q(state="waiting", run_after__lte=F("created_at"))
        | Q(state="running", lease_until__lt=at)
    ).filter(
        Q(contest=None)
        | Q(contest__deleted_at=None, contest__paused_at=None)
        | Q(contest__deleted_at=None, kind__in=while_paused())
    )
    if kinds is not None:
        ready = ready.filter(kind__in=list(kinds))
    return ready.order_by("-priority", "id")


def _first(ready: QuerySet[Job]) -> Job | None:
    """Two workers never take the same job: SQLite has one writer, PostgreSQL skips locked rows."""
    if connection.vendor == "postgresql":
        ready = ready.select_for_update(skip_locked=True, of=("self",))
    return ready.first()


def _bury(job: Job, error: str) -> None:
    """The end of a job that never worked; what it was for is told in the same transaction."""
    job.state, job.error, job.lease_until = "dead", error[:LONGEST_ERROR], None
    job.finished_at = clock.now()
    job.save()
    log.error("a job died", extra={"job": job.pk, "kind": job.kind})
    kind = declared().get(job.kind)
    if kind is not None and kind.died is not None:
        kind.died(job)
    job_died.send(Job, job=job)
