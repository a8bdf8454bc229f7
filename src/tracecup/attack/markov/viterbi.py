"""The likeliest way through every day of a released trace, under one user's chain.

Viterbi on the regions that a cell allows.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.markov.emission import cell_support
from tracecup.attack.scores import TIE
from tracecup.kernels import kernel


@kernel
def first_best(values: NDArray[np.float64], n: int) -> int:
    """The first of n values within a hair of the largest."""
    top = values[0]
    for k in range(n):
        top = max(top, values[k])
    k = 0
    while values[k] < top - TIE:
        k += 1
    return k


@kernel
def viterbi_trace(
    log_chain: NDArray[np.float64],
    period: NDArray[np.int64],
    log_start: NDArray[np.float64],
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    first: int,
    stencil: NDArray[np.float64],
    nx: int,
    ny: int,
    out: NDArray[np.int32],
) -> None:
    """The most likely way through every day; of equal ones that of smaller regions at the end."""
    n_regions, slots = nx * ny, len(period)
    likelihood = np.empty(n_regions)
    support = np.empty((slots, n_regions), dtype=np.int32)
    sizes = np.empty(slots, dtype=np.int64)
    came = np.empty((slots, n_regions), dtype=np.int32)
    best, new = np.empty(n_regions), np.empty(n_regions)
    for day in range(0, len(out), slots):
        for t in range(slots):
            cell = first + day + t
            likelihood[:] = 0.0
            members = regions[offsets[cell] : offsets[cell + 1]]
            n = cell_support(members, stencil, nx, ny, likelihood, support[t])
            sizes[t] = n
            now = support[t, :n]
            if t == 0:
                for b in range(n):
                    new[b] = log_start[now[b]]
            else:
                was, here = support[t - 1, : sizes[t - 1]], log_chain[period[t - 1]]
                _best_step(here, best, was, now, came[t], new)
            for b in range(n):
                best[b] = new[b] + math.log(likelihood[now[b]])
        at = first_best(best, sizes[slots - 1])
        for t in range(slots - 1, -1, -1):
            out[day + t] = support[t, at]
            if t > 0:
                at = came[t, at]


@kernel
def _best_step(
    log_chain: NDArray[np.float64],
    best: NDArray[np.float64],
    was: NDArray[np.int32],
    now: NDArray[np.int32],
    came: NDArray[np.int32],
    new: NDArray[np.float64],
) -> None:
    """new[b] = max_a best[a] + log P(was[a], now[b]); `came` tells the first a that attains it."""
    new[: len(now)] = -np.inf
    for a in range(len(was)):
        row = log_chain[was[a]]
        for b in range(len(now)):
            value = best[a] + row[now[b]]
            if value > new[b]:
                new[b] = value
                came[b] = a
