"""Known-points risk: how few people fit what an attacker may know of each user.

The measures of R. Pellungrini, L. Pappalardo, F. Pratesi, A. Monreale, A Data Mining Approach to
Assess Privacy Risk in Human Mobility Data, ACM TIST 9 (3), 2017, for true and released traces.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tracecup.engine import map_blocks
from tracecup.errors import InvalidParameter
from tracecup.risk.known import (
    Known,
    Visits,
    frequencies,
    known_visits,
    moments,
    places,
    visits,
)
from tracecup.risk.order import worst_proportions, worst_sequences
from tracecup.risk.search import unique_choices, worst_of_users
from tracecup.rng import Rng
from tracecup.score.intervals import CONFIDENCE, Interval
from tracecup.streams import stream_key
from tracecup.traces import SetTraces, Traces

KINDS = (
    "unique location",
    "location",
    "location and time",
    "sequence",
    "frequency",
    "probability",
    "proportion",
)
BUDGET = 200_000
"""Steps of the search for one user, after which it ends with bounds."""
EXACT_CHOICES = 20_000
SAMPLES = 1_000

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PointsRisk:
    """Risk of each user: 1 / (people who fit the worst `points` known points), shape (m,).

    `low` was found, `high` cannot be exceeded; they are equal where the search came to its end.
    0: nothing that is known fits the user's own release; NaN: nothing of her can be known.
    """

    kind: str
    points: int
    low: Floats
    high: Floats

    @property
    def exact(self) -> bool:
        """Whether every user's risk is known exactly."""
        return bool(np.array_equal(self.low, self.high, equal_nan=True))

    @property
    def measured(self) -> int:
        """Number of users of whom something can be known."""
        return int((~np.isnan(self.low)).sum())

    @property
    def mean(self) -> tuple[float, float]:
        """Mean risk, from what was found to what cannot be exceeded."""
        return _mean(self.low), _mean(self.high)

    @property
    def alone(self) -> tuple[float, float]:
        """Share of the users who are left alone (risk 1), in the same two ways."""
        known = ~np.isnan(self.low)
        return _mean((self.low[known] == 1).astype(float)), _mean(
            (self.high[known] == 1).astype(float)
        )


@dataclass(frozen=True, eq=False)
class Unicity:
    """Share of the choices of `points` known visits (place and time) that leave a user alone.

    `per_user` (m,) is NaN where nothing can be known; users with `drawn` = 0 were counted over all
    choices, the others over that many random ones. `interval` is for the mean over the users and
    about the drawing alone (Hoeffding; no width where all was counted).
    """

    points: int
    per_user: Floats
    drawn: Ints
    interval: Interval

    @property
    def value(self) -> float:
        """Mean over the users."""
        return _mean(self.per_user)


def known_points_risk(
    kind: str,
    known: Traces,
    released: SetTraces | None = None,
    *,
    points: int = 2,
    tolerance: float = 0.0,
    budget: int = BUDGET,
) -> PointsRisk:
    """Risk of every user against an attacker who knows up to `points` of her true visits.

    risk(u) = max over the choices of 1 / |{v : the released traces of v fit them}|, over choices
    that fit u herself. The kinds of knowledge: `unique location` (different places), `location`
    (visits, a place may occur twice), `location and time`, `sequence` (visits in their order),
    `frequency`, `probability` and `proportion` (places with their number of visits, share of the
    visits, or proportion to the most visited known one, within the share `tolerance`).

    `known` (m, l) may have gaps, which nobody can know; `released` is in the same order of users
    (default: the true traces, unchanged). Exact unless a user's search takes more than `budget`
    steps; with n items of a user at most n^points times m / 64 word operations, mostly far less.

    >>> traces = Traces.of([[0, 1, 2], [0, 1, 1], [0, 2, -1]])
    >>> known_points_risk("unique location", traces, points=2).low.tolist()
    [1.0, 0.5, 0.5]
    >>> known_points_risk("location", traces, points=2).low.tolist()
    [1.0, 1.0, 0.5]
    """
    if kind not in KINDS:
        raise InvalidParameter(f"no known-points risk is called {kind!r} (known: {KINDS})")
    if points < 1 or budget < 1:
        raise InvalidParameter(f"points and budget must be >= 1, got {points} and {budget}")
    if not 0 <= tolerance <= 1:
        raise InvalidParameter(f"tolerance must be within 0..1, got {tolerance}")
    true, held = known_visits(known, released)
    m = known.n_users
    fewest, bound = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    worst: Callable[..., None]
    arrays: tuple[Any, ...]
    if kind == "sequence":
        index = places(true, held)
        times = (*_times(true), *_times(held, by_place=True))
        arrays = (index.first, index.group, index.start, index.holder, *times, m)
        worst = worst_sequences
    elif kind == "proportion":
        index = frequencies(true, held, tolerance, shares=False)
        arrays = _arrays(index)
        arrays = (*arrays[:3], *arrays[4:8], index.tolerance)
        worst = worst_proportions
    else:
        index = _items(kind, true, held, tolerance)
        arrays, worst = _arrays(index), worst_of_users

    def work(low: int, high: int) -> None:
        worst(low, high, *arrays)

    arrays = (*arrays, points, budget, fewest, bound)
    map_blocks(work, m)
    nothing = index.items == 0
    return PointsRisk(kind, points, _risk(fewest, nothing), _risk(bound, nothing))


def unicity(
    known: Traces,
    released: SetTraces | None = None,
    *,
    points: int = 4,
    rng: Rng = None,
    most: int = EXACT_CHOICES,
    samples: int = SAMPLES,
    confidence: float = CONFIDENCE,
    deleted: Literal["strict", "weak"] = "strict",
) -> Unicity:
    """Share of the choices of `points` true visits that only the user's own release fits.

    A deleted cell fits nothing (`strict`) or whatever is known of that moment (`weak`). Over all
    choices of a user where there are at most `most`, otherwise over `samples` random ones; a user
    with fewer visits is looked for by all of them. Gaps are not chosen. After Y.-A. de Montjoye et
    al., Unique in the Crowd, Scientific Reports 3, 2013.

    >>> traces = Traces.of([[0, 1], [0, 1], [0, 2]])
    >>> unicity(traces, points=2).per_user.tolist()
    [0.0, 0.0, 1.0]
    >>> unicity(traces, points=1).value
    0.16666666666666666
    """
    if min(points, most, samples) < 1:
        raise InvalidParameter(
            f"points, most and samples must be >= 1, got {points}, {most}, {samples}"
        )
    true, held = known_visits(known, released)
    m = known.n_users
    share, drawn = np.empty(m), np.zeros(m, dtype=np.int64)
    settings = (points, most, samples, *stream_key(rng))
    hidden = None
    if deleted == "weak" and released is not None:
        hidden = released.sizes == 0
    arrays = (*_arrays(moments(true, held, hidden)), *settings, share, drawn)

    def work(low: int, high: int) -> None:
        unique_choices(low, high, *arrays)

    map_blocks(work, m)
    counted = int((~np.isnan(share)).sum())
    mean = _mean(share)
    # Hoeffding for the mean of independent draws in [0, 1], those of user u weighing 1/(m S_u).
    spread = float((1.0 / drawn[drawn > 0]).sum()) / max(counted, 1) ** 2
    half = math.sqrt(math.log(2 / (1 - confidence)) * spread / 2)
    ends = (max(0.0, mean - half), min(1.0, mean + half)) if counted else (0.0, 1.0)
    method = "Hoeffding over the draws" if spread else "all choices counted"
    return Unicity(points, share, drawn, Interval(*ends, confidence, method))


def _items(kind: str, true: Visits, held: Visits, tolerance: float) -> Known:
    if kind == "unique location":
        return places(true, held)
    if kind == "location":
        return visits(true, held)
    if kind == "location and time":
        return moments(true, held)
    return frequencies(true, held, tolerance, shares=kind == "probability")


def _arrays(known: Known) -> tuple[Any, ...]:
    return (
        known.first,
        known.group,
        known.want,
        known.linked,
        known.start,
        known.holder,
        known.value,
        known.n_users,
        known.also,
        known.tolerance,
    )


def _times(visits: Visits, *, by_place: bool = False) -> tuple[Ints, Ints]:
    """(begin, times) of the visits of every pair of user and place, in the order of `counts`, or
    `by_place` in that of the holders of `Known`."""
    keys = (visits.user, visits.place) if by_place else (visits.place, visits.user)
    order = np.lexsort((visits.time, *keys))
    first, second = keys[1][order], keys[0][order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (np.diff(first) != 0) | (np.diff(second) != 0)
    begin = np.append(np.flatnonzero(new), len(order)).astype(np.int64)
    return begin, np.ascontiguousarray(visits.time[order])


def _risk(people: Ints, nothing: NDArray[np.bool_]) -> Floats:
    risk = np.where(people > 0, 1.0 / np.maximum(people, 1), 0.0)
    risk[nothing] = np.nan
    return risk


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan
