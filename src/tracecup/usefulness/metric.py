"""What a usefulness metric is: a name, a direction, a range and a unit, and what it measured.

Values outside the declared range are a bug, not something to clip away.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tracecup.errors import InvalidTraces

Goal = Literal["minimise", "maximise"]
ROUNDING = 1e-9


@dataclass(frozen=True)
class Metric:
    """A metric by name: whether less or more is better, its range, its unit, what it means."""

    name: str
    goal: Goal
    low: float
    high: float
    unit: str
    meaning: str

    def measured(self, parts: ArrayLike, weights: ArrayLike | None = None) -> Measurement:
        """A measurement whose value is the (weighted) mean of `parts`, each within the range.

        >>> Metric("TP-TV", "minimise", 0, 1, "", "").measured([0.25, 0.75]).value
        0.5
        """
        values = np.atleast_1d(np.asarray(parts, dtype=np.float64))
        if values.size == 0:
            raise InvalidTraces(f"{self.name} has nothing to average over")
        share = None if weights is None else np.asarray(weights, dtype=np.float64)
        inside = (values >= self.low - ROUNDING) & (values <= self.high + ROUNDING)
        if not inside.all():
            found = float(values[~inside][0])
            raise InvalidTraces(f"{self.name} lies in {self.low:g}..{self.high:g}, got {found}")
        return Measurement(self, float(np.average(values, weights=share)), values)


@dataclass(frozen=True, eq=False)
class Measurement:
    """The value of a metric and what it is the mean of.

    `parts` has one value per day for synthetic traces and one per user where users count.
    """

    metric: Metric
    value: float
    parts: NDArray[np.float64]

    @property
    def name(self) -> str:
        """The metric's name."""
        return self.metric.name

    def __str__(self) -> str:
        unit = f" {self.metric.unit}" if self.metric.unit else ""
        return f"{self.name} = {self.value:.5f}{unit}"


def total_variation_metric(name: str, meaning: str) -> Metric:
    """A metric that is a total variation distance: 0 is best, 1 is worst."""
    return Metric(name, "minimise", 0.0, 1.0, "", meaning)


def distance_metric(name: str, meaning: str) -> Metric:
    """A metric that is a distance in grid cells: 0 is best."""
    return Metric(name, "minimise", 0.0, math.inf, "cells", meaning)
