"""Stylised facts of human mobility, measured on traces: ranks, radii, returns, day statistics.

To check a generated city against what is known, and to compare data sets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.city import Grid
from tracecup.engine import map_blocks
from tracecup.errors import InvalidTraces
from tracecup.kernels import kernel
from tracecup.rng import Rng, generator
from tracecup.traces import Traces


@dataclass(frozen=True)
class DayStatistics:
    """How people move within a day, and how alike days are (all means over users and days).

    `stay_share`: share of consecutive events in the same region. `distinct_regions`: different
    regions in a day. `move_km`: mean length of a change of region. `same_user_overlap` and
    `other_user_overlap`: share of a day's events in regions that a day of the same user, or of
    somebody else, also has (nan if there is no second day or user).
    """

    stay_share: float
    distinct_regions: float
    move_km: float
    same_user_overlap: float
    other_user_overlap: float


def day_statistics(traces: Traces, grid: Grid, rng: Rng = 0) -> DayStatistics:
    """Statistics of the days of traces; O(cells log slots).

    Unobserved events are left out: a move is one between two observed events in a row, a day
    without any event has no regions and no overlap. nan where nothing is left to count.

    `rng` picks, for every user, the pair of days and the other user of the overlaps.

    >>> from tracecup.city import Clock, Grid
    >>> grid = Grid.from_metres(4, 1, width_m=1000, height_m=1000)
    >>> traces = Traces.of([[0, 0, 1, 0, 1, 1]], Clock.regular(days=2, slots=3))
    >>> day_statistics(traces, grid).stay_share
    0.5
    """
    random = generator(rng)
    n, days, slots = traces.n_users, traces.clock.days, traces.clock.slots
    table = traces.regions.reshape(n, days, slots)
    seen = table >= 0
    pairs = seen[:, :, 1:] & seen[:, :, :-1]
    moves = pairs & (table[:, :, 1:] != table[:, :, :-1])
    ordered = np.sort(table, axis=2)
    distinct = (ordered[:, :, 1:] != ordered[:, :, :-1]).sum(axis=2) + (ordered[:, :, 0] >= 0)
    lived = distinct[seen.any(axis=2)]
    lengths = grid.distance(table[:, :, :-1][moves], table[:, :, 1:][moves])
    first = random.integers(0, days, n)
    everybody = np.arange(n)
    same = other = float("nan")
    if days > 1:
        second = (first + random.integers(1, days, n)) % days
        same = _overlap(table[everybody, first], table[everybody, second])
    if n > 1:
        stranger = (everybody + random.integers(1, n, n)) % n
        other = _overlap(table[everybody, first], table[stranger, random.integers(0, days, n)])
    return DayStatistics(
        float(1 - moves.sum() / pairs.sum()) if pairs.any() else float("nan"),
        float(lived.mean()) if len(lived) else float("nan"),
        float(lengths.mean()) if len(lengths) else float("nan"),
        same,
        other,
    )


def visit_frequencies(traces: Traces, ranks: int = 50) -> NDArray[np.float64]:
    """f[k]: mean share of events that a user spends in her (k+1)-th most visited region.

    Zipf's law of visits says f[k] ~ (k+1)^-zeta with zeta about 1.2. Shape (ranks,), 0 beyond
    the number of regions that anybody visits; users without events are left out.

    >>> visit_frequencies(Traces.of([[5, 5, 5, 2]]), ranks=3).tolist()
    [0.75, 0.25, 0.0]
    """

    def work(low: int, high: int) -> tuple[NDArray[np.float64], int]:
        total = np.zeros(ranks)
        seen = _add_frequencies(np.sort(traces.regions[low:high], axis=1), total)
        return total, seen

    parts = map_blocks(work, traces.n_users)
    users = sum(seen for _, seen in parts)
    return np.asarray(sum(total for total, _ in parts) / max(users, 1))


def zipf_exponent(frequencies: NDArray[np.float64], first: int = 1, last: int = 20) -> float:
    """The slope -zeta of log f over log rank between two ranks (from 1), by least squares.

    >>> round(zipf_exponent(1 / np.arange(1, 31.0)), 6)
    1.0
    """
    rank = np.arange(first, min(last, int((frequencies > 0).sum())) + 1)
    if len(rank) < 2:
        raise InvalidTraces("a Zipf exponent needs at least two ranks with visits")
    slope = np.polyfit(np.log(rank), np.log(frequencies[rank - 1]), 1)[0]
    return float(-slope)


def radius_of_gyration(traces: Traces, grid: Grid) -> NDArray[np.float64]:
    """r[u] = sqrt(mean of |position - mean position|^2) in km over the observed events of u.

    nan for a user without events. Shape (users,).
    """
    observed = traces.regions >= 0
    count = observed.sum(axis=1)
    total = np.zeros(traces.n_users)
    where = np.where(observed, traces.regions, 0)
    with np.errstate(invalid="ignore"):
        for position in (grid.x * grid.km_x, grid.y * grid.km_y):
            value = np.where(observed, position[where], 0.0)
            mean = value.sum(axis=1) / count
            total += (np.where(observed, value - mean[:, None], 0.0) ** 2).sum(axis=1) / count
    return np.sqrt(total)


def return_probability(traces: Traces, longest: int) -> NDArray[np.float64]:
    """p[tau]: share of pairs of events tau apart with the same region and an absence between.

    With hourly events over whole days, tau is in hours and p has its peaks at 24, 48, ...
    Pairs with an unobserved end are left out. Shape (longest + 1,), O(events x longest).

    >>> return_probability(Traces.of([[1, 2, 1, 1]]), 3).tolist()
    [0.0, 0.0, 0.5, 1.0]
    """
    if longest < 1:
        raise InvalidTraces(f"the longest return must be >= 1 event, got {longest}")

    def work(low: int, high: int) -> NDArray[np.int64]:
        counts = np.zeros((2, longest + 1), dtype=np.int64)
        _count_returns(traces.regions[low:high], counts)
        return counts

    counts = np.sum(map_blocks(work, traces.n_users), axis=0)
    return np.asarray(counts[0] / np.maximum(counts[1], 1))


def _overlap(day: NDArray[np.int32], other: NDArray[np.int32]) -> float:
    """Share of the events of a day in regions of the other, over days that both have events."""
    lived = np.asarray((other >= 0).any(axis=1))
    counted = (day >= 0) & lived[:, None]
    met = (day[:, :, None] == other[:, None, :]).any(axis=2)
    return float(met[counted].mean()) if counted.any() else float("nan")


@kernel
def _add_frequencies(ordered: NDArray[np.int32], total: NDArray[np.float64]) -> int:
    """Add each row's sorted shares to `total`; returns the number of rows with events."""
    users, times = ordered.shape
    seen = 0
    for u in range(users):
        counts = np.zeros(times, dtype=np.int64)
        kinds = -1
        before = -1
        events = 0
        for k in range(times):
            if ordered[u, k] >= 0:
                if ordered[u, k] != before:
                    kinds += 1
                    before = ordered[u, k]
                counts[kinds] += 1
                events += 1
        if events:
            seen += 1
            best = np.sort(counts[: kinds + 1])
            for k in range(min(len(total), kinds + 1)):
                total[k] += best[kinds - k] / events
    return seen


@kernel
def _count_returns(regions: NDArray[np.int32], counts: NDArray[np.int64]) -> None:
    """counts[0, tau]: returns; counts[1, tau]: pairs of observed events tau apart."""
    users, times = regions.shape
    longest = counts.shape[1] - 1
    for u in range(users):
        for t in range(times):
            here = regions[u, t]
            if here < 0:
                continue
            away = False
            for tau in range(1, min(longest, times - 1 - t) + 1):
                there = regions[u, t + tau]
                if there >= 0:
                    counts[1, tau] += 1
                    if there != here:
                        away = True
                    elif away:
                        counts[0, tau] += 1
