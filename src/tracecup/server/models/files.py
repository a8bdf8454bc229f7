"""Files of a contest: what each one is, whose it is, and where its bytes lie (by SHA-256).

The bytes are in the blob store (`storage`); a row gives them a name and an owner.
"""

from __future__ import annotations

from django.db import models

from tracecup.server.models.contests import Contest, Round, Team
from tracecup.server.models.people import Person


class StoredFile(models.Model):
    """A file that the judge made: data, releases, tables, openings, results.

    `kind`: one of `filekinds.FILE_KINDS` (anotraces: the benchmark's; etable, etraces: of sample
    attacks; scores: files of a result set; results: those of the published one).
    `audience`: `all` (from `visible_from` on), `team` (its own team), `judge`.
    `team` is None for the city, the clock and whole-contest files; sample teams and the
    benchmark are told by `entry_team` (0 benchmark, 901 and 902 samples).
    """

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="files")
    round = models.ForeignKey(Round, null=True, on_delete=models.CASCADE, related_name="files")
    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE, related_name="files")
    entry_team = models.PositiveSmallIntegerField(null=True)
    challenge = models.CharField(max_length=5, default="")
    kind = models.CharField(max_length=15)
    name = models.CharField(max_length=120)
    sha256 = models.CharField(max_length=64, db_index=True)
    size = models.BigIntegerField()
    audience = models.CharField(max_length=5)
    visible_from = models.DateTimeField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["contest", "round", "name"], name="file_name")
        ]


class Download(models.Model):
    """Who fetched what, when, and how much of it."""

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="downloads")
    file = models.ForeignKey(StoredFile, null=True, on_delete=models.SET_NULL)
    name = models.CharField(max_length=120)
    person = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL)
    team = models.ForeignKey(Team, null=True, on_delete=models.SET_NULL)
    at = models.DateTimeField()
    first = models.BigIntegerField(default=0)
    length = models.BigIntegerField()
