"""The queue and the stream of files as organisers see them: counts, open jobs, files per hour.

Typed; pages render it and the API returns it.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Count, Q
from ninja import Schema

from tracecup.server import clock
from tracecup.server.models import Contest, Job, Submission

HOURS_SHOWN = 24
JOBS_SHOWN = 30


class QueueCounts(Schema):
    """Jobs of a contest by state; `retried` are those not done that failed before."""

    waiting: int
    running: int
    retried: int
    dead: int
    oldest_waiting_seconds: float | None


class JobRow(Schema):
    """A job that is not done."""

    id: int
    kind: str
    key: str
    state: str
    attempts: int
    max_attempts: int
    since: datetime
    run_after: datetime
    worker: str
    error: str


class Hour(Schema):
    """How many files came in during an hour that begins at `at`."""

    at: datetime
    releases: int
    answers: int
    rejected: int


def queue_counts(contest: Contest | None = None) -> QueueCounts:
    """Jobs by state; of one contest, or of the site."""
    jobs = Job.objects.exclude(state="done")
    if contest is not None:
        jobs = jobs.filter(contest=contest)
    found = jobs.aggregate(
        waiting=Count("pk", filter=Q(state="waiting")),
        running=Count("pk", filter=Q(state="running")),
        retried=Count("pk", filter=Q(state__in=("waiting", "running"), attempts__gt=1)),
        dead=Count("pk", filter=Q(state="dead")),
    )
    now = clock.now()
    oldest = (
        jobs.filter(state="waiting", run_after__lte=now)
        .order_by("run_after")
        .values_list("run_after", flat=True)
        .first()
    )
    age = (now - oldest).total_seconds() if oldest else None
    return QueueCounts(**found, oldest_waiting_seconds=age)


def open_jobs(contest: Contest | None = None) -> list[JobRow]:
    """Jobs that are not done, those given up first."""
    jobs = Job.objects.exclude(state="done")
    if contest is not None:
        jobs = jobs.filter(contest=contest)
    order = {"dead": 0, "running": 1, "waiting": 2}
    rows = sorted(jobs.order_by("pk")[:500], key=lambda job: (order.get(job.state, 3), job.pk))
    return [job_row(job) for job in rows[:JOBS_SHOWN]]


def job_row(job: Job) -> JobRow:
    """A job as organisers see it."""
    since = {"dead": job.finished_at, "running": job.started_at}.get(job.state) or job.created_at
    return JobRow(
        since=since,
        **{name: getattr(job, name) for name in JobRow.model_fields if name != "since"},
    )


def submissions_per_hour(contest: Contest, now: datetime) -> list[Hour]:
    """What came in during each of the last hours, oldest first; times of the contest's clock."""
    last = now.replace(minute=0, second=0, microsecond=0)
    begins = [last - timedelta(hours=k) for k in reversed(range(HOURS_SHOWN))]
    rows = Submission.objects.filter(contest=contest, received_at__gte=begins[0])
    counts = {at: [0, 0, 0] for at in begins}
    for at, kind, state in rows.values_list("received_at", "kind", "state"):
        hour = at.replace(minute=0, second=0, microsecond=0)
        if hour in counts:
            place = 2 if state == "rejected" else 0 if kind == "release" else 1
            counts[hour][place] += 1
    return [
        Hour(at=at, releases=found[0], answers=found[1], rejected=found[2])
        for at, found in counts.items()
    ]
