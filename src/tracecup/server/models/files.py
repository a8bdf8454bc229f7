"""Files of a contest: what each one is, whose it is, and where its bytes lie (by SHA-256).

The bytes are in the blob store (`storage`); a row gives them a name and an owner.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import models
from django.utils.translation import gettext_noop as _

from tracecup.server.models.contests import Contest, Round, Team
from tracecup.server.models.people import Person


@dataclass(frozen=True)
class FileKind:
    """A kind of file: in a few words (`label`) and, where it can be fetched, in a sentence.

    `of_data`: made with the data, and anew when the rules of the data change. `telling`: tells
    scores, so it is hidden while they are. `paper`: of the judge's files those that organisers
    may read.
    """

    name: str
    label: str
    about: str
    of_data: bool = False
    telling: bool = False
    paper: bool = False


FILE_KINDS = (
    FileKind(
        "reftraces",
        _("reference traces: older days that attackers know"),
        _("Reference traces: where each user was on the days before."),
        of_data=True,
    ),
    FileKind(
        "orgtraces",
        _("original traces: what you have to protect"),
        _("Original traces: what the team has to protect."),
        of_data=True,
    ),
    FileKind(
        "anotraces",
        _("obfuscated traces as handed in"),
        _("Obfuscated traces, before the shuffle."),
    ),
    FileKind(
        "pubtraces",
        _("released traces under pseudonyms"),
        _("A release: obfuscated traces under pseudonyms."),
        of_data=True,
    ),
    FileKind(
        "ptable",
        _("ID table: which user is behind which pseudonym"),
        _("The ID table: which pseudonym is which user."),
        of_data=True,
    ),
    FileKind(
        "info_region",
        _("the regions of the city with their hospitals"),
        _("The city: every region with its centre, and the hospitals."),
        of_data=True,
    ),
    FileKind(
        "info_time",
        _("the times of the traces"),
        _("The clock: day and time of every event."),
        of_data=True,
    ),
    FileKind(
        "opening",
        _("opening of a commitment"),
        _("The opening of a commitment: check it yourself."),
    ),
    FileKind(
        "archive",
        _("the whole contest; checked with tracecup contest verify"),
        _("The whole contest in one archive."),
        telling=True,
        paper=True,
    ),
    FileKind(
        "report",
        _("the report: one page with all charts"),
        _("The report: one page with all charts."),
        telling=True,
        paper=True,
    ),
    FileKind(
        "results",
        _("tables and score sheets of the results"),
        _("A table of the results."),
        telling=True,
    ),
    FileKind(
        "commitments",
        _("what the judge promised at publication, as hashes"),
        _("What the judge promised at publication, as hashes."),
    ),
    FileKind(
        "scores",
        _("tables of scores"),
        _("The scores as a table."),
        telling=True,
        paper=True,
    ),
    FileKind(
        "etable",
        _("answer: inferred ID table"),
        "",
    ),
    FileKind(
        "etraces",
        _("answer: inferred traces"),
        "",
    ),
)
"""Kinds of files that have words; a model of one's own city and jobs' files have none."""
KIND_OF_FILE = {one.name: one for one in FILE_KINDS}


class StoredFile(models.Model):
    """A file that the judge made: data, releases, tables, openings, results.

    `kind`: one of `FILE_KINDS` (anotraces: the benchmark's; etable, etraces: of sample attacks;
    scores: files of a result set; results: those of the published one), or `city`, `model`.
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
