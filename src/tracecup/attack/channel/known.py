"""A known program: run it on public reference traces and look what it does to regions.

An attacker who knows the defence can do that as well as its owner.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.channel.table import Displacements
from tracecup.attack.infer.frequent import usual_regions
from tracecup.city import City
from tracecup.kernels import kernel
from tracecup.registry import ROOMS
from tracecup.rng import Rng
from tracecup.traces import SetTraces, Traces


def defence_named(name: str) -> Any:
    """The obfuscation of that name, or a chain of them."""
    # By name: attacks and obfuscations are rooms side by side, neither imports the other.
    return import_module(ROOMS["obfuscator"]).parse_obfuscator(name)


def run_defence(city: City, reference: Traces, defence: str, rng: Rng = None) -> Displacements:
    """What the named defence does to the regions of reference traces.

    A defence that looks at references itself gets the earlier half of the days for that and
    defends the later one, as when an attack is trained on public data; a single day stands for
    both. Unobserved events take the user's most frequent region while it runs and are not counted.
    """
    regions = reference.regions
    if reference.has_gaps:
        usual = usual_regions(reference, city.n_regions)
        regions = np.where(regions < 0, usual[:, None], regions)
    whole = Traces(regions, reference.users, reference.clock)
    method, days = defence_named(defence), reference.clock.days
    if not method.prepares or days < 2:
        return count_displacements(city, reference, method.obfuscate(city, whole, rng))
    known, own = whole.take_days(0, days // 2), whole.take_days(days // 2, days)
    released = method.obfuscate(city, own, rng, reference=known)
    return count_displacements(city, reference.take_days(days // 2, days), released)


def count_displacements(city: City, original: Traces, released: SetTraces) -> Displacements:
    """Displacements from original regions to released cells, event by event; O(members).

    A set counts as its origin generalised where the origin is a member, else each member counts
    1/size. Deleted cells and unobserved events count nothing.
    """
    grid, number = city.grid, hospital_numbers(city)
    shifts = np.zeros((2, 2 * grid.ny - 1, 2 * grid.nx - 1))
    hospitals = np.zeros((max(1, len(city.hospitals)), city.n_regions))
    _count(
        original.regions.reshape(-1), released.offsets, released.regions, number, grid.nx, grid.ny,
        shifts, hospitals,
    )  # fmt: skip
    return Displacements(shifts, hospitals[: len(city.hospitals)])


def hospital_numbers(city: City) -> NDArray[np.int32]:
    """For each region which hospital it is, -1 for none."""
    number = np.full(city.n_regions, -1, dtype=np.int32)
    number[list(city.hospitals)] = np.arange(len(city.hospitals))
    return number


@kernel
def _count(
    original: NDArray[np.int32],
    offsets: NDArray[np.int64],
    members: NDArray[np.int32],
    number: NDArray[np.int32],
    nx: int,
    ny: int,
    shifts: NDArray[np.float64],
    hospitals: NDArray[np.float64],
) -> None:
    for j in range(len(original)):
        x, low, high = original[j], offsets[j], offsets[j + 1]
        if x < 0 or low == high:
            continue
        inside = False
        for at in range(low, high):
            inside = inside or members[at] == x
        share = 1.0 / (high - low)
        for at in range(low, low + 1 if inside else high):
            y = x if inside else members[at]
            amount = 1.0 if inside else share
            kind = 1 if number[x] >= 0 else 0
            shifts[kind, y // nx - x // nx + ny - 1, y % nx - x % nx + nx - 1] += amount
            if kind == 1:
                hospitals[number[x], y] += amount
