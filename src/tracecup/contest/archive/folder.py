"""The archive of a contest: one folder that holds all of it, and where in it everything lies.

Public, secret, answers and results have a folder each; secrets are readable by their owner only.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path

from tracecup import __version__
from tracecup.city import City, ContestClock, read_city, read_clock
from tracecup.contest.challenges import ATTACK_KINDS, CHALLENGES, AttackKind
from tracecup.contest.entries import (
    BENCHMARK,
    Entry,
    opening_name,
    sample_entries,
    team_entries,
    team_label,
)
from tracecup.contest.judging.files import StoredFiles
from tracecup.contest.judging.judge import Judge
from tracecup.contest.judging.judged import JudgedRelease
from tracecup.contest.rules import Rules
from tracecup.contest.rules.file import RULES_FILE, read_rules
from tracecup.contest.smallfiles import json_text, read_json
from tracecup.errors import InvalidFile, Problem

FORMAT = "tracecup-archive-1"
ABOUT_FILE = "archive.json"
CITY_FILE, CLOCK_FILE = "info_region.csv", "info_time.csv"
PUBLIC, SECRET, ANSWERS, RESULTS = "public", "secret", "answers", "results"
OPENINGS = "openings"
COMMITMENTS_FILE = "commitments.json"
ATTACKS_FILE = "attacks.json"
KNEW_FILE = "knew.json"
PUBLIC_KINDS = ("reftraces", "pubtraces")
WITHDRAWN_FILE = "withdrawn.json"
RECEIPTS_FILE = "receipts.json"
SEED_FILE, BOTS_FILE, MODEL_FILE = "seed.json", "bots.json", "model.npz"


@dataclass(frozen=True)
class About:
    """What is played: how many teams, where their data come from, with which versions."""

    teams: int
    source: str
    versions: Mapping[str, str]

    @property
    def text(self) -> str:
        """The file that says it."""
        held = {
            "format": FORMAT,
            "teams": self.teams,
            "source": self.source,
            "versions": dict(self.versions),
        }
        return json_text(held)


@dataclass(frozen=True)
class Received:
    """The receipt of a file: the SHA-256 of its bytes as they arrived, which the team was told,
    and of its plain content, whatever it was packed in.
    """

    sha256: str
    content_sha256: str


@dataclass(frozen=True)
class Archive(StoredFiles):
    """An archive at `root`; everything in it is found through this class.

    It is the `RoundFiles` that the judge's steps work on.
    """

    root: Path

    @cached_property
    def about(self) -> About:
        """What is played."""
        path = self.root / ABOUT_FILE
        held = read_json(path)
        try:
            if held["format"] != FORMAT:
                raise ValueError(held["format"])
            versions = {str(k): str(v) for k, v in held["versions"].items()}
            return About(int(held["teams"]), str(held["source"]), versions)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidFile(path, [Problem(0, "", "something else", f"a {FORMAT}")]) from error

    @cached_property
    def rules(self) -> Rules:
        return read_rules(self.root / RULES_FILE)

    @cached_property
    def city(self) -> City:
        return read_city(self.public / CITY_FILE)

    @cached_property
    def clock(self) -> ContestClock:
        return read_clock(self.public / CLOCK_FILE)

    @cached_property
    def judge(self) -> Judge:  # type: ignore[override]  # mypy: not an attribute; it is made once, then kept
        """The judge that these rules make."""
        return Judge(self.rules, self.city, self.clock)

    @property
    def entries(self) -> list[Entry]:
        """The data sets of the teams; none where nobody took part."""
        teams = self.about.teams
        return team_entries(teams, self.rules.challenges_played) if teams else []

    @property
    def defenders(self) -> list[Entry]:
        """The benchmark, then the data sets of the teams."""
        return [BENCHMARK, *self.entries]

    @property
    def samples(self) -> list[Entry]:
        """The data sets of the sample teams."""
        return sample_entries(self.about.teams)

    @property
    def attackers(self) -> list[str]:
        """The teams as attackers: `001`, `002`, ..."""
        return [Entry(team).number for team in range(1, self.about.teams + 1)]

    @property
    def all_attackers(self) -> list[str]:
        """The teams, then the sample attacks by column."""
        samples = (column for kind in ATTACK_KINDS for column in self.sample_attacks(kind))
        return [*self.attackers, *samples]

    @cached_property
    def withdrawn(self) -> dict[str, str]:
        """Teams (`003`) taken out of the competition after their releases were judged, and why.

        They play hors concours from then on; most archives have no such file.
        """
        path = self.root / WITHDRAWN_FILE
        held = read_json(path) if path.exists() else {}
        if not isinstance(held, dict) or not set(held) <= set(self.attackers):
            raise InvalidFile(path, [Problem(0, "", "something else", "teams with reasons")])
        return {str(team): str(reason) for team, reason in held.items()}

    @cached_property
    def receipts(self) -> dict[str, Received]:
        """What teams handed in, by place in the archive; seasons of bots have no receipts."""
        path = self.secret / RECEIPTS_FILE
        held = read_json(path) if path.exists() else {}
        try:
            found = {str(name): Received(**one) for name, one in held.items()}
        except (TypeError, AttributeError) as error:
            raise InvalidFile(path, [Problem(0, "", "something else", "receipts")]) from error
        return found

    def sample_attacks(self, kind: AttackKind) -> dict[str, str]:
        """The sample attacks of a kind: column -> name."""
        return self.rules.samples.columns(kind)

    @property
    def public(self) -> Path:
        """What everybody may see while the contest runs."""
        return self.root / PUBLIC

    @property
    def secret(self) -> Path:
        """What nobody but the judge may see while the contest runs."""
        return self.root / SECRET

    @property
    def results(self) -> Path:
        """Scores and awards."""
        return self.root / RESULTS

    def public_file(self, entry: Entry, kind: str) -> Path:
        """A file of a team that others may see: reftraces, pubtraces; of sample teams all."""
        return self.public / team_label(entry.team) / entry.file(kind)

    def secret_file(self, entry: Entry, kind: str) -> Path:
        """A file of a team that is kept: orgtraces, anotraces, ptable."""
        return self.secret / team_label(entry.team) / entry.file(kind)

    def submission_file(self, entry: Entry) -> Path:
        """What a team handed in and what the judge said, as JSON."""
        return self.secret / team_label(entry.team) / f"submission_{entry.label}.json"

    def opening_file(self, team: int, *, opened: bool) -> Path:
        """The opening of a team's commitment: sealed among the secrets, or opened to all."""
        folder = self.root if opened else self.secret
        return folder / OPENINGS / opening_name(team)

    def answer_file(self, entry: Entry, kind: str, attacker: str, attempt: int = 1) -> Path:
        """An answer (etable, etraces) of a team (`003`) or of a sample attack (`I2`)."""
        folder = team_label(int(attacker)) if attacker.isdigit() else attacker
        return self.root / ANSWERS / folder / entry.answer(kind, attacker, attempt)

    def answer_files(self, entry: Entry, kind: str, attacker: str) -> list[Path]:
        """All tries of an attacker against a target that are there, the first one first."""
        tries = (
            self.answer_file(entry, kind, attacker, k + 1)
            for k in range(self.rules.limits.attack_tries)
        )
        return [path for path in tries if path.exists()]

    def locate(self, entry: Entry, kind: str) -> Path:
        """Where a file of a data set lies: nothing of a sample team is secret."""
        if kind in PUBLIC_KINDS or entry in self.samples:
            return self.public_file(entry, kind)
        return self.secret_file(entry, kind)

    def locate_answers(self, entry: Entry, kind: AttackKind, attacker: str) -> list[Path]:
        """All tries of an attacker against a target that are there, the first one first."""
        return self.answer_files(entry, CHALLENGES[kind].answer, attacker)

    def judged(self, entry: Entry) -> JudgedRelease:
        """What was handed in for a data set and what the judge said."""
        path = self.submission_file(entry)
        try:
            return JudgedRelease.of_dict(read_json(path))
        except ValueError as error:
            if isinstance(error, InvalidFile):
                raise
            raise InvalidFile(path, [Problem(0, "", str(error), "a submission")]) from error

    @property
    def attack_names(self) -> dict[tuple[AttackKind, str], str]:
        """(kind, attacker) -> what the attacker says it did."""
        path = self.root / ANSWERS / ATTACKS_FILE
        held = read_json(path)
        try:
            return {
                (kind, str(name)): str(said)
                for kind in ATTACK_KINDS
                for name, said in held[kind].items()
            }
        except (KeyError, TypeError, AttributeError) as error:
            found = Problem(0, "", "something else", "names of attacks")
            raise InvalidFile(path, [found]) from error

    @property
    def knew(self) -> dict[tuple[str, str], str]:
        """(release, column) -> what a sample attack knew of it; older archives do not tell."""
        path = self.root / ANSWERS / KNEW_FILE
        held = read_json(path) if path.exists() else {}
        try:
            return {
                (str(release), str(column)): str(said)
                for release, told in held.items()
                for column, said in told.items()
            }
        except AttributeError as error:
            found = Problem(0, "", "something else", "what sample attacks knew")
            raise InvalidFile(path, [found]) from error

    def is_published(self, entry: Entry) -> bool:
        """Whether a release of this data set is out."""
        return self.public_file(entry, "pubtraces").exists()

    def published(self) -> list[Entry]:
        """The releases that are out, the benchmark first."""
        return [entry for entry in self.defenders if self.is_published(entry)]


def versions() -> dict[str, str]:
    """What computes the results: they are byte-equal where these are equal."""
    needed = ("numpy", "scipy", "numba", "pyarrow", "zstandard")
    return {
        "tracecup": __version__,
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in needed},
    }
