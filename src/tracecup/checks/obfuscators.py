"""What every obfuscation keeps: the input, users and clock, the city, its seed.

Run on small traces: 5 x 7 regions, 3 slots a day, ids and clock that do not begin at 1 and 0.
"""

from __future__ import annotations

import numpy as np

from tracecup.checks.result import Check, demand
from tracecup.checks.samples import mixed_cells, original_traces, small_city
from tracecup.checks.surroundings import (
    SEED,
    demand_any_rng,
    demand_same_bytes,
    demand_untouched,
)
from tracecup.errors import InvalidTraces
from tracecup.obfuscate import Obfuscator
from tracecup.traces import SetTraces, Traces


def gives_a_cell_for_every_event(method: Obfuscator) -> None:
    """The result is a SetTraces with one cell for every event of every user."""
    original = original_traces()
    result = _obfuscated(method, original)
    demand(
        result.shape == original.shape,
        f"{original.shape} users and events went in, {result.shape} came out",
    )


def keeps_users_and_clock(method: Obfuscator) -> None:
    """The result has the users and the clock of the original."""
    original = original_traces()
    result = _obfuscated(method, original)
    demand(
        np.array_equal(result.users, original.users),
        "the users changed: hand original.users to SetTraces(offsets, regions, users, clock)",
    )
    demand(result.clock == original.clock, "the clock changed: hand on original.clock")


def stays_in_the_city(method: Obfuscator) -> None:
    """Released regions are regions of the city, at most as many in a cell as the city has."""
    result, n_regions = _obfuscated(method, original_traces()), small_city().n_regions
    if result.regions.size:
        largest = int(result.regions.max())
        demand(
            largest < n_regions,
            f"region {largest} was released, the city has 0..{n_regions - 1} "
            "(city.n_regions; grids need not be square)",
        )
    demand(
        int(np.diff(result.offsets).max(initial=0)) <= n_regions,
        f"a cell may list at most {n_regions} regions, as many as the city has",
    )


def leaves_its_input_alone(method: Obfuscator) -> None:
    """The traces and the city that go in are the same afterwards."""
    original, city = original_traces(), small_city()
    demand_untouched(lambda: method.obfuscate(city, original, SEED), original, city)


def same_seed_gives_same_bytes(method: Obfuscator) -> None:
    """The same seed gives the same cells, on one thread and on two."""
    demand_same_bytes(lambda seed: method.obfuscate(small_city(), original_traces(), seed))


def takes_any_rng(method: Obfuscator) -> None:
    """rng may be a seed, a NumPy generator or None: use tracecup.rng.generator(rng)."""
    demand_any_rng(lambda rng: method.obfuscate(small_city(), original_traces(), rng))


def works_for_one_user(method: Obfuscator) -> None:
    """One user is enough."""
    _demand_sound(method, original_traces(users=1))


def works_for_one_event(method: Obfuscator) -> None:
    """One user with one event is enough."""
    _demand_sound(method, original_traces(users=1, days=1, slots=1))


def refuses_unfit_traces(method: Obfuscator) -> None:
    """Traces without users or outside the city raise InvalidTraces."""
    for what, traces in (
        ("region 35 of a city of 35", _with_first_region(35)),
        ("traces without users", original_traces(users=0)),
    ):
        try:
            method.obfuscate(small_city(), traces, SEED)
        except InvalidTraces:
            continue
        demand(
            False,
            f"{what} was accepted: define _obfuscate and leave obfuscate to Obfuscator, which "
            "checks its input",
        )


def takes_gaps_or_says_why(method: Obfuscator) -> None:
    """An unobserved event becomes a cell like any other, or InvalidTraces says why it cannot."""
    traces = _with_first_region(-1)
    try:
        result = method.obfuscate(small_city(), traces, SEED)
    except InvalidTraces as error:
        demand("gap" in str(error), f"gaps were refused for another reason: {error}")
        return
    demand(
        isinstance(result, SetTraces) and result.shape == traces.shape,
        f"traces with a gap of shape {traces.shape} became {result}",
    )


def works_as_a_later_stage(method: Obfuscator) -> None:
    """obfuscate_cells takes deleted and generalised cells and gives a cell for each of them."""
    cells, city = mixed_cells(), small_city()
    result = method.obfuscate_cells(city, cells, SEED)
    demand(
        isinstance(result, SetTraces)
        and result.shape == cells.shape
        and np.array_equal(result.users, cells.users)
        and result.clock == cells.clock,
        "obfuscate_cells must keep users, events and clock; leave it to Obfuscator unless the "
        "method moves whole traces",
    )


def start_obfuscation(method: Obfuscator) -> object:
    """The work that has to refuse bad parameters."""
    return method.obfuscate(small_city(), original_traces(users=2), SEED)


OBFUSCATOR_CHECKS: tuple[Check, ...] = (
    gives_a_cell_for_every_event,
    keeps_users_and_clock,
    stays_in_the_city,
    leaves_its_input_alone,
    same_seed_gives_same_bytes,
    takes_any_rng,
    works_for_one_user,
    works_for_one_event,
    refuses_unfit_traces,
    takes_gaps_or_says_why,
    works_as_a_later_stage,
)


def _with_first_region(region: int) -> Traces:
    traces = original_traces()
    regions = np.array(traces.regions)
    regions[0, 0] = region
    return Traces(regions, traces.users, traces.clock)


def _obfuscated(method: Obfuscator, original: Traces) -> SetTraces:
    result: object = method.obfuscate(small_city(), original, SEED)
    demand(
        isinstance(result, SetTraces),
        f"obfuscate must give a SetTraces, got {type(result).__name__}",
    )
    assert isinstance(result, SetTraces)
    return result


def _demand_sound(method: Obfuscator, original: Traces) -> None:
    result = _obfuscated(method, original)
    demand(
        result.shape == original.shape and np.array_equal(result.users, original.users),
        f"of {original.shape} users and events {result.shape} came out",
    )
    demand(
        int(result.regions.max(initial=0)) < small_city().n_regions,
        "a region outside the city was released",
    )
