"""Swap: users who are near each other at the same time exchange their regions.

Nobody moves far, and at every instant each region keeps exactly its number of visitors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City
from tracecup.engine import map_blocks
from tracecup.kernels import kernel
from tracecup.obfuscate.base import Knob, Obfuscator, single_cells
from tracecup.registry import parameter, register
from tracecup.rng import Rng, generator
from tracecup.traces import SetTraces, Traces


@register(
    "obfuscator",
    "Swap",
    "users within r km of each other exchange their regions",
    "after T. Dalenius, S. P. Reiss, Data-swapping: A Technique for Disclosure Control, "
    "Journal of Statistical Planning and Inference, 1982",
)
@dataclass(frozen=True)
class Swap(Obfuscator):
    """At every event, pairs of users within r km exchange their regions.

    Each user takes part in an event with probability p. Users are served in random order: one
    who takes part and has no partner yet gets one at random among all others who take part, have
    none yet and are within r km (same region included); the two exchange their regions. Who finds
    nobody keeps her region. So the population of every region at every event stays as it is.
    O(m l regions within r), threads over events.
    """

    r: float = parameter(1.0, "largest distance of two users who exchange, in km", low=0)
    p: float = parameter(1.0, "probability that a user takes part in an event", low=0, high=1)

    knobs: ClassVar[tuple[Knob, ...]] = (
        Knob("p", weak=0.0, strong=1.0),
        Knob("r", weak=0.0, strong=4.0),
    )

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        gen = generator(rng)
        shape = (original.times, original.n_users)
        order = np.argsort(gen.random(shape), axis=1, kind="stable").astype(np.int32)
        pick, joins = gen.random(shape), gen.random(shape) < self.p
        regions = np.ascontiguousarray(original.regions.T)
        swapped, grid = regions.copy(), city.grid
        near = grid.offset_km <= self.r + 1e-9
        rows, columns = int(near[:, 0].sum()), int(near[0].sum())
        map_blocks(
            lambda low, high: _swap_events(
                regions[low:high], order[low:high], pick[low:high], joins[low:high],
                near[:rows, :columns], grid.nx, grid.ny, swapped[low:high],
            ),
            original.times,
        )  # fmt: skip
        return single_cells(np.ascontiguousarray(swapped.T), original)


@kernel
def _swap_events(
    regions: NDArray[np.int32],
    order: NDArray[np.int32],
    pick: NDArray[np.float64],
    joins: NDArray[np.bool_],
    near: NDArray[np.bool_],
    nx: int,
    ny: int,
    swapped: NDArray[np.int32],
) -> None:
    """Rows are events; the users of a region who have no partner yet are a chain."""
    users = regions.shape[1]
    first, count = np.empty(nx * ny, dtype=np.int32), np.empty(nx * ny, dtype=np.int32)
    after, before = np.empty(users, dtype=np.int32), np.empty(users, dtype=np.int32)
    free = np.empty(users, dtype=np.bool_)
    for j in range(len(regions)):
        first[:], count[:] = -1, 0
        for i in range(users):
            free[i] = joins[j, i]
            if free[i]:
                _put(i, regions[j, i], first, count, after, before)
        for i in order[j]:
            if not free[i]:
                continue
            free[i] = False
            here = regions[j, i]
            _take(i, here, first, count, after, before)
            other = _partner(here, pick[j, i], near, nx, ny, first, count, after)
            if other < 0:
                continue
            free[other] = False
            _take(other, regions[j, other], first, count, after, before)
            swapped[j, i], swapped[j, other] = regions[j, other], here


@kernel
def _partner(
    here: int,
    pick: float,
    near: NDArray[np.bool_],
    nx: int,
    ny: int,
    first: NDArray[np.int32],
    count: NDArray[np.int32],
    after: NDArray[np.int32],
) -> int:
    """One of the waiting users within reach of a region, by a uniform number; -1 if none is."""
    x, y, total = here % nx, here // nx, 0
    low_y, high_y = max(0, y - near.shape[0] + 1), min(ny, y + near.shape[0])
    low_x, high_x = max(0, x - near.shape[1] + 1), min(nx, x + near.shape[1])
    for qy in range(low_y, high_y):
        for qx in range(low_x, high_x):
            if near[abs(qy - y), abs(qx - x)]:
                total += count[qy * nx + qx]
    left = int(pick * total)
    for qy in range(low_y, high_y):
        for qx in range(low_x, high_x):
            there = qy * nx + qx
            if not near[abs(qy - y), abs(qx - x)]:
                continue
            if left < count[there]:
                other = first[there]
                for _ in range(left):
                    other = after[other]
                return int(other)
            left -= count[there]
    return -1


@kernel
def _put(
    user: int,
    region: int,
    first: NDArray[np.int32],
    count: NDArray[np.int32],
    after: NDArray[np.int32],
    before: NDArray[np.int32],
) -> None:
    """Put a user at the head of a region's chain."""
    after[user], before[user] = first[region], -1
    if first[region] >= 0:
        before[first[region]] = user
    first[region] = user
    count[region] += 1


@kernel
def _take(
    user: int,
    region: int,
    first: NDArray[np.int32],
    count: NDArray[np.int32],
    after: NDArray[np.int32],
    before: NDArray[np.int32],
) -> None:
    """Take a user out of a region's chain."""
    if before[user] >= 0:
        after[before[user]] = after[user]
    else:
        first[region] = after[user]
    if after[user] >= 0:
        before[after[user]] = before[user]
    count[region] -= 1
