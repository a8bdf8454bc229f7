"""Small inputs for the checks: a city that is no square, few slots, gaps, sets, deletions.

All arrays can be written to by brute force, so that a method that does so is found out.
"""

from __future__ import annotations

import numpy as np

from tracecup.attack import Case
from tracecup.city import City, Clock, Grid
from tracecup.synth import Training
from tracecup.traces import SetTraces, Traces

USERS = 12
SLOTS = 3
DAYS = 2
SIZES = (0, 1, 1, 1, 2, 4)


def small_city() -> City:
    """5 columns, 7 rows, two hospitals."""
    return City(Grid.from_metres(5, 7, width_m=341.25, height_m=346.875), hospitals=(3, 20))


def original_traces(users: int = USERS, days: int = DAYS, slots: int = SLOTS) -> Traces:
    """Original traces whose ids are not 1..m and whose clock does not begin at 0.

    The first user visits the first and the last region of the city.
    """
    random = np.random.default_rng(2019)
    clock = Clock.regular(days, slots, first_time=days * slots)
    regions = random.integers(35, size=(users, clock.times), dtype=np.int32)
    if users:
        regions[0, 0], regions[0, -1] = 0, 34
    return Traces(regions, 3 * np.arange(users) + 5, clock)


def mixed_cells() -> SetTraces:
    """Cells of no, one and several regions; a region may stand twice; the last user has none."""
    random = np.random.default_rng(2020)
    clock = Clock.regular(DAYS, SLOTS, first_time=DAYS * SLOTS)
    sizes = random.choice(SIZES, size=(USERS, clock.times))
    sizes[-1] = 0
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    regions = random.integers(35, size=int(offsets[-1]), dtype=np.int32)
    return SetTraces(offsets, regions, np.arange(USERS + 1, 2 * USERS + 1), clock)


def ordinary_case(gaps: float = 0.0) -> Case:
    """Twelve users; with `gaps`, that share of the reference is unobserved, and one user whole."""
    random = np.random.default_rng(2021)
    clock = Clock.regular(DAYS + 1, SLOTS)
    regions = random.integers(35, size=(USERS, clock.times), dtype=np.int32)
    regions[random.random(regions.shape) < gaps] = -1
    if gaps:
        regions[3] = -1
    reference = Traces(regions, np.arange(1, USERS + 1), clock)
    return Case(small_city(), reference, mixed_cells())


def blind_case() -> Case:
    """Reference traces in which nothing at all was observed."""
    case = ordinary_case()
    nothing = np.full(case.reference.shape, -1, dtype=np.int32)
    reference = Traces(nothing, case.reference.users, case.reference.clock)
    return Case(case.city, reference, case.released)


def deleted_case() -> Case:
    """A release of which every cell is deleted."""
    case = ordinary_case()
    offsets = np.zeros(len(case.released.offsets), dtype=np.int64)
    empty = np.empty(0, dtype=np.int32)
    released = SetTraces(offsets, empty, case.released.users, case.released.clock)
    return Case(case.city, case.reference, released)


def tiny_case(users: int = 1, slots: int = SLOTS) -> Case:
    """Few users, one day."""
    random = np.random.default_rng(2022)
    clock = Clock.regular(1, slots)
    regions = random.integers(35, size=(users, slots), dtype=np.int32)
    released = original_traces(users, 1, slots)
    pseudonyms = np.arange(users + 1, 2 * users + 1)
    cells = SetTraces.of_traces(released).renamed(pseudonyms)
    return Case(small_city(), Traces(regions, np.arange(1, users + 1), clock), cells)


def training_records(users: int = 6) -> Training:
    """Three days of training with gaps, three slots a day."""
    random = np.random.default_rng(2023)
    clock = Clock.regular(3, SLOTS)
    regions = random.integers(35, size=(users, clock.times), dtype=np.int32)
    regions[:, 4] = -1
    return Training.of_traces(Traces(regions, np.arange(1, users + 1), clock), 35)
