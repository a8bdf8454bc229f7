"""Teams with data, releases to attack, files to hand in: what the tests of intake start from.

Originals are random walks on 16 regions.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tracecup import City, Grid, SetTraces, Traces
from tracecup.city.files import write_city
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.models import Contest, Release, Round, StoredFile, Team
from tracecup.server.storage import store
from tracecup.server.submissions import scoring
from tracecup.server.submissions import service as submissions
from tracecup.server.submissions.intake import Accepted
from tracecup.traces.files import write_obfuscated, write_traces

REGIONS, USERS = 16, 24


@pytest.fixture
def asked(monkeypatch):
    """The submissions that judging was asked to score."""
    found: list[str] = []
    really = scoring.enqueue_scoring

    def enqueue_scoring(submission):
        found.append(submission.ref)
        return really(submission)

    monkeypatch.setattr(scoring, "enqueue_scoring", enqueue_scoring)
    return found


@dataclass
class Desk:
    """The desk at which files are handed in."""

    contest: Contest
    round: Round
    folder: Path
    originals: dict[int, Traces]

    def add_team(self, team: Team, challenge: str = "trace") -> None:
        """Give a team its original traces."""
        times = self.contest.rules.clock_of(self.round.name).original
        walk = np.random.default_rng(team.number).integers(0, REGIONS, (USERS, times.times))
        self.originals[team.number] = Traces(walk.astype(np.int32), np.arange(1, USERS + 1), times)
        name = f"orgtraces_team{team.number:03d}_data02_TRP.csv"
        path = self.folder / name
        write_traces(path, self.originals[team.number])
        self.add_file(name, path, kind="orgtraces", team=team, challenge=challenge)

    def add_file(self, name: str, source: Path | bytes, audience: str = "team", **more):
        """A file of the judge."""
        if isinstance(source, bytes):
            blob = store().put_blocks([source], 1 << 30)
        else:
            blob = store().put_file(source)
        defaults = {"round": self.round, "visible_from": clock.now(), "kind": "pubtraces"}
        return StoredFile.objects.create(
            contest=self.contest,
            name=name,
            sha256=blob.sha256,
            size=blob.size,
            audience=audience,
            created_at=clock.now(),
            **{**defaults, **more},
        )

    def release(self, team: Team, moved: int = 0, suffix: str = ".csv") -> Path:
        """A release: the original with the first `moved` users deleted (utility 1 - moved/24)."""
        original = self.originals[team.number]
        cells = [[[int(region)] for region in row] for row in original.regions]
        cells[:moved] = [[[] for _ in row] for row in cells[:moved]]
        path = self.folder / f"anotraces_{team.number}_{moved}{suffix}"
        write_obfuscated(path, SetTraces.of_cells(cells, original.clock))
        return path

    def table(self, first: int = 1) -> bytes:
        """An ID table; `first` makes it another file."""
        users = [first, *range(2, USERS + 1)]
        return ("user_id\n" + "\n".join(map(str, users)) + "\n").encode()

    def inferred(self, region: int = 1) -> bytes:
        """Inferred traces: everybody stays in one region."""
        times = self.contest.rules.clock_of(self.round.name).original.times
        return ("reg_id\n" + f"{region}\n" * (USERS * times)).encode()

    def zip(self, files: dict[str, bytes]) -> io.BytesIO:
        """A zip archive; the same files give the same bytes, whatever the time is."""
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
        made.seek(0)
        return made

    def publish(self, *teams: Team) -> None:
        """Open the attack phase with the benchmark and these teams' releases."""
        for team in (None, *teams):
            challenge = "trace" if team else "reid"
            label = f"team{team.number:03d}_data02_TRP" if team else "team000_data01_IDP"
            Release.objects.create(
                round=self.round, team=team, challenge=challenge, label=label, valid=True, reason=""
            )
        self.round.judging_at = self.round.judged_at = self.round.published_at = clock.now()
        self.round.save()

    def hand_in(self, team: Team, source, **more) -> Accepted:
        """Hand in a file; a release of the trace challenge unless told otherwise."""
        if isinstance(source, bytes):
            source = io.BytesIO(source)
        given = {
            "kind": "release",
            "challenge": "trace",
            "target": None,
            "file_name": "anotraces.csv",
            "key": f"key-{np.random.default_rng().integers(1 << 62)}",
            "received_at": clock.contest_now(self.contest),
            "actor": more.get("actor") or Actor(team.members.get().person, "api"),
        }
        return submissions.receive(self.round, team, source=source, **{**given, **more})

    def answer(self, team: Team, target: int, source=None, **more) -> Accepted:
        """Hand in an ID table against a team's release."""
        given = {"kind": "reid", "target": target, "file_name": "etable.csv"}
        return self.hand_in(team, source or self.table(), **{**given, **more})


@pytest.fixture
def desk(contest, final, team, tmp_path, asked):
    """The small contest with its city, and team 1 with its data."""
    path = tmp_path / "info_region.csv"
    write_city(path, City(Grid.from_metres(4, 4, width_m=1000, height_m=1000), hospitals=[3]))
    contest.city_sha256 = store().put_file(path).sha256
    contest.save()
    final.refresh_from_db()
    made = Desk(contest, Round.objects.get(pk=final.pk), tmp_path, {})
    made.add_team(team)
    return made


@pytest.fixture
def attackable(desk, new_team, at):
    """The attack phase with releases of teams 2 and 3; gives these teams."""
    others = [new_team(desk.contest), new_team(desk.contest)]
    at("attack")
    desk.publish(*others)
    return others
