"""Counts of training records with Laplace noise, each user weighing at most one in every table.

What a differentially private synthesizer may know: everything later is post-processing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.rng import Rng, generator
from tracecup.synth.training import Training

FALSE_PER_SLOT = 1.0
"""How many moves that nobody made pass the threshold in each slot, in expectation."""
SHARES = {"first": 0.15, "places": 0.25, "stays": 0.1, "steps": 0.5}
"""How the budget is divided among the tables."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Weighted:
    """Exact tables in which every user's entries sum to at most one.

    `first` (N,): places in the first slot; `places` (N,): all visits; `stays` (T, 2): steps that
    stay or move, by the slot of arrival; `key` and `steps`: steps (t N + i) N + j that were made,
    ascending, and their weights.
    """

    first: Floats
    places: Floats
    stays: Floats
    key: Ints
    steps: Floats
    n: int
    slots: int

    @property
    def cells(self) -> int:
        """How many different steps there are, T N^2."""
        return self.slots * self.n**2


def weighted_counts(training: Training) -> Weighted:
    """Count with weight 1 / (records of that kind of the same user). O(records log records)."""
    n, slots, slot = training.n_locations, training.slots, training.slot
    user, before, after = training.steps()
    arrival = slot[training.follows].astype(np.int64)
    opening = slot == 0
    share = _shares(user, training.n_users)
    key, at = np.unique((arrival * n + before) * n + after, return_inverse=True)
    stays = np.zeros((slots, 2))
    np.add.at(stays, (arrival, (before != after).astype(np.int64)), share)
    return Weighted(
        _counted(training.user[opening], training.location[opening], training.n_users, n),
        _counted(training.user, training.location, training.n_users, n),
        stays,
        key.astype(np.int64),
        np.bincount(at, share, len(key)).astype(np.float64),
        n,
        slots,
    )


@dataclass(frozen=True, eq=False)
class NoisyCounts:
    """The tables of `Weighted` with noise; of the steps only those above `threshold`."""

    first: Floats
    places: Floats
    stays: Floats
    key: Ints
    steps: Floats
    threshold: float


def noisy_counts(exact: Weighted, epsilon: float, rng: Rng = None) -> NoisyCounts:
    """Laplace noise of scale 1 / eps_k on table k, eps_k its share of `epsilon`.

    Adding or removing a user changes each table by at most 1 in L1, so table k is eps_k- and all
    together epsilon-differentially private. Steps below the threshold b ln(cells / (2 F T)),
    F = 1, are dropped. Cells that nobody made are not stored: how many of them pass is
    binomial, their place uniform and their excess exponential, which is the same law.
    O(records + T N).
    """
    gen = generator(rng)
    first, places, stays = (
        table + gen.laplace(0.0, 1.0 / (epsilon * SHARES[name]), table.shape)
        for name, table in (
            ("first", exact.first),
            ("places", exact.places),
            ("stays", exact.stays),
        )
    )
    scale = 1.0 / (epsilon * SHARES["steps"])
    threshold = scale * max(0.0, math.log(exact.cells / (2 * FALSE_PER_SLOT * exact.slots)))
    noisy = exact.steps + gen.laplace(0.0, scale, len(exact.steps))
    above = noisy > threshold
    passing = 0.5 * math.exp(-threshold / scale)
    others = int(gen.binomial(exact.cells - len(exact.key), passing))
    made_up = _unseen(exact.key, exact.cells, others, gen)
    key = np.concatenate([exact.key[above], made_up])
    weight = np.concatenate([noisy[above], threshold + gen.exponential(scale, others)])
    order = np.argsort(key)
    return NoisyCounts(first, places, stays, key[order], weight[order], threshold)


def on_simplex(noisy: Floats) -> Floats:
    """Non-negative shares that sum to 1: the noisy total is kept by lowering all alike.

    Uniform where the total is not positive.

    >>> on_simplex(np.array([3.0, 1.0, -1.0])).tolist()
    [0.8333333333333334, 0.16666666666666666, 0.0]
    """
    total = float(noisy.sum())
    if total <= 0:
        return np.full(len(noisy), 1.0 / len(noisy))
    falling = np.sort(noisy)[::-1]
    lowered = (np.cumsum(falling) - total) / np.arange(1, len(noisy) + 1)
    kept = int(np.flatnonzero(falling > lowered)[-1])
    shares: Floats = np.maximum(noisy - lowered[kept], 0.0) / total
    return shares


def _shares(user: NDArray[np.int32], n_users: int) -> Floats:
    """1 / (entries of the same user) for every entry."""
    return 1.0 / np.bincount(user, minlength=n_users)[user]


def _counted(user: NDArray[np.int32], place: NDArray[np.int32], n_users: int, n: int) -> Floats:
    return np.bincount(place, _shares(user, n_users), n).astype(np.float64)


def _unseen(seen: Ints, cells: int, many: int, gen: np.random.Generator) -> Ints:
    """`many` different numbers below `cells` that are not in `seen`, all sets as likely."""
    rank = np.sort(gen.choice(cells - len(seen), many, replace=False, shuffle=False))
    # The k-th number that is not seen: seen[i] - i numbers below seen[i] are free.
    return rank + np.searchsorted(seen - np.arange(len(seen)), rank, side="right")
