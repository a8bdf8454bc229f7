"""Confidence intervals over users, as pure functions: Wilson for rates, analytic for means.

Users are the independent unit; events of one user are not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tracecup.errors import InvalidParameter

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """low..high at the given confidence; `method` says how it was made.

    With a single user nothing is known about the spread: the interval is then the score's whole
    range, with `high` None where that range has no upper end.
    """

    low: float
    high: float | None
    confidence: float
    method: str

    def __str__(self) -> str:
        high = "inf" if self.high is None else f"{self.high:.6f}"
        return f"[{self.low:.6f}, {high}] ({self.confidence:.0%}, {self.method})"


def wilson_interval(successes: int, trials: int, confidence: float = CONFIDENCE) -> Interval:
    """Wilson's interval of a rate successes/trials.

    centre = (p + z^2/2n)/(1 + z^2/n), half width = z sqrt(p(1-p)/n + z^2/4n^2)/(1 + z^2/n).

    >>> wilson_interval(0, 10).low
    0.0
    """
    z = _normal_quantile(confidence)
    if trials < 1:
        raise InvalidParameter(f"a rate needs at least one trial, got {trials}")
    if not 0 <= successes <= trials:
        raise InvalidParameter(f"successes must be within 0..{trials}, got {successes}")
    p, shrink = successes / trials, 1 + z * z / trials
    centre = (p + z * z / (2 * trials)) / shrink
    half = z * math.sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials)) / shrink
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == trials else min(1.0, centre + half)
    return Interval(low, high, confidence, "Wilson over users")


def mean_interval(
    values: NDArray[np.float64], confidence: float = CONFIDENCE, upper: float | None = 1.0
) -> Interval:
    """Student's t interval of the mean of `values` (one per user), cut to 0..upper."""
    return ratio_interval(values, np.ones(len(values)), confidence, upper)


def ratio_interval(
    sums: NDArray[np.float64],
    weights: NDArray[np.float64],
    confidence: float = CONFIDENCE,
    upper: float | None = 1.0,
) -> Interval:
    """Interval of sum(sums)/sum(weights), both per user, by linearisation (delta method).

    With ratio r and mean weight w, the variance of the estimate is
    sum((sums - r weights)^2) / (m (m-1) w^2); Student's t with m-1 degrees of freedom.
    Equal weights give the usual interval of a mean.
    """
    m = len(sums)
    if m < 1 or len(weights) != m:
        raise InvalidParameter(f"need one weight per user, got {m} sums, {len(weights)} weights")
    total = float(weights.sum())
    if not total > 0:
        raise InvalidParameter("the weights of a mean must have a positive sum")
    if m == 1:
        _normal_quantile(confidence)
        return Interval(0.0, upper, confidence, "whole range: one user only")
    ratio = float(sums.sum()) / total
    spread = float(np.square(sums - ratio * weights).sum()) / (m * (m - 1) * (total / m) ** 2)
    t = float(special.stdtrit(m - 1, _upper_tail(confidence)))
    half = t * math.sqrt(spread)
    high = ratio + half if upper is None else min(upper, ratio + half)
    return Interval(max(0.0, ratio - half), high, confidence, "Student t over users")


def check_confidence(confidence: float) -> None:
    """`InvalidParameter` for what cannot be the confidence of an interval."""
    if not 0 < confidence < 1:
        raise InvalidParameter(f"confidence must be between 0 and 1, got {confidence}")


def _upper_tail(confidence: float) -> float:
    check_confidence(confidence)
    return 0.5 + confidence / 2


def _normal_quantile(confidence: float) -> float:
    return float(special.ndtri(_upper_tail(confidence)))
