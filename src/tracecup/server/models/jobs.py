"""What is to be done: jobs as rows, leased by workers, renewed while they run, fenced on write.

A worker that lost its lease cannot write: its fence number is no longer the row's.
"""

from __future__ import annotations

from django.db import models

from tracecup.server.models.contests import Contest


class Job(models.Model):
    """One thing to do. States: waiting, running, done, dead (after `max_attempts`).

    `key` makes a job unique: asking for the same thing twice gives one job.
    """

    STATES = ("waiting", "running", "done", "dead")

    key = models.CharField(max_length=150, unique=True)
    kind = models.CharField(max_length=30)
    contest = models.ForeignKey(Contest, null=True, on_delete=models.CASCADE, related_name="jobs")
    payload = models.JSONField(default=dict)
    state = models.CharField(max_length=8, default="waiting")
    priority = models.SmallIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    max_attempts = models.PositiveSmallIntegerField(default=3)
    run_after = models.DateTimeField()
    lease_until = models.DateTimeField(null=True)
    fence = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=80, default="", blank=True)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    error = models.TextField(default="", blank=True)
    result = models.JSONField(default=dict)
    seconds = models.FloatField(null=True)

    class Meta:
        indexes = [models.Index(fields=["state", "run_after"])]


class WorkerToken(models.Model):
    """What a worker on another machine shows; needs no database password and no shared disk."""

    name = models.CharField(max_length=80, unique=True)
    token_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
