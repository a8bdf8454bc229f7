"""MDAV: users in groups of at least k, one common trace for each group.

Microaggregation by maximum distance to average, on whole traces; a floor on utility may end it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City, Grid
from tracecup.kernels import kernel
from tracecup.obfuscate.base import Knob, Obfuscator, single_cells
from tracecup.registry import parameter, register
from tracecup.rng import Rng
from tracecup.score.utility import REACH_KM
from tracecup.traces import SetTraces, Traces

TIE = 1e-9
"""Sums of distances that differ by less are the same; the smaller id wins."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Regions = NDArray[np.int32]


@register(
    "obfuscator",
    "MDAV",
    "groups of at least k users release one common trace",
    "J. Domingo-Ferrer, V. Torra, Ordinal, Continuous and Heterogeneous k-Anonymity through "
    "Microaggregation, DMKD 2005, on traces after C. Bettini et al. 2009 (historical k-anonymity)",
)
@dataclass(frozen=True)
class MDAV(Obfuscator):
    """Groups around the user farthest from the mean and the one farthest from her, again and again.

    Alike are users with a small D(u, v) = sum_t min(d(u_t, v_t), 2 km). A group's trace has at
    each event the region with the smallest sum of min(d, 2 km) to the members' (`centre`:
    `medoid`, one of theirs; `free`, any; `set`, all of theirs as a set). With a `floor` only the
    cells nearest to the medoid become the group's, in order of distance over all users, until
    the utility is spent: no longer k-anonymous, but valid. Nothing is random. O(m^2 l / k).

    >>> from tracecup.city import City, Grid
    >>> city = City(Grid.from_metres(12, 1, width_m=341.25, height_m=346.875))
    >>> users = Traces.of([[0], [1], [2], [9], [10], [11]])
    >>> MDAV(3).obfuscate(city, users).regions.tolist()
    [1, 1, 1, 10, 10, 10]
    """

    k: int = parameter(2, "fewest users in a group", low=1, high=10**6)
    floor: float = parameter(
        0.0, "utility to keep by leaving dear cells as they are", low=0, high=1, positional=False
    )
    centre: str = parameter(
        "medoid", "what a group releases", words=("medoid", "free", "set"), positional=False
    )
    day: bool = parameter(False, "form groups anew every day", positional=False)

    knobs: ClassVar[tuple[Knob, ...]] = (
        Knob("floor", weak=1.0, strong=0.0),
        Knob("k", weak=1, strong=10**6),
    )

    @property
    def crowd(self) -> int | None:
        """Groups of k users with the same trace, as long as no cell is left out."""
        return None if self.floor or self.day else self.k

    def guarantee(self, events: int = 400) -> str:
        """k-anonymity of whole traces (of days with `day`), as long as no cell is left out."""
        if self.k == 1 or self.floor:
            return ""
        what = "day of a trace" if self.day else "trace"
        return (
            f"every released {what} occurs at least {self.k} times (if there are as many users); "
            "within a group re-identification is guessing"
        )

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        near = np.minimum(city.grid.offset_km, REACH_KM)
        s = original.clock.slots
        parts = (
            [original.regions[:, day * s : (day + 1) * s] for day in range(original.clock.days)]
            if self.day
            else [original.regions]
        )
        parts = [np.ascontiguousarray(part) for part in parts]
        grid, free = city.grid, self.centre == "free"
        groups = [mdav_groups(grid, part, self.k) for part in parts]
        if self.centre == "set":
            return self._sets(city, original, groups)
        both = zip(parts, groups, strict=True)
        centre = np.hstack([_centres(part, g, grid.x, grid.y, near, free) for part, g in both])
        shifted = self._chosen(city, original, centre)
        return single_cells(np.where(shifted, centre, original.regions), original)

    def _chosen(self, city: City, original: Traces, centre: Regions) -> NDArray[np.bool_]:
        """Which cells become the group's: all, or the cheapest that the floor allows."""
        price = np.minimum(city.grid.distance(original.regions, centre), REACH_KM) / REACH_KM
        return _affordable(price, self.floor)

    def _sets(self, city: City, original: Traces, groups: list[Ints]) -> SetTraces:
        """The members' regions as sets, ascending; where dear, the region as it is."""
        times = original.times
        member = np.empty(original.shape, dtype=np.int64)
        for part, group in enumerate(groups):
            low = part * (times // len(groups))
            member[:, low : low + times // len(groups)] = group[:, None]
        key = (member * times + np.arange(times)) * city.n_regions
        held = np.unique(key + original.regions)
        first, last = np.searchsorted(held, key), np.searchsorted(held, key + city.n_regions)
        region = held % city.n_regions
        grid = city.grid
        price = np.empty(original.shape)
        _price_sets(original.regions, first, last, region, grid.x, grid.y, grid.offset_km, price)
        chosen = _affordable(price, self.floor)
        sizes = np.where(chosen, last - first, 1).ravel()
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        regions = np.empty(int(offsets[-1]), dtype=np.int32)
        _list_members(
            offsets, first.ravel(), chosen.ravel(), region, original.regions.ravel(), regions
        )
        return SetTraces(offsets, regions, original.users, original.clock)


def _affordable(price: Floats, floor: float) -> NDArray[np.bool_]:
    """The cheapest cells whose prices (share of a cell's utility) sum to at most 1 - floor of all;
    ties by user, then event.
    """
    if floor == 0:
        return np.ones(price.shape, dtype=np.bool_)
    order = np.argsort(price, axis=None, kind="stable")
    spent = np.cumsum(price.ravel()[order])
    many = int(np.searchsorted(spent, (1 - floor) * price.size + TIE, side="right"))
    chosen = np.zeros(price.size, dtype=np.bool_)
    chosen[order[:many]] = True
    return chosen.reshape(price.shape)


def mdav_groups(grid: Grid, regions: Regions, k: int) -> Ints:
    """Group of every user, numbered from 0 in the order in which they are made, shape (users,).

    While 3k users are left: r, the one farthest from the mean of the coordinates, and her k - 1
    nearest by D; then the same around s, the one farthest from r by D. Of 2k to 3k - 1 users one
    more group is made around the farthest, the rest is the last one. Ties: the first user.
    """
    near = np.minimum(grid.offset_km, REACH_KM)
    group = np.full(len(regions), -1, dtype=np.int64)
    _group_users(regions, grid.x, grid.y, near, grid.km_x, grid.km_y, k, group)
    return group


@kernel
def _group_users(
    regions: Regions,
    x: Regions,
    y: Regions,
    near: Floats,
    km_x: float,
    km_y: float,
    k: int,
    group: Ints,
) -> None:
    users, times = regions.shape
    total_x, total_y = np.zeros(times), np.zeros(times)
    for u in range(users):
        _add(regions, u, x, y, km_x, km_y, 1.0, total_x, total_y)
    apart = np.empty(users)
    left, number = users, 0
    while left >= 2 * k:
        rounds = 2 if left >= 3 * k else 1
        _off_centre(regions, x, y, km_x, km_y, total_x / left, total_y / left, group, apart)
        for _ in range(rounds):
            who = _farthest(apart, group)
            _distances(regions, x, y, near, who, group, apart)
            _take_nearest(apart, who, k, number, group)
            for u in range(users):
                if group[u] == number:
                    _add(regions, u, x, y, km_x, km_y, -1.0, total_x, total_y)
            number += 1
            left -= k
    for u in range(users):
        if group[u] < 0:
            group[u] = number


@kernel
def _add(
    regions: Regions,
    user: int,
    x: Regions,
    y: Regions,
    km_x: float,
    km_y: float,
    sign: float,
    total_x: Floats,
    total_y: Floats,
) -> None:
    for t in range(regions.shape[1]):
        total_x[t] += sign * x[regions[user, t]] * km_x
        total_y[t] += sign * y[regions[user, t]] * km_y


@kernel
def _off_centre(
    regions: Regions,
    x: Regions,
    y: Regions,
    km_x: float,
    km_y: float,
    mean_x: Floats,
    mean_y: Floats,
    group: Ints,
    apart: Floats,
) -> None:
    """Squared distance from the mean of the coordinates of every user without a group."""
    for u in range(regions.shape[0]):
        if group[u] >= 0:
            continue
        total = 0.0
        for t in range(regions.shape[1]):
            dx = x[regions[u, t]] * km_x - mean_x[t]
            dy = y[regions[u, t]] * km_y - mean_y[t]
            total += dx * dx + dy * dy
        apart[u] = total


@kernel
def _farthest(apart: Floats, group: Ints) -> int:
    """The first of the users without a group who are farthest."""
    far, who = -1.0, 0
    for u in range(len(group)):
        if group[u] < 0 and apart[u] > far + TIE:
            far, who = apart[u], u
    return who


@kernel
def _distances(
    regions: Regions,
    x: Regions,
    y: Regions,
    near: Floats,
    who: int,
    group: Ints,
    apart: Floats,
) -> None:
    """D(who, u) of every user without a group."""
    for u in range(regions.shape[0]):
        if group[u] >= 0:
            continue
        total = 0.0
        for t in range(regions.shape[1]):
            a, b = regions[who, t], regions[u, t]
            total += near[abs(y[a] - y[b]), abs(x[a] - x[b])]
        apart[u] = total


@kernel
def _take_nearest(apart: Floats, who: int, k: int, number: int, group: Ints) -> None:
    """`who` and the k - 1 nearest users without a group become group `number`."""
    free = np.flatnonzero(group < 0)
    group[who] = number
    order = np.argsort(np.round(apart[free] / TIE), kind="mergesort")
    taken = 1
    for at in order:
        if taken == k:
            break
        if group[free[at]] < 0:
            group[free[at]] = number
            taken += 1


@kernel
def _centres(
    regions: Regions, group: Ints, x: Regions, y: Regions, near: Floats, free: bool
) -> Regions:
    """The region of everybody's group at each event, shape (users, times)."""
    users, times = regions.shape
    order = np.argsort(group, kind="mergesort")
    centre = np.empty((users, times), dtype=np.int32)
    low = 0
    while low < users:
        high = low
        while high < users and group[order[high]] == group[order[low]]:
            high += 1
        for t in range(times):
            best, least = np.int32(-1), np.inf
            for candidate in range(len(x) if free else high - low):
                r = np.int32(candidate) if free else regions[order[low + candidate], t]
                total = 0.0
                for member in range(low, high):
                    s = regions[order[member], t]
                    total += near[abs(y[r] - y[s]), abs(x[r] - x[s])]
                if total < least - TIE or (total <= least + TIE and r < best):
                    best, least = r, min(total, least)
            for member in range(low, high):
                centre[order[member], t] = best
        low = high
    return centre


@kernel
def _price_sets(
    original: Regions,
    first: Ints,
    last: Ints,
    held: Ints,
    x: Regions,
    y: Regions,
    offset_km: Floats,
    price: Floats,
) -> None:
    """What releasing the set instead of the region costs: the mean distance, at most 2 km."""
    for i in range(original.shape[0]):
        for j in range(original.shape[1]):
            home, total = original[i, j], 0.0
            for k in range(first[i, j], last[i, j]):
                total += offset_km[abs(y[home] - y[held[k]]), abs(x[home] - x[held[k]])]
            price[i, j] = min(total / (last[i, j] - first[i, j]), REACH_KM) / REACH_KM


@kernel
def _list_members(
    offsets: Ints,
    first: Ints,
    chosen: NDArray[np.bool_],
    held: Ints,
    original: Regions,
    regions: Regions,
) -> None:
    for cell in range(len(first)):
        if not chosen[cell]:
            regions[offsets[cell]] = original[cell]
            continue
        for n in range(offsets[cell + 1] - offsets[cell]):
            regions[offsets[cell] + n] = held[first[cell] + n]
