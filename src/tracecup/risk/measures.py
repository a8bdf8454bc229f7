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

from tracecup import scratch
from tracecup.engine import map_blocks
from tracecup.errors import InvalidParameter
from tracecup.risk.known import (
    Frequencies,
    Items,
    Moments,
    Places,
    RepeatedVisits,
    Sides,
    Visits,
)
from tracecup.risk.order import times_of_holders, worst_proportions, worst_sequences
from tracecup.risk.search import Held, unique_choices, worst_of_users
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
    sides, m = Sides.of(known, released), known.n_users
    index = _index(kind, sides, tolerance)
    fewest, bound = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    nothing = np.zeros(m, dtype=np.bool_)
    settings = (points, budget, fewest, bound)
    dates = times_of_holders(sides, index.holders) if kind == "sequence" else ()
    for low, high in scratch.stepped(sides.blocks()):
        visits = Visits.of(sides.true, low, high)
        items = index.items(visits)
        worst, arrays = _search(kind, index, items)
        if dates:
            arrays = (*arrays, *_times(visits), *dates, m)

        def work(a: int, b: int, worst: Any = worst, arrays: tuple[Any, ...] = arrays) -> None:
            worst(a, b, *arrays, *settings)

        _map_users(work, low, high)
        nothing[low:high] = items.numbers == 0
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
    sides, m = Sides.of(known, released), known.n_users
    share, drawn = np.empty(m), np.zeros(m, dtype=np.int64)
    settings = (points, most, samples, *stream_key(rng), share, drawn)
    index = Moments(sides, weak=deleted == "weak" and released is not None)
    for low, high in scratch.stepped(sides.blocks()):
        arrays = (_held(index, index.items(Visits.of(sides.true, low, high))), *settings)

        def work(a: int, b: int, arrays: tuple[Any, ...] = arrays) -> None:
            unique_choices(a, b, *arrays)

        _map_users(work, low, high)
    counted = int((~np.isnan(share)).sum())
    mean = _mean(share)
    # Hoeffding for the mean of independent draws in [0, 1], those of user u weighing 1/(m S_u).
    spread = float((1.0 / drawn[drawn > 0]).sum()) / max(counted, 1) ** 2
    half = math.sqrt(math.log(2 / (1 - confidence)) * spread / 2)
    ends = (max(0.0, mean - half), min(1.0, mean + half)) if counted else (0.0, 1.0)
    method = "Hoeffding over the draws" if spread else "all choices counted"
    return Unicity(points, share, drawn, Interval(*ends, confidence, method))


def _map_users(work: Callable[[int, int], None], low: int, high: int) -> None:
    """Call `work` on blocks of users low..high-1, in threads."""
    map_blocks(lambda a, b: work(low + a, low + b), high - low)


def _index(kind: str, sides: Sides, tolerance: float) -> Places:
    """Who holds what of the release, for a kind of knowledge."""
    if kind in ("unique location", "sequence"):
        return Places(sides)
    if kind == "location":
        return RepeatedVisits(sides)
    if kind == "location and time":
        return Moments(sides)
    return Frequencies(sides, tolerance, shares=kind == "probability")


def _search(kind: str, index: Places, items: Items) -> tuple[Callable[..., None], tuple[Any, ...]]:
    """The kernel of a kind of knowledge, and the arrays that it begins with."""
    holders = index.holders
    if kind == "sequence":
        return worst_sequences, (items.low, items.first, items.group, holders.start, holders.holder)
    if kind == "proportion":
        return worst_proportions, (
            items.low, items.first, items.group, items.want, holders.start, holders.holder,
            holders.value, index.sides.n_users, index.tolerance,
        )  # fmt: skip
    return worst_of_users, (_held(index, items),)


def _held(index: Places, items: Items) -> Held:
    holders = index.holders
    return Held(
        items.low, items.first, items.group, items.want, items.linked, holders.start,
        holders.holder, holders.value, index.sides.n_users, items.also, index.tolerance,
    )  # fmt: skip


def _times(visits: Visits) -> tuple[Ints, Ints]:
    """(begin, times) of the visits of every pair of user and place, in the order of `counts`."""
    order = np.lexsort((visits.time, visits.place, visits.user))
    user, place = visits.user[order], visits.place[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (np.diff(user) != 0) | (np.diff(place) != 0)
    begin = np.append(np.flatnonzero(new), len(order)).astype(np.int64)
    return begin, np.ascontiguousarray(visits.time[order])


def _risk(people: Ints, nothing: NDArray[np.bool_]) -> Floats:
    risk = np.where(people > 0, 1.0 / np.maximum(people, 1), 0.0)
    risk[nothing] = np.nan
    return risk


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan
