"""What every measure keeps: a number between 0 and 1 within its interval, its seed, gaps.

Run on small cases: 5 x 7 regions, 3 slots a day, sets, deletions, unobserved events.
"""

from __future__ import annotations

import math

import numpy as np

from tracecup.attack import Case, Measure, Measured
from tracecup.checks.result import Check, demand
from tracecup.checks.samples import blind_case, deleted_case, ordinary_case, tiny_case
from tracecup.checks.surroundings import (
    SEED,
    demand_any_rng,
    demand_same_bytes,
    demand_untouched,
    inputs_of,
)
from tracecup.rng import Rng
from tracecup.traces import Traces


def is_within_its_interval(method: Measure) -> None:
    """measure gives a Measured with low <= value <= high, all between 0 and 1."""
    _demand_sound(method, ordinary_case())


def leaves_its_input_alone(method: Measure) -> None:
    """City, known traces and release are the same afterwards."""
    case = ordinary_case(gaps=0.2)
    demand_untouched(lambda: _measured(method, case), *inputs_of(case))


def same_seed_gives_the_same_number(method: Measure) -> None:
    """The same seed gives the same number, on one thread and on two."""
    demand_same_bytes(lambda seed: np.array(_measured(method, ordinary_case(), seed).value))


def takes_any_rng(method: Measure) -> None:
    """rng may be a seed, a NumPy generator or None: use tracecup.rng.generator(rng)."""
    demand_any_rng(lambda rng: _measured(method, ordinary_case(), rng))


def works_when_all_is_deleted(method: Measure) -> None:
    """A release of deleted cells still has a measure."""
    _demand_sound(method, deleted_case())


def works_with_unobserved_events(method: Measure) -> None:
    """Known events of -1 are skipped; where there is nothing else, NaN is an answer."""
    _demand_sound(method, ordinary_case(gaps=0.4))
    _demand_sound(method, blind_case())


def start_measuring(method: Measure) -> object:
    """The work that has to refuse bad parameters."""
    return _measured(method, tiny_case(users=3))


MEASURE_CHECKS: tuple[Check, ...] = (
    is_within_its_interval,
    leaves_its_input_alone,
    same_seed_gives_the_same_number,
    takes_any_rng,
    works_when_all_is_deleted,
    works_with_unobserved_events,
)


def _measured(method: Measure, case: Case, rng: Rng = SEED) -> Measured:
    known, released = case.reference, case.released
    if method.known == "original":  # events of the same days
        known = Traces(known.regions[:, : released.times], known.users, released.clock)
    found: object = method.measure(case.city, known, released, rng)
    demand(isinstance(found, Measured), f"measure must give a Measured, got {found!r}")
    assert isinstance(found, Measured)
    return found


def _demand_sound(method: Measure, case: Case) -> None:
    found = _measured(method, case)
    low, high = found.interval.low, found.interval.high
    inside = math.isnan(found.value) or (high is not None and low <= found.value <= high)
    demand(
        inside and low >= 0 and (high is None or high <= 1),
        f"the value must be within its interval and both between 0 and 1, got {found.value} "
        f"and {found.interval}",
    )
