"""How much a release moves people: share and distance of moved regions, fitted to given links.

Expectation maximisation on the channel of `emission`, slots taken as independent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.markov.chains import Starts
from tracecup.attack.markov.emission import copies_of_offsets, emission_stencil, offsets_km
from tracecup.city import City
from tracecup.engine import map_blocks
from tracecup.kernels import kernel
from tracecup.traces import SetTraces

STEPS = 8
BLOCKS = 16
"""Parts of the users whose sums are added in order; fixed, so that threads do not matter."""
LEAST_ETA = 1e-4
SPREADS = 0.05, 10.0
"""Bounds of a fitted spread, km."""


class Channel(NamedTuple):
    """Share of regions that were moved, and the scale of their distance in km.

    `log_likelihood` is that of the linked cells before the last step.
    """

    eta: float
    spread: float
    log_likelihood: float


def fit_channel(
    city: City,
    released: SetTraces,
    users: NDArray[np.integer],
    profiles: Starts,
    eta: float = 0.2,
    spread: float = 0.35,
    steps: int = STEPS,
) -> Channel:
    """(eta, spread) that make the cells likelier, if pseudonym k is user `users[k]`.

    The likelihood is sum over cells o of log sum_x pi_u(x) f(o | x) with the `robust` f of
    `emission_stencil`. E: how much of each cell came from which offset, h(d). M: eta = the part of
    h that moved; spread = the one under which exp(-d / spread) has the mean distance of that part.
    The likelihood never falls. O(steps x cells x regions within 2 km).

    >>> from tracecup.city import Grid
    >>> city = City(Grid.from_metres(9, 1, width_m=300, height_m=300))
    >>> at_home = SetTraces.of_cells([[[4], [4], [4], [4]]])
    >>> fit_channel(city, at_home, np.array([0]), lambda low, high: np.eye(9)[[4]]).spread
    0.05
    """
    km, copies = offsets_km(city), copies_of_offsets(city)
    found = Channel(eta, spread, -np.inf)
    for _ in range(steps):
        stencil = emission_stencil(city, "robust", found.eta, found.spread)
        seen, gain = _expected_offsets(city, released, users, profiles, stencil)
        if seen.sum() == 0.0:
            return found
        rows, columns = seen.shape
        near, many = km[:rows, :columns], copies[:rows, :columns]
        moved = seen.copy()
        moved[0, 0] *= 1.0 - (1.0 - found.eta) / stencil[0, 0]
        share = float(np.clip(moved.sum() / seen.sum(), LEAST_ETA, 1.0))
        mean = float((moved * near).sum() / max(moved.sum(), LEAST_ETA))
        found = Channel(share, _spread_of(mean, near, many), gain)
    return found


def _spread_of(mean: float, km: NDArray[np.float64], copies: NDArray[np.float64]) -> float:
    """The scale at which the noise has the wanted mean distance, within `SPREADS`."""
    from scipy.optimize import brentq

    kept = copies > 0.0

    def excess(spread: float) -> float:
        weight = copies[kept] * np.exp(-km[kept] / spread)
        return float((weight * km[kept]).sum() / weight.sum() - mean)

    low, high = SPREADS
    if excess(low) >= 0.0:
        return low
    if excess(high) <= 0.0:
        return high
    return float(brentq(excess, low, high, xtol=1e-6))


def _expected_offsets(
    city: City,
    released: SetTraces,
    users: NDArray[np.integer],
    profiles: Starts,
    stencil: NDArray[np.float64],
) -> tuple[NDArray[np.float64], float]:
    """h by grid offset (|dy|, |dx|), and the log-likelihood."""
    seen = np.zeros((BLOCKS, *stencil.shape))
    gains = np.zeros(BLOCKS)
    bounds = np.linspace(0, released.n_users, BLOCKS + 1).astype(np.int64)

    def work(low: int, high: int) -> None:
        for part in range(low, high):
            for k in range(bounds[part], bounds[part + 1]):
                u = int(users[k])
                gains[part] += _add_offsets(
                    released.offsets, released.regions, k * released.times,
                    (k + 1) * released.times, profiles(u, u + 1)[0], stencil, city.grid.nx,
                    seen[part],
                )  # fmt: skip

    map_blocks(work, BLOCKS)
    return seen.sum(axis=0), float(gains.sum())


@kernel
def _add_offsets(
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    first: int,
    last: int,
    profile: NDArray[np.float64],
    stencil: NDArray[np.float64],
    nx: int,
    seen: NDArray[np.float64],
) -> float:
    """Add where the cells first..last-1 of one trace came from; the sum of their logarithms."""
    ny = len(profile) // nx
    rows, columns = stencil.shape
    share = np.empty(stencil.shape)
    gain = 0.0
    for cell in range(first, last):
        members = regions[offsets[cell] : offsets[cell + 1]]
        if len(members) == 0:
            continue
        share[:] = 0.0
        for s in members:
            x, y = s % nx, s // nx
            for qy in range(max(0, y - rows + 1), min(ny, y + rows)):
                for qx in range(max(0, x - columns + 1), min(nx, x + columns)):
                    dy, dx = abs(qy - y), abs(qx - x)
                    share[dy, dx] += profile[qy * nx + qx] * stencil[dy, dx]
        total = share.sum()
        gain += np.log(total / len(members))
        seen += share / total
    return gain
