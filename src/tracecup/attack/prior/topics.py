"""Topics of places: regions that the same people visit, found by PLSA on users x regions counts.

A user's mixture of topics guesses where she may go that nobody has seen her go yet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tracecup import scratch
from tracecup.engine import ahead
from tracecup.kernels import kernel

TOPICS = 64
STEPS = 80
PSEUDOCOUNT = 0.02
"""Added to every user's count of every topic, so that no topic is ever lost to her."""
LANES = 8
SEED = 64
UNIT = 512
"""Users whose visits are added up before they join the sum of all: never another number, since
floating-point sums depend on it."""


@dataclass(frozen=True, eq=False)
class Topics:
    """theta (users, K) and phi (regions, K): p(x | u) = sum_k theta[u, k] phi[x, k].

    Rows of theta sum to 1, and so do the columns of phi.
    """

    theta: NDArray[np.float64]
    phi: NDArray[np.float64]


def fit_topics(
    counts: NDArray[np.float32] | sparse.csr_array, steps: int = STEPS, start: Topics | None = None
) -> Topics:
    """Maximum likelihood by `steps` multiplicative EM steps; counts of shape (users, regions).

    A step sets theta[u, k] to sum_x n[u, x] p(k | u, x) + 0.02 and phi[x, k] to
    sum_u n[u, x] p(k | u, x), both normalised, with p(k | u, x) proportional to
    theta[u, k] phi[x, k]. It starts from random topics that do not depend on the data, or from
    `start`. O(steps K nonzero counts) time in passes over the users; theta lies in a file where it
    is large. float64, sums of 512 users at a time: the same on any number of threads.

    >>> topics = fit_topics(np.array([[4, 4, 0, 0], [0, 0, 3, 3]], dtype=np.float32))
    >>> (topics.theta @ topics.phi.T).round(2).tolist()
    [[0.47, 0.47, 0.03, 0.03], [0.05, 0.05, 0.45, 0.45]]
    """
    visits = sparse.csr_array(counts)
    visits.sort_indices()
    found = start or _first_topics(visits)
    theta, phi = scratch.empty(found.theta.shape), found.phi
    for low, high in scratch.parts(len(theta), theta.itemsize * TOPICS):
        theta[low:high] = found.theta[low:high]
    for _ in range(steps):
        phi = _step(visits, theta, phi)
    return Topics(theta, phi)


def _step(
    visits: sparse.csr_array, theta: NDArray[np.float64], phi: NDArray[np.float64]
) -> NDArray[np.float64]:
    """One EM step: the next phi; theta is changed in place, a block of users after the other."""

    def work(bounds: tuple[int, int]) -> NDArray[np.float64]:
        low, high = bounds
        starts = visits.indptr[low : high + 1].astype(np.int64)
        mine = slice(starts[0], starts[-1])
        shares = np.zeros_like(phi)
        _step_users(
            starts - starts[0], visits.indices[mine].astype(np.int32),
            visits.data[mine].astype(np.float64), theta[low:high], phi, shares,
        )  # fmt: skip
        return shares

    total = np.zeros_like(phi)
    for shares in ahead(work, [(k, min(k + UNIT, len(theta))) for k in range(0, len(theta), UNIT)]):
        total += shares
    total *= phi
    sums = total.sum(axis=0)
    return np.where(sums > 0, total / np.maximum(sums, 1e-300), phi)


def _first_topics(visits: sparse.csr_array) -> Topics:
    """Even mixtures of random topics: the visits of everybody, times independent exponentials."""
    users, regions = visits.shape
    popular = np.zeros(regions)
    for low, high in scratch.parts(visits.nnz, 16):
        popular += np.bincount(visits.indices[low:high], visits.data[low:high], regions)
    popular += 1.0 / regions
    phi = popular[:, None] * np.random.default_rng(SEED).exponential(size=(regions, TOPICS))
    return Topics(scratch.filled((users, TOPICS), 1.0 / TOPICS, np.float64), phi / phi.sum(axis=0))


@kernel
def _dot(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Scalar product in lanes, which the compiler turns into vector code."""
    lanes = np.zeros(LANES)
    for begin in range(0, len(a), LANES):
        for q in range(LANES):
            lanes[q] += a[begin + q] * b[begin + q]
    return float(lanes.sum())


@kernel
def _step_users(
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    counts: NDArray[np.float64],
    theta: NDArray[np.float64],
    phi: NDArray[np.float64],
    shares: NDArray[np.float64],
) -> None:
    """The next theta of a block of users, in place of this one; adds to `shares` what they add to
    the next phi: sum over visits of n / (theta phi) theta."""
    new = np.empty(theta.shape[1])
    for u in range(len(theta)):
        mine = theta[u]
        new[:] = 0.0
        for at in range(starts[u], starts[u + 1]):
            row, share = phi[columns[at]], shares[columns[at]]
            expected = _dot(mine, row)
            ratio = counts[at] / expected if expected > 0.0 else 0.0
            for k in range(len(new)):
                new[k] += ratio * row[k]
                share[k] += ratio * mine[k]
        total = 0.0
        for k in range(len(new)):
            new[k] = new[k] * mine[k] + PSEUDOCOUNT
            total += new[k]
        for k in range(len(new)):
            mine[k] = new[k] / total
