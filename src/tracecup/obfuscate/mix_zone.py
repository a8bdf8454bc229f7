"""MixZone: users who meet exchange the parts of their days that lie between meetings.

Mix-zones for traces that keep one pseudonym; nights are zones where everybody meets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City
from tracecup.engine import map_blocks
from tracecup.kernels import kernel
from tracecup.obfuscate.base import Knob, Obfuscator, single_cells
from tracecup.obfuscate.cloak import block_numbers
from tracecup.registry import parameter, register
from tracecup.rng import Rng, generator
from tracecup.score.utility import REACH_KM
from tracecup.traces import SetTraces, Traces

ROUNDING = 1e-9

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Regions = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class _Exchanges:
    """Pairs of users, and the events first..last (inclusive) that each pair exchanges."""

    one: Ints
    other: Ints
    first: Ints
    last: Ints
    price: Floats

    def take(self, chosen: Ints) -> _Exchanges:
        one, other, first, last = (c[chosen] for c in (self.one, self.other, self.first, self.last))
        return _Exchanges(one, other, first, last, self.price[chosen])


@register(
    "obfuscator",
    "MixZone",
    "users who meet exchange what lies between two meetings",
    "after A. Beresford, F. Stajano, Location Privacy in Pervasive Computing, IEEE Pervasive "
    "Computing 2003; weaknesses: L. Bindschaedler et al., NDSS 2012",
)
@dataclass(frozen=True)
class MixZone(Obfuscator):
    """On every day pairs exchange the events between two meetings, a night being a meeting.

    Users meet where both are in the same zone (blocks of `zone` x `zone` regions) at the same
    event. Each day a random half of the users is matched with the other half so that as many
    differing events as possible are exchanged, each pair's at a mean distance of at most `dmax`
    km. Of all matched exchanges the cheapest per event are made first, as long as the utility
    stays at `floor`. With k > 2 there are ceil(log2 k) rounds, so that up to k users are mixed.
    O(rounds days m^2 slots^2).

    >>> from tracecup.city import City, Grid
    >>> city = City(Grid.from_metres(3, 1, width_m=350, height_m=350))
    >>> MixZone(floor=0.0).obfuscate(city, Traces.of([[0, 0], [2, 2]]), rng=1).regions.tolist()
    [2, 2, 0, 0]
    """

    k: int = parameter(2, "users mixed at once", low=2, high=1024)
    dmax: float = parameter(
        2.0, "largest mean distance of an exchange in km", low=0, high=1e9, positional=False
    )
    zone: int = parameter(1, "width and height of a zone in regions", low=1, positional=False)
    floor: float = parameter(0.7, "utility to keep", low=0, high=1, positional=False)

    knobs: ClassVar[tuple[Knob, ...]] = (
        Knob("floor", weak=1.0, strong=0.0),
        Knob("dmax", weak=0.0, strong=100.0),
    )

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        gen = generator(rng)
        zones = block_numbers(city.grid, self.zone, self.zone)
        released = np.array(original.regions)
        rounds = math.ceil(math.log2(self.k))
        for number in range(rounds):
            lost = _price(city, original.regions, released)
            # Every round may spend its share of what is left.
            budget = ((1 - self.floor) * released.size - float(lost.sum())) / (rounds - number)
            found = self._matched(city, original, released, zones, gen)
            _exchange(released, _cheapest(found, budget))
        return single_cells(released, original)

    def _matched(
        self,
        city: City,
        original: Traces,
        released: Regions,
        zones: Ints,
        gen: np.random.Generator,
    ) -> _Exchanges:
        """The exchanges of every day: an optimal matching of two random halves."""
        from scipy.optimize import linear_sum_assignment

        s = original.clock.slots
        columns: list[tuple[Ints, Ints, Ints, Ints, Floats]] = []
        for day in range(original.clock.days):
            part = slice(day * s, (day + 1) * s)
            order = gen.permutation(original.n_users)
            half = original.n_users // 2
            ones, others = np.sort(order[:half]), np.sort(order[half:])
            own, now = (np.ascontiguousarray(r[:, part]) for r in (original.regions, released))
            gain, bounds, price = _pairs(city, zones, self.dmax, ones, others, own, now)
            row, column = linear_sum_assignment(gain, maximize=True)
            useful = gain[row, column] > 0
            row, column = row[useful], column[useful]
            first, last = (bounds[end, row, column].astype(np.int64) + day * s for end in (0, 1))
            columns.append((ones[row], others[column], first, last, price[row, column]))
        return _Exchanges(*(np.concatenate(part) for part in zip(*columns, strict=True)))


def _pairs(
    city: City, zones: Ints, dmax: float, ones: Ints, others: Ints, own: Regions, now: Regions
) -> tuple[Floats, NDArray[np.int16], Floats]:
    """The best exchange of every pair on one day: events that differ, bounds, price."""
    gain, price = np.zeros((len(ones), len(others))), np.zeros((len(ones), len(others)))
    bounds = np.zeros((2, len(ones), len(others)), dtype=np.int16)

    def work(low: int, high: int) -> None:
        _best_parts(
            ones[low:high],
            others,
            own,
            now,
            zones,
            city.grid.x,
            city.grid.y,
            city.grid.offset_km,
            float(dmax),
            gain[low:high],
            bounds[:, low:high],
            price[low:high],
        )

    map_blocks(work, len(ones))
    return gain, bounds, price


def _price(city: City, original: Regions, released: Regions) -> Floats:
    """Share of every cell's utility that is lost."""
    return np.minimum(city.grid.distance(original, released), REACH_KM) / REACH_KM


def _cheapest(found: _Exchanges, budget: float) -> _Exchanges:
    """As many exchanges as the budget allows, the cheapest per event first."""
    rate = found.price / (found.last - found.first + 1)
    order = np.lexsort((found.one, found.first, rate))
    # In a later round an exchange can bring users back: its price is below 0, it comes first.
    within = np.flatnonzero(np.cumsum(found.price[order]) <= budget + ROUNDING)
    return found.take(order[: int(within[-1]) + 1 if len(within) else 0])


def _exchange(released: Regions, chosen: _Exchanges) -> None:
    """Swap the parts; a user has at most one exchange a day, so their order does not matter."""
    _swap(released, chosen.one, chosen.other, chosen.first, chosen.last)


@kernel
def _swap(released: Regions, one: Ints, other: Ints, first: Ints, last: Ints) -> None:
    for k in range(len(one)):
        for t in range(first[k], last[k] + 1):
            held = released[one[k], t]
            released[one[k], t] = released[other[k], t]
            released[other[k], t] = held


@kernel
def _best_parts(
    ones: Ints,
    others: Ints,
    own: Regions,
    now: Regions,
    zones: Ints,
    x: Regions,
    y: Regions,
    offset_km: Floats,
    dmax: float,
    gain: Floats,
    bounds: NDArray[np.int16],
    price: Floats,
) -> None:
    """For every pair the part of the day with the most differing events at a mean distance of at
    most dmax, both users' distances to their own traces counted; ties: cheapest, then first.

    `price` is what the exchange adds to the lost utility of both, in cells.
    """
    slots = own.shape[1]
    far, lost, differ = np.zeros(slots + 1), np.zeros(slots + 1), np.zeros(slots + 1)
    meet = np.zeros(slots, dtype=np.bool_)
    for a in range(len(ones)):
        for b in range(len(others)):
            u, v = ones[a], others[b]
            for t in range(slots):
                mine = _km(own[u, t], now[v, t], x, y, offset_km)
                hers = _km(own[v, t], now[u, t], x, y, offset_km)
                before = min(_km(own[u, t], now[u, t], x, y, offset_km), REACH_KM)
                before += min(_km(own[v, t], now[v, t], x, y, offset_km), REACH_KM)
                far[t + 1] = far[t] + (mine + hers) / 2
                lost[t + 1] = lost[t] + (min(mine, REACH_KM) + min(hers, REACH_KM) - before)
                differ[t + 1] = differ[t] + (now[u, t] != now[v, t])
                meet[t] = zones[now[u, t]] == zones[now[v, t]]
            best, least = 0.0, np.inf
            for first in range(slots):
                if first > 0 and not meet[first]:
                    continue
                for last in range(first, slots):
                    if last < slots - 1 and not meet[last]:
                        continue
                    events = last - first + 1
                    if far[last + 1] - far[first] > dmax * events + ROUNDING:
                        continue
                    count = differ[last + 1] - differ[first]
                    cost = lost[last + 1] - lost[first]
                    if count > best or (count == best and count > 0 and cost < least - ROUNDING):
                        best, least = count, cost
                        bounds[0, a, b], bounds[1, a, b] = first, last
            gain[a, b] = best
            price[a, b] = least / REACH_KM if best > 0 else 0.0


@kernel
def _km(a: int, b: int, x: Regions, y: Regions, offset_km: Floats) -> float:
    return float(offset_km[abs(y[a] - y[b]), abs(x[a] - x[b])])
