"""Asking for the score of an answer: one job, in the transaction that accepts it.

What the job does is in `judging.kinds.score`.
"""

from __future__ import annotations

from tracecup.server import clock
from tracecup.server.jobs.queue import enqueue
from tracecup.server.models import Job, Submission


def enqueue_scoring(submission: Submission) -> Job:
    """Have an answer scored; call it in the transaction that accepts it (or restores it)."""
    job = enqueue(
        "score",
        scoring_key(submission),
        {"submission": submission.pk},
        contest=submission.contest,
    )
    if job.state in ("done", "dead"):
        job.state, job.attempts, job.run_after = "waiting", 0, clock.now()
        job.save(update_fields=["state", "attempts", "run_after"])
    return job


def scoring_key(submission: Submission) -> str:
    """The key of the job that scores an answer."""
    return f"score:{submission.round_id}:{submission.ref}"
