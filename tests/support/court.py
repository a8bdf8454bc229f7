"""A court: a small contest that is played to any point, with real data and the real judge.

Team 1 hands in its traces as they are, team 2 moves some, team 3 is below the floor, team 4 hands
nothing in; each attacks in its own simple way.
"""

from __future__ import annotations

import io
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tracecup.city import City, read_city
from tracecup.contest.entries import BENCHMARK, Entry
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.jobs.worker import drain
from tracecup.server.judging.compute import setting
from tracecup.server.judging.service import ensure_data
from tracecup.server.models import Contest, Round, StoredFile, Submission, Team
from tracecup.server.storage import store
from tracecup.server.submissions import service as submissions
from tracecup.traces import SetTraces, Traces
from tracecup.traces.files import read_traces, write_obfuscated

USERS = 24


@dataclass
class Court:
    """The contest, its round, its teams by number, and a folder for files."""

    contest: Contest
    round: Round
    teams: dict[int, Team]
    folder: Path
    at: object

    def begin(self) -> Court:
        """Data for everybody, in the anonymization phase."""
        ensure_data(self.contest)
        self.at("anonymize")
        drain()
        return self.fresh()

    def fresh(self) -> Court:
        self.contest.refresh_from_db()
        self.round = Round.objects.select_related("contest").get(pk=self.round.pk)
        return self

    def path(self, name: str) -> Path:
        """A file of the judge."""
        return store().path(StoredFile.objects.get(round=self.round, name=name).sha256)

    def original(self, number: int) -> Traces:
        clock_of = self.contest.rules.clock_of(self.round.name)
        name = Entry(number).file("orgtraces")
        return read_traces(self.path(name), clock=clock_of.original, users=USERS)

    def release(self, number: int, deleted: int = 0, suffix: str = ".csv") -> Path:
        """The team's traces with the first users deleted: utility 1 - deleted/24."""
        original = self.original(number)
        cells = [[[int(region)] for region in row] for row in original.regions]
        cells[:deleted] = [[[] for _ in row] for row in cells[:deleted]]
        path = self.folder / f"anotraces_{number}_{deleted}{suffix}"
        write_obfuscated(path, SetTraces.of_cells(cells, original.clock))
        return path

    def hand_in(self, number: int, source, **more) -> Submission:
        """Hand a file in, by default a release of the trace challenge."""
        team = self.teams[number]
        given = {
            "kind": "release",
            "challenge": "trace",
            "target": None,
            "file_name": "file.csv",
            "key": secrets.token_hex(8),
            "received_at": clock.contest_now(self.contest),
            "actor": Actor(team.members.get().person, "api"),
        }
        source = io.BytesIO(source) if isinstance(source, bytes) else source
        self.fresh()
        return submissions.receive(self.round, team, source=source, **{**given, **more}).submission

    def hand_in_all(self) -> None:
        """Teams 1 and 2 valid, team 3 below the floor, team 4 nothing."""
        self.hand_in(1, self.release(1), method="None", consent=True)
        self.hand_in(2, self.release(2, deleted=6, suffix=".csv.gz"), method="secret way")
        self.hand_in(3, self.release(3, deleted=12), confirm_invalid=True)

    def table(self, shift: int) -> bytes:
        """An ID table; another one for each shift."""
        users = np.roll(np.arange(1, USERS + 1), shift)
        return ("user_id\n" + "\n".join(map(str, users)) + "\n").encode()

    def inferred(self, region: int) -> bytes:
        """Everybody stays in one region."""
        times = self.contest.rules.clock_of(self.round.name).original.times
        return ("reg_id\n" + f"{region}\n" * (USERS * times)).encode()

    def attack(self, number: int, target: int, kind: str = "reid", what: int = 1) -> Submission:
        """Hand in an answer against a team's release (0: the benchmark)."""
        source = self.table(what) if kind == "reid" else self.inferred(what)
        challenge = BENCHMARK.challenge if target == 0 else "trace"
        return self.hand_in(number, source, kind=kind, challenge=challenge, target=target)

    def attack_all(self) -> list[Submission]:
        """Some answers of every team, with two tries in one cell."""
        return [
            self.attack(1, 2, what=3),
            self.attack(1, 2, what=5),
            self.attack(1, 0, "trace", what=100),
            self.attack(2, 1, "trace", what=7),
            self.attack(2, 1, what=0),
            self.attack(3, 1, what=2),
            self.attack(4, 2, "trace", what=500),
        ]

    def to_attack(self) -> Court:
        """Released, judged, published."""
        self.begin().hand_in_all()
        self.at("attack")
        drain()
        return self.fresh()

    def to_results(self) -> Court:
        """Attacked, closed, results out."""
        self.to_attack().attack_all()
        self.at("results")
        drain()
        return self.fresh()


@pytest.fixture
def no_fsync(monkeypatch):
    """No power cut happens here; what a killed process leaves is tested with real ones."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


_cities: dict[str, City] = {}


def read_city_once(path) -> City:
    """The city of a stored file, whose name is its SHA-256: the same name, the same city."""
    name = Path(path).name
    if name not in _cities:
        _cities[name] = read_city(path)
    return _cities[name]


@pytest.fixture
def city_is_read_once(monkeypatch):
    """Every job reads the city; here all run in one process."""
    for module in (setting,):
        monkeypatch.setattr(module, "read_city", read_city_once)


@pytest.fixture
def court(contest, final, new_team, tmp_path, at, city_is_read_once) -> Court:
    """Four teams in the small contest."""
    contest.seed = f"{20190909:032x}"  # the same data in every run
    contest.save()
    teams = {k: new_team(contest) for k in range(1, 5)}
    folder = tmp_path / "court"
    folder.mkdir()
    return Court(contest, final, teams, folder, at)
