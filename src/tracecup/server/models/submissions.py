"""What teams hand in: releases and answers of attackers, with state, receipt and cost.

States: rejected (not readable; costs nothing), queued, scoring, scored, failed (by us; the try is
given back), withdrawn.
"""

from __future__ import annotations

import secrets

from django.db import models

from tracecup.server.models.contests import Contest, Round, Team
from tracecup.server.models.people import Person

STATES = ("rejected", "queued", "scoring", "scored", "failed", "withdrawn")


def new_ref() -> str:
    """The public name of a submission; says nothing about how many there are."""
    return secrets.token_hex(6)


def new_receipt() -> str:
    """The secret part of a receipt's link."""
    return secrets.token_urlsafe(24)


class Submission(models.Model):
    """One file handed in by a team.

    `kind` release: the team's own obfuscated traces of data set `challenge`. `kind` reid, trace:
    an answer (ID table, inferred traces) against the release of team `target` (0: benchmark) of
    data set `challenge`. `chosen` marks the release that counts. `charged`: costs a try.
    """

    ref = models.CharField(max_length=12, unique=True, default=new_ref)
    receipt = models.CharField(max_length=40, default=new_receipt)
    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="submissions")
    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="submissions")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="submissions")
    kind = models.CharField(max_length=7)
    challenge = models.CharField(max_length=5)
    target = models.PositiveSmallIntegerField(null=True)
    attempt = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=9)
    charged = models.BooleanField(default=False)
    chosen = models.BooleanField(default=False)
    idempotency_key = models.CharField(max_length=80)
    batch = models.CharField(max_length=12, default="", blank=True)
    file_name = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    size = models.BigIntegerField()
    received_at = models.DateTimeField()
    by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL)
    via = models.CharField(max_length=6)
    method = models.TextField(default="", blank=True)
    consent = models.BooleanField(default=False)
    valid = models.BooleanField(null=True)
    reason = models.TextField(default="", blank=True)
    problems = models.JSONField(default=list)
    score = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    scorer = models.CharField(max_length=40, default="", blank=True)
    inputs_sha256 = models.CharField(max_length=64, default="", blank=True)
    seconds = models.FloatField(null=True)
    scored_at = models.DateTimeField(null=True)
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "idempotency_key"], name="idempotent")
        ]
        indexes = [models.Index(fields=["round", "team", "kind", "challenge", "target"])]
        ordering = ["id"]
