"""Practice data: a small team of its own for every student, with a release to attack.

Made from the shipped model by a seed, in milliseconds, so nothing of it has to be stored.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from tracecup.attack import Case
from tracecup.city import City, write_city, write_clock
from tracecup.contest.entries import Entry
from tracecup.contest.judging.answers import Truth
from tracecup.contest.judging.judge import Judge
from tracecup.contest.judging.published import publish
from tracecup.contest.rules import ClockRules, LimitRules, Rules
from tracecup.contest.worlds import BuiltinWorld
from tracecup.obfuscate import parse_obfuscator
from tracecup.rng import child_seed, generator
from tracecup.traces import SetTraces, Traces, visit_counts
from tracecup.traces.files import write_released, write_traces

RULES = Rules(name="Practice", users=60, clock=ClockRules(days=6), limits=LimitRules(file_mib=1))
"""Sixty users, six days: small enough for a spreadsheet, large enough that guessing fails."""
SHOWN_REGIONS, CANDIDATES = 5, 5
KEPT = 64


@dataclass(frozen=True)
class Visits:
    """Where somebody was: (region from 1, how often), the most frequent first."""

    name: int
    regions: tuple[tuple[int, int], ...]

    @property
    def most(self) -> tuple[tuple[int, int], ...]:
        """The few regions that a text names."""
        return self.regions[:SHOWN_REGIONS]


@dataclass(frozen=True)
class Puzzle:
    """One pseudonym and five users, one of whom it is; answered by looking."""

    pseudonym: Visits
    candidates: tuple[Visits, ...]
    answer: int


@dataclass(frozen=True, eq=False)
class Protected:
    """The people of a student's own release: known past, and originals to protect."""

    reference: Traces
    original: Traces


@dataclass(frozen=True, eq=False)
class Practice:
    """What a student gets (`case`), and what the check knows (`truth`).

    `protected` are other people, whom the student protects; whoever attacks one release must not
    hold its originals.
    """

    judge: Judge
    reference: Traces
    released: SetTraces
    truth: Truth
    protected: Protected

    @property
    def case(self) -> Case:
        """What an attacker gets: never an original trace or an ID table."""
        return self.judge.case(self.reference, self.released)

    def packed(self, *, released: bool, originals: bool) -> bytes:
        """A zip with files of a contest: the release to attack, other originals to protect.

        Originals are another team's (`protected`): with one's own the answers would be known.
        """
        held = BytesIO()
        with (
            TemporaryDirectory() as folder,
            zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as out,
        ):
            place = Path(folder)
            write_city(place / "info_region.csv", self.judge.city)
            write_clock(place / "info_time.csv", self.judge.clock)
            write_traces(place / "reftraces.csv", self.reference)
            if released:
                write_released(place / "pubtraces.csv", self.released)
            if originals:
                write_traces(place / "reftraces_own.csv", self.protected.reference)
                write_traces(place / "orgtraces_own.csv", self.protected.original)
            for path in sorted(place.iterdir()):
                # The same bytes for the same data, whenever they are asked for.
                out.writestr(zipfile.ZipInfo(path.name), path.read_bytes(), zipfile.ZIP_DEFLATED)
        return held.getvalue()

    def puzzle(self, seed: int) -> Puzzle:
        """A pseudonym, and five users to choose from."""
        assert self.truth.table is not None
        draw = generator(child_seed(seed, "puzzle"))
        regions = self.judge.city.n_regions
        known = visit_counts(self.reference, regions)
        seen = visit_counts(self.released, regions)
        users = len(self.truth.table)
        # One who can be told by eye: among the quarter that is most like its own past.
        alike = np.minimum(known[self.truth.table.users], seen).sum(axis=1)
        at = int(draw.choice(np.argsort(-alike, kind="stable")[: users // 4]))
        right = int(self.truth.table.users[at])
        others = draw.permutation([k for k in range(users) if k != right])[: CANDIDATES - 1]
        shown = sorted([right, *(int(k) for k in others)])
        return Puzzle(
            _visits(users + 1 + at, seen[at]),
            tuple(_visits(user + 1, known[user]) for user in shown),
            right + 1,
        )


@lru_cache(maxsize=KEPT)
def practice(defence: str, seed: int) -> Practice:
    """Practice data of a seed, released with a defence; the same seed, the same data.

    >>> made = practice("None", 1)
    >>> made.reference.shape, made.case.n_users
    ((60, 120), 60)
    """
    world = _world()
    judge = Judge(RULES, world.city, RULES.clock_of("final"))
    reference, original = world.data(Entry(1), judge.clock, RULES.users, child_seed(seed, "data"))
    method = parse_obfuscator(defence)
    obfuscated = method.obfuscate(
        world.city, original, child_seed(seed, "defence"), reference=reference
    )
    made = publish(world.city, reference, original, obfuscated, child_seed(seed, "shuffle"))
    own = world.data(Entry(2), judge.clock, RULES.users, child_seed(seed, "own"))
    return Practice(judge, reference, made.case.released, made.truth, Protected(*own))


def practice_city() -> City:
    """The city of all practice data, which is public."""
    return _world().city


@lru_cache(maxsize=KEPT)
def packed_practice(defence: str, seed: int, released: bool, originals: bool) -> bytes:
    """`Practice.packed`, kept: a class fetches its files more than once."""
    return practice(defence, seed).packed(released=released, originals=originals)


def _visits(name: int, counts: NDArray[np.float32]) -> Visits:
    order = np.argsort(-counts, kind="stable")
    return Visits(name, tuple((int(x) + 1, int(counts[x])) for x in order if counts[x] > 0))


@lru_cache(maxsize=1)
def _world() -> BuiltinWorld:
    return BuiltinWorld()
