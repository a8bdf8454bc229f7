"""A tiny world (six by six regions, people with four places each) and a season played in it."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from tracecup import City, ContestClock, Grid, Traces
from tracecup.contest.archive.folder import Archive
from tracecup.contest.entries import Entry
from tracecup.contest.rules import ChallengeRules, CityRules, ClockRules, Rules
from tracecup.contest.season import Season, play

SHARES = (0.5, 0.3, 0.15, 0.05)


class TinyWorld:
    """Everybody has four places and is in one of them at every event."""

    name = "a tiny world"
    city = City(Grid.from_metres(6, 6, width_m=341.25, height_m=346.875), hospitals=[7, 20])

    def prepare(self, model: Path, say: object) -> None:
        pass

    def data(
        self, entry: Entry, clock: ContestClock, users: int, seed: int
    ) -> tuple[Traces, Traces]:
        random = np.random.default_rng(seed)
        places = random.integers(36, size=(users, 4))
        reference, original = (
            Traces.of(
                np.take_along_axis(places, random.choice(4, p=SHARES, size=(users, part.times)), 1),
                part,
            )
            for part in (clock.reference, clock.original)
        )
        return reference, original


def tiny_rules(*, users: int = 20, days: int = 2, reid: bool = False) -> Rules:
    return Rules(
        name="A tiny season",
        users=users,
        city=CityRules(None, "public/info_region.csv"),
        clock=ClockRules(days=days, slots=4),
        challenges=ChallengeRules(reidentification=reid),
    )


@pytest.fixture(scope="session")
def tiny_world() -> TinyWorld:
    return TinyWorld()


@pytest.fixture(scope="session")
def tiny_season() -> Season:
    """Five teams: two tries, one hors concours, one invalid among them."""
    return Season(tiny_rules(), teams=5, seed=1)


@pytest.fixture(scope="session")
def played(
    tmp_path_factory: pytest.TempPathFactory, tiny_world: TinyWorld, tiny_season: Season
) -> Archive:
    """A finished season; tests only read it."""
    return play(tmp_path_factory.mktemp("season") / "archive", tiny_season, tiny_world)


@pytest.fixture
def own_copy(played: Archive, tmp_path: Path) -> Archive:
    """A finished season that a test may spoil."""
    shutil.copytree(played.root, tmp_path / "archive")
    return Archive(tmp_path / "archive")


def contents(folder: Path) -> dict[str, bytes]:
    """All files of an archive but the timings."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "timings.json"
    }


@pytest.fixture(scope="session")
def contents_of():
    return contents
