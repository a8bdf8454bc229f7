"""Plausible deniability: a synthetic day may go out if enough other people could have made it.

After Bindschaedler, Shokri and Gunter (VLDB 2017): the test, and the likelihoods it needs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.errors import InvalidParameter
from tracecup.rng import Rng, generator
from tracecup.synth.base import Model
from tracecup.synth.chains import ChainModel, Rows
from tracecup.synth.generate import FLOOR
from tracecup.synth.ppmtf import PPMTF, PpmtfModel

IMPOSSIBLE = -1
"""The bucket of a day that a user cannot have made."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Places = NDArray[np.int32]


@dataclass(frozen=True)
class DeniabilityTest:
    """At least k users, the seed among them, in the seed's bucket floor(-L / ln gamma).

    With eps0 > 0 the bound is k + Laplace(1/eps0), drawn anew for every day.
    """

    k: int = 10
    gamma: float = math.e
    eps0: float = 0.0

    def passes(self, likelihoods: Floats, seeds: Ints, rng: Rng = None) -> NDArray[np.bool_]:
        """Which days may go out: `likelihoods[y, u]` is L of day y from user u, `seeds[y]` the
        user it was made from. O(days users).

        >>> logs = np.log([[0.30, 0.26, 0.24]])
        >>> [bool(DeniabilityTest(k, 2.0).passes(logs, np.array([0]))[0]) for k in (2, 3)]
        [True, False]
        """
        noise = generator(rng).laplace(0.0, 1.0, len(likelihoods))
        return self.passes_with(likelihoods, seeds, noise)

    def passes_with(self, likelihoods: Floats, seeds: Ints, noise: Floats) -> NDArray[np.bool_]:
        """The same with standard Laplace noise that is given; without eps0 it is not used."""
        bucket = buckets(likelihoods, self.gamma)
        own = bucket[np.arange(len(bucket)), seeds]
        alike = (bucket == own[:, None]).sum(axis=1)
        bound = self.k + (noise / self.eps0 if self.eps0 > 0 else 0.0)
        passed: NDArray[np.bool_] = (own != IMPOSSIBLE) & (alike >= bound)
        return passed

    def privacy(self, t: int) -> tuple[float, float]:
        """(eps, delta) of releasing a day by the randomised test, for any whole 1 <= t < k.

        eps = eps0 + ln(1 + gamma / t), delta = exp(-eps0 (k - t)).

        >>> [round(x, 4) for x in DeniabilityTest(20, 2.0, 1.0).privacy(10)]
        [1.1823, 0.0]
        """
        if not (1 <= t < self.k and self.eps0 > 0):
            raise InvalidParameter(f"t must be within 1..{self.k - 1} and eps0 > 0, got {t}")
        return self.eps0 + math.log1p(self.gamma / t), math.exp(-self.eps0 * (self.k - t))


def buckets(likelihoods: Floats, gamma: float) -> Ints:
    """floor(-L / ln gamma) of logarithms of likelihoods; IMPOSSIBLE for -inf."""
    possible = np.isfinite(likelihoods)
    scaled = np.floor(-np.where(possible, likelihoods, 0.0) / math.log(gamma))
    return np.where(possible, np.maximum(scaled, 0), IMPOSSIBLE).astype(np.int64)


def seed_likelihoods(model: Model, days: Places, instants: int = 1) -> Floats:
    """L[y, u], the logarithm of how likely each day (days, instants of a day) is from user u.

    `SGD`: the chain, with certainty for the copied instants. `PPMTF`: the first place by the
    user's first slot, then her Metropolis-Hastings kernels. Models whose virtual users do not
    come from single users (PPMTF+, SGD(0)) or have no tractable likelihood are refused; for the
    former the test is vacuous, for SGLT there are tests of its own.
    """
    if isinstance(model, ChainModel) and not model.of_users and model.prefix.size:
        return _chain_likelihoods(model, days, instants)
    if isinstance(model, PpmtfModel) and isinstance(model.method, PPMTF):
        if model.method.masks or model.method.home != "none":
            raise InvalidParameter("likelihoods of PPMTF are known without masks and homes only")
        return _factor_likelihoods(model, days, instants)
    raise InvalidParameter(
        "plausible deniability needs a model whose traces come from single training users with a "
        "known likelihood: SGD(copied) with copied > 0, or PPMTF"
    )


def _chain_likelihoods(model: ChainModel, days: Places, instants: int) -> Floats:
    """The common chain except where user u's day was copied: there 1, or 0 where it differs."""
    steps = _step_logs(model, days, instants)
    copied = model.prefix.shape[1]
    found = np.repeat(steps[:, copied:].sum(axis=1)[:, None], len(model.prefix), axis=1)
    for t in range(copied):
        known = model.prefix[:, t] >= 0
        same = model.prefix[:, t] == days[:, t : t + 1]
        found += np.where(known, np.where(same, 0.0, -np.inf), steps[:, t : t + 1])
    return found


def _step_logs(model: ChainModel, days: Places, instants: int) -> Floats:
    """log P of every instant of every day under the common chain, shape (days, instants)."""
    steps = np.empty(days.shape)
    steps[:, 0] = _row_logs(model.opening, np.zeros(len(days), int), 0 * days[:, 0], days[:, 0])
    for t in range(1, days.shape[1]):
        slot = np.full(len(days), t // instants)
        steps[:, t] = _row_logs(model.steps, slot, days[:, t - 1], days[:, t])
        nowhere = np.isnan(steps[:, t])  # nobody left from there: anywhere alike
        steps[nowhere, t] = -math.log(model.n_locations)
    steps[np.isnan(steps[:, 0]), 0] = -math.log(model.n_locations)
    return steps


def _row_logs(rows: Rows, group: Ints, origin: Places, target: Places) -> Floats:
    """Logarithm of the share of `target` in the row of (group, origin), nan without a row."""
    found = np.full(len(group), np.nan)
    for k in range(len(group)):
        low, high = rows.groups[group[k]], rows.groups[group[k] + 1]
        row = low + int(np.searchsorted(rows.origin[low:high], origin[k]))
        if row < high and rows.origin[row] == origin[k]:
            first, last = rows.starts[row], rows.starts[row + 1]
            at = first + int(np.searchsorted(rows.target[first:last], target[k]))
            there = at < last and rows.target[at] == target[k]
            before = rows.cumulated[at - 1] if at > first else 0.0
            share = (rows.cumulated[at] - before) / rows.cumulated[last - 1] if there else 0.0
            found[k] = math.log(share) if share > 0 else -np.inf
    return found


def _factor_likelihoods(model: PpmtfModel, days: Places, instants: int) -> Floats:
    """Users in the outer loop: one proposal matrix each, the days' steps as one gather."""
    factors = model.factors
    found = np.empty((len(days), len(factors.A)))
    slot = np.arange(days.shape[1]) // instants
    for u, features in enumerate(factors.A):
        visits = (features * factors.D) @ factors.B.T
        visits[visits < 0] = FLOOR
        weights = np.maximum((features * factors.B) @ factors.C.T, FLOOR)
        proposal = weights / weights.sum(axis=1, keepdims=True)
        total = np.log(visits[0, days[:, 0]] / visits[0].sum())
        for t in range(1, days.shape[1]):
            total += np.log(_kernel_steps(proposal, visits[slot[t]], days[:, t - 1], days[:, t]))
        found[:, u] = total
    return found


def _kernel_steps(proposal: Floats, visits: Floats, before: Places, after: Places) -> Floats:
    """K(i, j) = min(q(i, j), pi(j) q(j, i) / pi(i)) for j != i, K(i, i) = 1 - the rest."""
    kernel = np.empty(len(before))
    moved = before != after
    i, j = before[moved], after[moved]
    kernel[moved] = np.minimum(proposal[i, j], visits[j] * proposal[j, i] / visits[i])
    origins, at = np.unique(before[~moved], return_inverse=True)
    back = proposal[:, origins].T * visits / visits[origins][:, None]
    leave = np.minimum(proposal[origins], back)
    leave[np.arange(len(origins)), origins] = 0.0
    kernel[~moved] = np.maximum(1.0 - leave.sum(axis=1), FLOOR)[at]
    return kernel
