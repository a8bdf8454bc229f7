"""The audit log: append-only, every entry chained to the one before by SHA-256.

Nothing in the product updates or deletes a row of it.
"""

from __future__ import annotations

from django.db import models


class LogEntry(models.Model):
    """Who did what to whom, before, after, why. `hash` covers all columns and `previous`.

    References are plain text and numbers, so that the chain outlives what it tells about.
    """

    number = models.PositiveBigIntegerField(unique=True)
    at = models.CharField(max_length=32)
    contest = models.CharField(max_length=60, default="", blank=True)
    actor = models.CharField(max_length=160)
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=160, default="", blank=True)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    why = models.TextField(default="", blank=True)
    previous = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)

    class Meta:
        ordering = ["number"]
