"""Small training data and factors that the tests of this room share."""

from __future__ import annotations

import numpy as np
import pytest

from tracecup import Clock, Traces
from tracecup.records import Timetable
from tracecup.synth import Training
from tracecup.synth.factors import Factors
from tracecup.synth.tensors import Support


@pytest.fixture(scope="session")
def town() -> Training:
    """Twenty-three users of two habits on nine places, two days of six instants, with gaps."""
    random = np.random.default_rng(3)
    regions = np.empty((23, 12), dtype=np.int64)
    for u in range(23):
        home, work = (0, 4) if u % 2 else (8, 3)
        regions[u] = np.where(random.random(12) < 0.5, home, work)
        regions[u, random.random(12) < 0.2] = random.integers(9)
        regions[u, random.random(12) < 0.1] = -1
    clock = Clock.regular(days=2, slots=6, start=360, interval=60)
    return Training.of_traces(Traces.of(regions, clock), 9)


@pytest.fixture(scope="session")
def random_factors():
    """Makes factors; see `make_factors`."""
    return make_factors


def make_factors(seed: int, n: int = 4, locations: int = 12, slots: int = 4, z: int = 3) -> Factors:
    """Factors with weights of both signs, and a support of about half of everything."""
    random = np.random.default_rng(seed)
    A, B, C, D = (random.normal(0.3, 1.0, (q, z)) for q in (n, locations, locations, slots))
    seen = random.random((locations, locations)) < 0.5
    seen[1] = False
    seen[2] = True
    starts = np.concatenate([[0], np.cumsum(seen.sum(axis=1))]).astype(np.int64)
    support = Support(
        starts, np.nonzero(seen)[1].astype(np.int32), random.random((slots, locations)) < 0.6
    )
    root = random.normal(size=(z, z)) + 2 * np.eye(z)
    return Factors(
        "PPMTF(3,200)",
        1,
        A,
        B,
        C,
        D,
        random.normal(size=z),
        root @ root.T,
        random.integers(0, 5, locations).astype(np.float64),
        support,
        Timetable(360, 60, slots, slots),
        (np.uint64(1), np.uint64(2)),
        "",
    )
