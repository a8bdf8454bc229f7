"""A channel from displacements: Q[x, y], the probability that region x is released as y.

Hospitals are moved by rules of their own in many defences, so they have a table of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.steady import steady_product
from tracecup.attack.usertables import UserTables, tables_of
from tracecup.city import City

UNIFORM = 0.03
"""Share of a channel that is uniform over the city: nothing is impossible."""
KERNEL_WEIGHT = 5.0
"""A hospital's displacements count like so many observations of its own row."""
START_KM = 0.35
START_UNIFORM = 0.05
UNIT = 256


@dataclass(frozen=True, eq=False)
class Displacements:
    """How often a region was released so many rows and columns away.

    `shifts[0]` counts origins that are no hospitals, `shifts[1]` hospitals; both of shape
    (2 ny - 1, 2 nx - 1), no displacement in the middle. `hospitals[i, y]` counts releases of the
    i-th hospital region as y.
    """

    shifts: NDArray[np.float64]
    hospitals: NDArray[np.float64]

    def channel(
        self, city: City, uniform: float = UNIFORM, kernel_weight: float = KERNEL_WEIGHT
    ) -> NDArray[np.float32]:
        """Q[x, y], shape (regions, regions), rows sum to 1.

        Row x is the histogram of displacements of its kind, cut to the city; for a hospital
        `kernel_weight` times that plus its own releases; mixed with the uniform distribution.
        Without any displacement of a kind, that kind stays where it is. O(regions^2).
        """
        regions, at = city.n_regions, np.asarray(city.hospitals, dtype=np.int64)
        table = _rows(city, self.shifts[0], np.arange(regions))
        if len(at):
            own = self.hospitals + kernel_weight * _rows(city, self.shifts[1], at)
            table[at] = own / own.sum(axis=1, keepdims=True)
        return ((1 - uniform) * table + uniform / regions).astype(np.float32)

    @property
    def stay(self) -> float:
        """Share of the displacements, hospitals included, that are none."""
        middle = self.shifts[:, self.shifts.shape[1] // 2, self.shifts.shape[2] // 2]
        return float(middle.sum() / max(self.shifts.sum(), 1e-300))


def first_channel(city: City) -> NDArray[np.float32]:
    """Where learning starts: near regions are likelier, exp(-d / 0.35 km), and 5 % uniform."""
    table = np.exp(-city.grid.distances / START_KM)
    table /= table.sum(axis=1, keepdims=True)
    return ((1 - START_UNIFORM) * table + START_UNIFORM / city.n_regions).astype(np.float32)


def honest_channel(city: City) -> NDArray[np.float32]:
    """Every region is released as it is."""
    return np.eye(city.n_regions, dtype=np.float32)


class ExpectedReleases:
    """O[u, t, y] = sum_x P[u, t, x] Q[x, y], for `tables` P of users and a `channel` Q.

    Products are made of 256 users at a time, never of another number, since what a product rounds
    to depends on it; O(users slots regions^2).
    """

    def __init__(self, tables: UserTables | NDArray[np.float32], channel: NDArray[np.float32]):
        self._tables, self._channel = tables_of(tables), channel

    @property
    def shape(self) -> tuple[int, int, int]:
        return self._tables.shape

    def block(self, low: int, high: int) -> NDArray[np.float32]:
        """O of users low..high-1."""
        users, _, regions = self.shape
        first, last = low - low % UNIT, min(users, high + -high % UNIT)
        prior = self._tables.block(first, last)
        out = np.empty(prior.shape, dtype=np.float32)
        for begin in range(0, last - first, UNIT):
            some = slice(begin, begin + UNIT)
            steady_product(
                prior[some].reshape(-1, regions), self._channel, out=out[some].reshape(-1, regions)
            )
        return out[low - first : high - first]


def _rows(
    city: City, shifts: NDArray[np.float64], origins: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The histogram moved to each origin, cut to the city and normalised."""
    grid = city.grid
    down = grid.y[None, :] - grid.y[origins, None] + grid.ny - 1
    right = grid.x[None, :] - grid.x[origins, None] + grid.nx - 1
    rows = np.asarray(shifts[down, right], dtype=np.float64)
    lost = rows.sum(axis=1) <= 0
    rows[lost, origins[lost]] = 1.0
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))
