"""Scores over users and seeds at once: one value, one interval, and differences within users.

Users are crossed with seeds: every seed has the same people. Both are drawn, both add spread.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tracecup.errors import InvalidParameter
from tracecup.score import Interval
from tracecup.score.intervals import CONFIDENCE, check_confidence


@dataclass(frozen=True, eq=False)
class Pooled:
    """A score of every user with every seed: `values` (seeds, users), `weights` (users,).

    The value of a seed is the weighted mean over its users, and `value` the mean over seeds:
    r = mean_s sum_i w_i x_si / sum_i w_i.

    >>> two = Pooled(np.array([[0.0, 1.0, 1.0], [0.0, 1.0, 0.0]]), np.ones(3))
    >>> two.value
    0.5
    >>> [round(value, 3) for value in two.by_seed.tolist()]
    [0.667, 0.333]
    """

    values: NDArray[np.float64]
    weights: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or self.weights.shape != self.values.shape[1:]:
            raise InvalidParameter(
                f"scores of shape (seeds, users) need a weight for every user, got "
                f"{self.values.shape} and {self.weights.shape}"
            )

    @property
    def by_seed(self) -> NDArray[np.float64]:
        """The score with each seed, shape (seeds,)."""
        return np.asarray(self.values @ self.weights / self.weights.sum())

    @property
    def value(self) -> float:
        """The mean over the seeds."""
        return float(self.by_seed.mean())

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Student's t interval of `value` for other users and other seeds.

        Variance = V_users + V_seeds: V_users is that of the weighted mean over users of each
        user's mean over the seeds (linearised, as `score.ratio_interval`), V_seeds that of the
        mean of `by_seed`. What users and seeds do together is in both, so that the interval is
        rather too wide than too narrow. Degrees of freedom after Satterthwaite. With one seed
        nothing is known about other seeds: then it is an interval over users alone, and `method`
        says so. O(seeds users).
        """
        check_confidence(confidence)
        seeds, users = self.values.shape
        over = "over users and seeds" if seeds > 1 else "over users, one seed"
        if users < 2:
            return Interval(-1.0 if self.values.min() < 0 else 0.0, 1.0, confidence,
                            "whole range: one user only")  # fmt: skip
        parts = self._parts()
        variance = sum(part for part, _ in parts)
        if variance == 0:
            return Interval(self.value, self.value, confidence, f"no spread {over}")
        freedom = variance**2 / sum(part**2 / degrees for part, degrees in parts)
        half = float(special.stdtrit(freedom, 0.5 + confidence / 2)) * math.sqrt(variance)
        return Interval(self.value - half, self.value + half, confidence, f"Student t {over}")

    def rate_interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Wilson's interval of a share, for as many users as tell what these tell.

        That is n = p (1 - p) / variance with the variance of `interval`; all users where nobody
        or everybody was named, so that a rate of 0 or 1 has an interval, too. Within 0..1.

        >>> found = Pooled(np.ones((3, 20)), np.ones(20)).rate_interval()
        >>> round(found.low, 3), found.high
        (0.839, 1.0)
        """
        share, (seeds, users) = self.value, self.values.shape
        variance = sum(part for part, _ in self._parts())
        spread = share * (1 - share)
        trials = users if spread <= 0 or variance <= 0 else min(spread / variance, users * seeds)
        z2 = float(special.ndtri(0.5 + confidence / 2)) ** 2
        shrink = 1 + z2 / trials
        centre = (share + z2 / (2 * trials)) / shrink
        half = math.sqrt(z2 * (spread / trials + z2 / (4 * trials**2))) / shrink
        low = 0.0 if share <= 0 else max(0.0, centre - half)
        high = 1.0 if share >= 1 else min(1.0, centre + half)
        over = "users and seeds" if seeds > 1 else "users, one seed"
        return Interval(low, high, confidence, f"Wilson over {over}")

    def minus(self, other: Pooled) -> Pooled:
        """This score minus another one of the same users and seeds, user by user.

        What makes a user easy or hard to find is the same on both sides and falls out, so the
        interval of a difference is mostly narrower than those of its sides suggest.
        """
        if self.values.shape != other.values.shape:
            raise InvalidParameter(
                f"only scores of the same users and seeds can be compared, got "
                f"{self.values.shape} and {other.values.shape}"
            )
        return Pooled(self.values - other.values, self.weights)

    def _parts(self) -> list[tuple[float, int]]:
        """Variance of `value` by users and, with several seeds, by seeds; degrees of freedom."""
        seeds, users = self.values.shape
        means, share = self.values.mean(axis=0), self.weights / self.weights.mean()
        apart = share * (means - self.value)
        freedom = max(users - 1, 1)
        parts = [(float(np.square(apart).sum()) / (users * freedom), freedom)]
        if seeds > 1:
            parts.append((float(self.by_seed.var(ddof=1)) / seeds, seeds - 1))
        return parts
