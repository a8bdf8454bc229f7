"""Topics of places: regions that the same people visit, found by PLSA on users x regions counts.

A user's mixture of topics guesses where she may go that nobody has seen her go yet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tracecup.engine import map_blocks
from tracecup.kernels import kernel

TOPICS = 64
STEPS = 80
PSEUDOCOUNT = 0.02
"""Added to every user's count of every topic, so that no topic is ever lost to her."""
LANES = 8
SEED = 64


@dataclass(frozen=True, eq=False)
class Topics:
    """theta (users, K) and phi (regions, K): p(x | u) = sum_k theta[u, k] phi[x, k].

    Rows of theta sum to 1, and so do the columns of phi.
    """

    theta: NDArray[np.float64]
    phi: NDArray[np.float64]


def fit_topics(
    counts: NDArray[np.float32], steps: int = STEPS, start: Topics | None = None
) -> Topics:
    """Maximum likelihood by `steps` multiplicative EM steps; counts of shape (users, regions).

    A step sets theta[u, k] to sum_x n[u, x] p(k | u, x) + 0.02 and phi[x, k] to
    sum_u n[u, x] p(k | u, x), both normalised, with p(k | u, x) proportional to
    theta[u, k] phi[x, k]. It starts from random topics that do not depend on the data, or from
    `start`. O(steps K nonzero counts); float64, the same on any number of threads.

    >>> topics = fit_topics(np.array([[4, 4, 0, 0], [0, 0, 3, 3]], dtype=np.float32))
    >>> (topics.theta @ topics.phi.T).round(2).tolist()
    [[0.47, 0.47, 0.03, 0.03], [0.05, 0.05, 0.45, 0.45]]
    """
    entries = _Entries.of(counts)
    found = start or _first_topics(counts)
    for _ in range(steps):
        found = _next_topics(entries, found)
    return found


@dataclass(frozen=True, eq=False)
class _Entries:
    """Nonzero counts user by user; and region by region, where each stands in that order."""

    counts: NDArray[np.float64]
    user_starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    region_starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    places: NDArray[np.int64]

    @classmethod
    def of(cls, counts: NDArray[np.float32]) -> _Entries:
        by_user = sparse.csr_array(counts.astype(np.float64))
        by_user.sort_indices()
        numbered = (np.arange(1, by_user.nnz + 1), by_user.indices, by_user.indptr)
        by_region = sparse.csr_array(numbered, shape=by_user.shape).tocsc()
        return cls(
            by_user.data,
            by_user.indptr.astype(np.int64),
            by_user.indices.astype(np.int32),
            by_region.indptr.astype(np.int64),
            by_region.indices.astype(np.int32),
            by_region.data.astype(np.int64) - 1,
        )


def _next_topics(entries: _Entries, topics: Topics) -> Topics:
    """One EM step, in threads over users and then over regions."""
    theta, phi = np.empty_like(topics.theta), np.empty_like(topics.phi)
    ratio = np.empty(len(entries.counts))
    map_blocks(
        lambda low, high: _step_users(
            entries.user_starts[low : high + 1], entries.columns, entries.counts,
            topics.theta[low:high], topics.phi, ratio, theta[low:high],
        ),
        len(theta),
    )  # fmt: skip
    map_blocks(
        lambda low, high: _step_regions(
            entries.region_starts[low : high + 1], entries.rows, entries.places, ratio,
            topics.theta, topics.phi[low:high], phi[low:high],
        ),
        len(phi),
    )  # fmt: skip
    total = phi.sum(axis=0)
    return Topics(theta, np.where(total > 0, phi / np.maximum(total, 1e-300), topics.phi))


def _first_topics(counts: NDArray[np.float32]) -> Topics:
    """Even mixtures of random topics: the visits of everybody, times independent exponentials."""
    users, regions = counts.shape
    popular = counts.sum(axis=0, dtype=np.float64) + 1.0 / regions
    phi = popular[:, None] * np.random.default_rng(SEED).exponential(size=(regions, TOPICS))
    return Topics(np.full((users, TOPICS), 1.0 / TOPICS), phi / phi.sum(axis=0))


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
    ratio: NDArray[np.float64],
    next_theta: NDArray[np.float64],
) -> None:
    """ratio = n / (theta phi) at the visited regions, and the next theta of a block of users."""
    for u in range(len(theta)):
        new = next_theta[u]
        new[:] = 0.0
        for at in range(starts[u], starts[u + 1]):
            row = phi[columns[at]]
            expected = _dot(theta[u], row)
            ratio[at] = counts[at] / expected if expected > 0.0 else 0.0
            for k in range(len(new)):
                new[k] += ratio[at] * row[k]
        total = 0.0
        for k in range(len(new)):
            new[k] = new[k] * theta[u, k] + PSEUDOCOUNT
            total += new[k]
        for k in range(len(new)):
            new[k] /= total


@kernel
def _step_regions(
    starts: NDArray[np.int64],
    rows: NDArray[np.int32],
    places: NDArray[np.int64],
    ratio: NDArray[np.float64],
    theta: NDArray[np.float64],
    phi: NDArray[np.float64],
    next_phi: NDArray[np.float64],
) -> None:
    """The next phi of a block of regions, before it is normalised over regions."""
    for x in range(len(phi)):
        new = next_phi[x]
        new[:] = 0.0
        for at in range(starts[x], starts[x + 1]):
            share, row = ratio[places[at]], theta[rows[at]]
            for k in range(len(new)):
                new[k] += share * row[k]
        for k in range(len(new)):
            new[k] *= phi[x, k]
