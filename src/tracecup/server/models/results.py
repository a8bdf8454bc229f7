"""What the judge publishes: releases with their commitments, and sets of results.

A re-score makes a new result set beside the old one; one of a round is published at a time.
"""

from __future__ import annotations

from django.db import models

from tracecup.contest.entries import is_published
from tracecup.server.models.contests import Round, Team
from tracecup.server.models.jsontext import JsonText
from tracecup.server.models.submissions import Submission


class Release(models.Model):
    """The release of one data set in a round: verdict, commitment, files (by `StoredFile`).

    `team` None is the benchmark. A team that handed nothing in has a row with `submission` None
    and `valid` False. `scores` is the state of the sample attacks on it: {"I2": {"score": ...}}.
    """

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="releases")
    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE, related_name="releases")
    challenge = models.CharField(max_length=5)
    submission = models.ForeignKey(Submission, null=True, on_delete=models.PROTECT)
    label = models.CharField(max_length=40)
    valid = models.BooleanField()
    hors_concours = models.BooleanField(default=False)
    reason = models.TextField()
    utility = models.FloatField(null=True)
    utility_low = models.FloatField(null=True)
    utility_high = models.FloatField(null=True)
    method = models.TextField(default="", blank=True)
    commitment = models.CharField(max_length=64, default="", blank=True)
    scores = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["round", "label"], name="release_label")]
        ordering = ["label"]

    @property
    def is_published(self) -> bool:
        """Whether attackers get it."""
        return is_published(self.valid, self.hors_concours)


class ResultSet(models.Model):
    """All results of a round, computed at one time by one scorer.

    `tables` holds the tables of `contest.results` as lists of columns, `summary` its summary,
    `files` the result files as {name: [SHA-256, size]} (`users.csv` is only there).
    `state`: computing, draft (only organisers), published, superseded, failed.
    """

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="result_sets")
    number = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=10, default="draft")
    reason = models.TextField(default="", blank=True)
    scorer = models.CharField(max_length=40)
    inputs_sha256 = models.CharField(max_length=64)
    seconds = models.FloatField()
    tables = JsonText(default=dict)
    summary = JsonText(default=dict)
    files = models.JSONField(default=dict)
    created_at = models.DateTimeField()
    published_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["round", "number"], name="result_number")]
