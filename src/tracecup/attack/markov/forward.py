"""The likelihood of a released trace under a user's chain: forward passes, day by day.

On the regions that a cell allows; runs of deleted cells move together.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tracecup import scratch
from tracecup.attack.markov.chains import Chains, Starts
from tracecup.attack.markov.emission import cell_support
from tracecup.city import City
from tracecup.engine import map_blocks
from tracecup.errors import InvalidTraces
from tracecup.kernels import kernel
from tracecup.traces import SetTraces

MAX_REGIONS = 4096
"""Regions of the largest city whose transition matrices are held whole: 128 MiB a thread."""


def chain_likelihoods(
    city: City,
    released: SetTraces,
    chains: Chains,
    starts: Starts,
    stencil: NDArray[np.float64],
    wanted: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """log sum_x alpha_T(x) of pseudonym k under user u where `wanted[k, u]`; -inf elsewhere.

    alpha_1 = start_u f, alpha_t(x) = f(o_t | x) sum_y alpha_{t-1}(y) P_u(y, x), scaled to sum 1 in
    every slot; every day begins anew. Rows of P_u are scaled to sum to 1, so that what follows
    the last cell of a day that is not deleted says nothing and is left out. One matrix per user;
    O(pairs x slots x |S_t| |S_t+1|), S_t = regions that cell t allows.
    """
    check_size(city)
    out = scratch.filled(wanted.shape, -np.inf, np.float64)
    period = chains.slot_periods(released.clock.slots)

    def work(low: int, high: int) -> None:
        for u in range(low, high):
            who = np.flatnonzero(wanted[:, u])
            if len(who):
                out[who, u] = _forward_traces(
                    chains.stochastic(u), period, starts(u, u + 1)[0], released.offsets,
                    released.regions, released.times, who, stencil, city.grid.nx, city.grid.ny,
                )  # fmt: skip

    map_blocks(work, chains.n_users, blocks=max(1, chains.n_users // 16))
    return out


def check_size(city: City) -> None:
    """Refuse cities whose matrices are too large to be held whole."""
    if city.n_regions > MAX_REGIONS:
        raise InvalidTraces(
            f"chains of a city of {city.n_regions} regions are too large to follow; at most "
            f"{MAX_REGIONS} regions (join regions, or use LPM-R(weak) or Markov0-R)"
        )


@kernel
def step_forward(
    chain: NDArray[np.float64],
    before: NDArray[np.float64],
    was: NDArray[np.int32],
    now: NDArray[np.int32],
    likelihood: NDArray[np.float64],
    after: NDArray[np.float64],
) -> float:
    """after[b] = f(now[b]) sum_a before[a] P(was[a], now[b]), scaled to sum 1; log of the scale."""
    whole = len(now) == chain.shape[0]
    after[: len(now)] = 0.0
    for a in range(len(was)):
        row, mass = chain[was[a]], before[a]
        if mass == 0.0:
            continue
        if whole:
            for b in range(len(now)):
                after[b] += mass * row[b]
        else:
            for b in range(len(now)):
                after[b] += mass * row[now[b]]
    return scale(likelihood, now, after)


@kernel
def scale(
    likelihood: NDArray[np.float64], now: NDArray[np.int32], mass: NDArray[np.float64]
) -> float:
    """mass[b] *= f(now[b]), then scaled to sum 1; the logarithm of the sum."""
    total = 0.0
    for b in range(len(now)):
        mass[b] *= likelihood[now[b]]
        total += mass[b]
    for b in range(len(now)):
        mass[b] /= total
    return math.log(total)


@kernel
def move_all(masses: NDArray[np.float64], chain: NDArray[np.float64]) -> NDArray[np.float64]:
    """masses @ chain, a row of the chain at a time; four rows of it per pass over the result."""
    n = chain.shape[0]
    moved = np.zeros(masses.shape)
    for a in range(0, n - 3, 4):
        r0, r1, r2, r3 = chain[a], chain[a + 1], chain[a + 2], chain[a + 3]
        for c in range(masses.shape[0]):
            m0, m1, m2, m3 = masses[c, a], masses[c, a + 1], masses[c, a + 2], masses[c, a + 3]
            row = moved[c]
            for b in range(n):
                row[b] += (m0 * r0[b] + m1 * r1[b]) + (m2 * r2[b] + m3 * r3[b])
    for a in range(n - n % 4, n):
        for c in range(masses.shape[0]):
            moved[c] += masses[c, a] * chain[a]
    return moved


@kernel
def _last_kept(offsets: NDArray[np.int64], cell: int, slots: int) -> int:
    """Number of slots of the day that begins at `cell`, without deleted cells at its end."""
    n = slots
    while n > 0 and offsets[cell + n - 1] == offsets[cell + n]:
        n -= 1
    return n


@kernel
def _forward_traces(
    chain: NDArray[np.float64],
    period: NDArray[np.int64],
    start: NDArray[np.float64],
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    times: int,
    who: NDArray[np.int64],
    stencil: NDArray[np.float64],
    nx: int,
    ny: int,
) -> NDArray[np.float64]:
    """Log-likelihoods of the traces `who` under one chain, all of them slot by slot.

    Those that go from a deleted cell to a deleted cell move together, so that a row of the chain
    is read once for all of them.
    """
    n_regions, slots = nx * ny, len(period)
    out = np.zeros(len(who))
    likelihood = np.zeros(n_regions)
    support = np.empty((len(who), n_regions), dtype=np.int32)
    sizes = np.empty(len(who), dtype=np.int64)
    alpha, after = np.empty((len(who), n_regions)), np.empty(n_regions)
    now = np.empty(n_regions, dtype=np.int32)
    adrift = np.empty(len(who), dtype=np.int64)
    for day in range(0, times, slots):
        for t in range(slots):
            n_adrift = 0
            for k in range(len(who)):
                begin = who[k] * times + day
                if t >= _last_kept(offsets, begin, slots):
                    continue
                members = regions[offsets[begin + t] : offsets[begin + t + 1]]
                if t > 0 and len(members) == 0 and sizes[k] == n_regions:
                    adrift[n_adrift] = k
                    n_adrift += 1
                    continue
                n = cell_support(members, stencil, nx, ny, likelihood, now)
                if t == 0:
                    for b in range(n):
                        after[b] = start[now[b]]
                    out[k] += scale(likelihood, now[:n], after)
                else:
                    was = support[k, : sizes[k]]
                    here = chain[period[t - 1]]
                    out[k] += step_forward(here, alpha[k], was, now[:n], likelihood, after)
                for b in range(n):
                    alpha[k, b], support[k, b] = after[b], now[b]
                    likelihood[now[b]] = 0.0
                sizes[k] = n
            if n_adrift > 0:
                moved = move_all(alpha[adrift[:n_adrift]], chain[period[t - 1]])
                for c in range(n_adrift):
                    alpha[adrift[c]] = moved[c]
    return out
