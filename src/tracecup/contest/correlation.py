"""The correlation of two scores over releases, with Fisher's interval.

Says why there is none instead of returning a number that is not one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tracecup.errors import InvalidParameter
from tracecup.score.intervals import CONFIDENCE, check_confidence

# Values that differ by less are equal but for rounding and have no direction.
CONSTANT = 1e-9
NEEDED = 4


@dataclass(frozen=True)
class Correlation:
    """Pearson's r of `pairs` pairs; None, with a `reason`, where it is not defined.

    low..high is Fisher's interval; None, with a `reason`, below four pairs.
    """

    value: float | None
    low: float | None
    high: float | None
    pairs: int
    confidence: float
    reason: str = ""

    def __str__(self) -> str:
        if self.value is None:
            return f"none ({self.reason})"
        if self.low is None:
            return f"{self.value:.3f} of {self.pairs} pairs ({self.reason})"
        return (
            f"{self.value:.3f} of {self.pairs} pairs "
            f"[{self.low:.3f}, {self.high:.3f}] ({self.confidence:.0%}, Fisher)"
        )


def correlate(
    first: Sequence[float], second: Sequence[float], confidence: float = CONFIDENCE
) -> Correlation:
    """Pearson's r = sum(dx dy) / sqrt(sum dx^2 sum dy^2), dx and dy from the means.

    The interval is tanh(artanh(r) +- z / sqrt(n - 3)); it assumes independent pairs from a
    bivariate normal distribution, which contest scores are only roughly. With |r| = 1 it
    shrinks to a point.

    >>> correlate([0.1, 0.2, 0.3, 0.4], [0.2, 0.4, 0.6, 0.8]).value
    1.0
    >>> str(correlate([0.5, 0.5], [0.1, 0.2]))
    'none (the first score is the same everywhere)'
    """
    check_confidence(confidence)
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise InvalidParameter(f"a correlation needs pairs, got shapes {x.shape} and {y.shape}")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InvalidParameter("a correlation needs finite values")
    pairs = len(x)
    if pairs < 2:
        return Correlation(None, None, None, pairs, confidence, f"{pairs} pairs, two are needed")
    for name, values in (("first", x), ("second", y)):
        if np.ptp(values) <= CONSTANT * max(1.0, float(np.abs(values).max())):
            reason = f"the {name} score is the same everywhere"
            return Correlation(None, None, None, pairs, confidence, reason)
    dx, dy = (_unit(values - values.mean()) for values in (x, y))
    r = max(-1.0, min(1.0, float(dx @ dy)))
    if pairs < NEEDED:
        reason = f"no interval: {pairs} pairs, {NEEDED} are needed"
        return Correlation(r, None, None, pairs, confidence, reason)
    if abs(r) == 1:
        return Correlation(r, r, r, pairs, confidence)
    half = float(special.ndtri(0.5 + confidence / 2)) / math.sqrt(pairs - 3)
    low, high = (math.tanh(math.atanh(r) + sign * half) for sign in (-1, 1))
    return Correlation(r, low, high, pairs, confidence)


def _unit(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The vector of length one; scaled first, so that squares neither vanish nor overflow."""
    scaled = values / np.abs(values).max()
    return np.asarray(scaled / math.sqrt(float(scaled @ scaled)))
