"""A round as an archive: every file of it in the layout of `tracecup.contest.archive.folder`.

What is here is computed from rows and blobs; `tracecup contest verify` finds no difference in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tracecup.contest.archive.folder import (
    ABOUT_FILE,
    ATTACKS_FILE,
    CITY_FILE,
    CLOCK_FILE,
    COMMITMENTS_FILE,
    KNEW_FILE,
    PUBLIC,
    RESULTS,
    SECRET,
    SEED_FILE,
    WITHDRAWN_FILE,
    About,
    Archive,
    versions,
)
from tracecup.contest.challenges import ANSWER_FILES, ATTACK_KINDS
from tracecup.contest.entries import Entry, opening_name, sample_entries
from tracecup.contest.rules import Rules
from tracecup.contest.rules.file import RULES_FILE, rules_text
from tracecup.contest.season import in_archive
from tracecup.contest.smallfiles import json_text
from tracecup.server.entries import SAMPLES, entry_of, judged_of, knew_of, round_seed
from tracecup.server.judging.service import commitments
from tracecup.server.models import Release, ResultSet, Round, StoredFile, Submission
from tracecup.server.models.filekinds import TRUTH


@dataclass(frozen=True)
class ArchivePlan:
    """What lies where in the archive: `files` by SHA-256, `texts` as they are.

    `received`: those of them that teams handed in, for which they have receipts.
    """

    files: Mapping[str, str]
    texts: Mapping[str, str]
    received: Mapping[str, str]


def archive_plan(round: Round, result_set: ResultSet | None = None) -> ArchivePlan:
    """Where everything of a round belongs; with the results of a set, if one is given."""
    return _ArchivePlanner(round).plan(result_set)


class _ArchivePlanner:
    def __init__(self, round: Round) -> None:
        self.round, self.contest = round, round.contest
        rows = Release.objects.filter(round=round).select_related("team", "submission")
        self.releases = list(rows.order_by("label"))
        self.teams = max((entry_of(row).team for row in self.releases), default=0)
        stored = StoredFile.objects.filter(round=round)
        self.stored: dict[str, str] = dict(stored.values_list("name", "sha256"))
        # Only paths are asked of it; nothing is read or written.
        self.at = Archive(Path())
        self.files: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.received: dict[str, str] = {}

    def plan(self, result_set: ResultSet | None) -> ArchivePlan:
        self.files[f"{PUBLIC}/{CITY_FILE}"] = self.stored[CITY_FILE]
        self.files[f"{PUBLIC}/{CLOCK_FILE}"] = self.stored[CLOCK_FILE]
        for row in self.releases:
            self.data_set(row)
        for there, here in zip(SAMPLES, sample_entries(self.teams), strict=True):
            for kind in TRUTH:
                # An imported contest may have had no sample teams.
                if there.file(kind) in self.stored:
                    self.files[str(self.at.public_file(here, kind))] = self.stored[there.file(kind)]
        for team in range(self.teams + 1):
            sealed = self.stored[opening_name(team)]
            for opened in (True, False):
                self.files[str(self.at.opening_file(team, opened=opened))] = sealed
        tries = self.answers()
        self.about(tries)
        for name, (sha256, _) in (result_set.files if result_set else {}).items():
            self.files[f"{RESULTS}/{name}"] = sha256
        return ArchivePlan(self.files, self.texts, self.received)

    def data_set(self, row: Release) -> None:
        entry, at, out = entry_of(row), self.at, row.is_published
        for kind in ("reftraces", "orgtraces", "ptable"):
            # Of a release that was never published, an imported contest has what was there.
            if out or entry.file(kind) in self.stored:
                place = at.public_file if kind == "reftraces" else at.secret_file
                self.files[str(place(entry, kind))] = self.stored[entry.file(kind)]
        handed_in = at.secret_file(entry, "anotraces")
        if row.submission is not None:
            self.receive(handed_in, row.submission)
        elif entry.is_benchmark and out:
            self.files[str(handed_in)] = self.stored[entry.file("anotraces")]
        if out:
            released = entry.file("pubtraces")
            self.files[str(at.public_file(entry, "pubtraces"))] = self.stored[released]
        self.texts[str(at.submission_file(entry))] = json_text(judged_of(row).as_dict())

    def receive(self, path: Path, given: Submission) -> None:
        """A file that a team handed in, and its receipt."""
        self.files[str(path)] = self.received[str(path)] = given.sha256

    def answers(self) -> int:
        """Place all answers; the most tries that one attacker has against one target."""
        most, count = 0, dict[tuple[str, str, str], int]()
        named: dict[str, dict[str, str]] = {kind: {} for kind in ATTACK_KINDS}
        published = {entry_of(row) for row in self.releases if row.is_published}
        found = Submission.objects.filter(
            round=self.round, kind__in=ATTACK_KINDS, state="scored"
        ).select_related("team")
        for one in found.order_by("id"):
            entry, attacker = Entry(one.target, one.challenge), Entry(one.team.number).number
            if entry not in published or one.team.number > self.teams:
                continue
            cell = (one.kind, attacker, entry.label)
            count[cell] = count.get(cell, 0) + 1
            most = max(most, count[cell])
            path = self.at.answer_file(entry, ANSWER_FILES[one.kind], attacker, count[cell])
            self.receive(path, one)
            if one.consent and one.method:
                named[one.kind][attacker] = one.method
        for kind in ATTACK_KINDS:
            for column, attack in self.contest.rules.samples.columns(kind).items():
                named[kind][column] = attack
                for entry in published:
                    name = entry.answer(ANSWER_FILES[kind], column)
                    path = self.at.answer_file(entry, ANSWER_FILES[kind], column)
                    self.files[str(path)] = self.stored[name]
        self.texts[f"answers/{ATTACKS_FILE}"] = json_text(named)
        if knew := knew_of(self.releases):
            self.texts[f"answers/{KNEW_FILE}"] = json_text(knew)
        return most

    def about(self, tries: int) -> None:
        """Rules, versions, seed, commitments, and who was taken out of the competition."""
        source = "a contest of the server"
        self.texts[ABOUT_FILE] = About(self.teams, source, versions()).text
        self.texts[RULES_FILE] = rules_text(_with_tries(in_archive(self.contest.rules), tries))
        self.texts[f"{SECRET}/{SEED_FILE}"] = f'{{"seed": {round_seed(self.round)}}}\n'
        self.texts[f"{PUBLIC}/{COMMITMENTS_FILE}"] = json_text(commitments(self.round))
        gone = {
            Entry(team.number).number: team.status if team.status != "active" else "withdrawn"
            for team in self.contest.teams.filter(number__lte=self.teams)
            if team.status != "active" or team.deleted_at is not None
        }
        if gone:
            self.texts[WITHDRAWN_FILE] = json_text(gone)


def _with_tries(rules: Rules, tries: int) -> Rules:
    """Teams that were given more tries have more files than the rules say."""
    most = max(rules.limits.attack_tries, tries)
    return replace(rules, limits=replace(rules.limits, attack_tries=most))
