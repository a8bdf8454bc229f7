"""What an attacker may know of a person and who else fits it, as flat arrays for the kernels.

Known points come from the true traces, the people who fit them from the released ones; both are
read in blocks of users, so that traces may be larger than memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup import scratch
from tracecup.errors import InvalidTraces
from tracecup.kernels import kernel
from tracecup.traces import SetTraces, Traces

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
VISIT_BYTES = 128
"""What a visit costs while its block is worked on."""


@dataclass(frozen=True, eq=False)
class Visits:
    """Who was where and when, of users `low` and on, sorted by user, then time.

    `user` counts from 0 within the block. Gaps and deleted cells are left out, a generalised cell
    is a visit of every region in it.
    """

    user: Ints
    place: Ints
    time: Ints
    n_users: int
    low: int = 0

    @classmethod
    def of(cls, traces: Traces | SetTraces, low: int = 0, high: int | None = None) -> Visits:
        """The visits of traces with gaps or of released cells, of users low..high-1."""
        end = traces.n_users if high is None else high
        if isinstance(traces, Traces):
            regions = traces.regions[low:end]
            user, time = np.nonzero(regions >= 0)
            place = regions[user, time].astype(np.int64)
            return cls(user.astype(np.int64), place, time.astype(np.int64), end - low, low)
        offsets = traces.offsets[low * traces.times : end * traces.times + 1]
        sizes = np.diff(offsets)
        cell = np.repeat(np.arange(len(sizes)), sizes)
        user, time = np.divmod(cell, traces.times)
        place = traces.regions[offsets[0] : offsets[-1]].astype(np.int64)
        return cls(user, place, time, end - low, low)

    def counts(self) -> tuple[Ints, Ints, Ints]:
        """(user, place, visits) of every place of every user, sorted by user, then place."""
        side = int(self.place.max(initial=0)) + 1
        code, number = np.unique(self.user * side + self.place, return_counts=True)
        return code // side, code % side, number.astype(np.int64)

    def records(self) -> Ints:
        """Visits of each user, shape (users,)."""
        return np.bincount(self.user, minlength=self.n_users).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Sides:
    """The true traces of some users and the released ones, in the same order of users."""

    true: Traces | SetTraces
    held: Traces | SetTraces

    @classmethod
    def of(cls, known: Traces, released: SetTraces | None) -> Sides:
        """What may be known and what is released; the true traces themselves without."""
        if released is not None and released.shape != known.shape:
            raise InvalidTraces(f"known traces are {known.shape}, released ones {released.shape}")
        return cls(known, known if released is None else released)

    @property
    def n_users(self) -> int:
        """Number of users, m."""
        return self.true.n_users

    @property
    def n_places(self) -> int:
        """A number above every region on either side."""
        return 1 + max(int(one.regions.max(initial=0)) for one in (self.true, self.held))

    def blocks(self) -> list[tuple[int, int]]:
        """Bounds of blocks of users whose visits take about 64 MiB of work."""
        most = max(one.regions.size for one in (self.true, self.held))
        return scratch.parts(self.n_users, VISIT_BYTES * -(-most // max(1, self.n_users)))

    def released(self) -> Iterable[Visits]:
        """The released visits, block by block."""
        return (Visits.of(self.held, low, high) for low, high in self.blocks())


@dataclass(frozen=True, eq=False)
class Holders:
    """Who may fit an item, by its group: `holder[e]` with `value[e]`, ascending, for e in
    `start[group] : start[group + 1]`.

    Of a pair that is held twice (a cell may name a region twice) the first value counts. Large
    ones lie in files.
    """

    start: Ints
    holder: NDArray[np.int32]
    value: Floats

    @classmethod
    def of(cls, pairs: Callable[[], Iterable[tuple[Ints, Ints, Floats]]], n_groups: int) -> Holders:
        """From (user, group, value), users ascending over all blocks; `pairs` is called twice.

        O(pairs + groups): counted first, then every pair goes to its place.
        """
        last = scratch.filled(n_groups, -1, np.int32)
        start = scratch.filled(n_groups + 1, 0, np.int64)
        for user, group, _ in pairs():
            _count_pairs(user, group, last, start)
        np.cumsum(start, out=start)
        holder, value = scratch.empty(start[-1], np.int32), scratch.empty(start[-1], np.float64)
        free = scratch.empty(n_groups, np.int64)
        free[:] = start[:-1]
        last[:] = -1
        for user, group, amount in pairs():
            _place_pairs(user, group, amount, last, free, holder, value)
        return cls(start, holder, value)


@dataclass(frozen=True, eq=False)
class Items:
    """Known items of users `low` and on: those of the k-th are `first[k] : first[k + 1]`.

    Item i is about group `group[i]` of some `Holders` and asks for `want[i]`. An item with
    `linked[i]` may be known only together with the one before it (the second visit of a place
    after the first). Those of group `also[i]` fit item i, too: an empty group unless cells may
    hide anything.
    """

    low: int
    first: Ints
    group: Ints
    want: Floats
    linked: NDArray[np.bool_]
    also: Ints

    @classmethod
    def of(cls, visits: Visits, user: Ints, group: Ints, want: Floats | Ints, nobody: int) -> Items:
        """From columns sorted by user; `nobody` is an empty group."""
        return cls(
            visits.low,
            np.searchsorted(user, np.arange(visits.n_users + 1)).astype(np.int64),
            group,
            np.ascontiguousarray(want, dtype=np.float64),
            np.zeros(len(user), dtype=np.bool_),
            np.full(len(user), nobody, dtype=np.int64),
        )

    @property
    def numbers(self) -> Ints:
        """Number of known items of each user of the block."""
        return np.diff(self.first)


class Places:
    """Items: the different places of a user. Groups are places, one more is empty."""

    tolerance = -1.0
    """Below 0 a value must be at least what is wanted, otherwise equal to it within that share."""

    def __init__(self, sides: Sides) -> None:
        self.sides, self.nobody = sides, sides.n_places
        self.holders = Holders.of(self._pairs, self.nobody + 1)

    def items(self, visits: Visits) -> Items:
        """What may be known of the users of a block."""
        user, place, _ = visits.counts()
        return Items.of(visits, user, place, np.ones(len(user)), self.nobody)

    def held(self, visits: Visits) -> tuple[Ints, Ints, Floats]:
        """(user, group, value) of the released visits of a block."""
        user, place, number = visits.counts()
        return user, place, number.astype(np.float64)

    def _pairs(self) -> Iterable[tuple[Ints, Ints, Floats]]:
        for visits in self.sides.released():
            user, group, value = self.held(visits)
            yield user + visits.low, group, value


class RepeatedVisits(Places):
    """Items: the visits of a user without their times, so that a place may be known twice."""

    def items(self, visits: Visits) -> Items:
        """The k-th visit of a place asks for k visits."""
        user, place, number = visits.counts()
        again = np.repeat(np.arange(len(user)), number)
        level = np.arange(len(again)) - np.repeat(np.cumsum(number) - number, number)
        found = Items.of(visits, user[again], place[again], level + 1, self.nobody)
        found.linked[:] = level > 0
        return found


class Frequencies(Places):
    """Items: places with how often they were visited, or with `shares` in which share of visits."""

    def __init__(self, sides: Sides, tolerance: float, *, shares: bool) -> None:
        self.tolerance, self._shares = tolerance, shares
        super().__init__(sides)

    def items(self, visits: Visits) -> Items:
        """Places with the value of the true visits."""
        return Items.of(visits, *self.held(visits), self.nobody)

    def held(self, visits: Visits) -> tuple[Ints, Ints, Floats]:
        """Places with the value of these visits."""
        user, place, number = visits.counts()
        value = number / visits.records()[user] if self._shares else number.astype(np.float64)
        return user, place, value


class Moments(Places):
    """Items: the visits of a user with their times. Groups are times x places, one more is empty.

    With `weak` a person whose cell is deleted may have been anywhere and fits every place of that
    moment: the groups behind the others are those of the times.
    """

    def __init__(self, sides: Sides, *, weak: bool = False) -> None:
        self.sides, self._side, times = sides, sides.n_places, sides.true.times
        self.nobody, self._weak = times * self._side, weak
        self.holders = Holders.of(self._pairs, self.nobody + 1 + weak * times)

    def items(self, visits: Visits) -> Items:
        group = visits.time * self._side + visits.place
        found = Items.of(visits, visits.user, group, np.ones(len(group)), self.nobody)
        if self._weak:
            found.also[:] = self.nobody + 1 + visits.time
        return found

    def held(self, visits: Visits) -> tuple[Ints, Ints, Floats]:
        """Moments, and with `weak` the times of deleted cells."""
        user, group = visits.user, visits.time * self._side + visits.place
        held = self.sides.held
        if self._weak and isinstance(held, SetTraces):
            cells = slice(visits.low * held.times, (visits.low + visits.n_users) * held.times + 1)
            who, when = np.divmod(np.flatnonzero(np.diff(held.offsets[cells]) == 0), held.times)
            user, group = np.append(user, who), np.append(group, self.nobody + 1 + when)
            order = np.argsort(user, kind="stable")
            user, group = user[order], group[order]
        return user, group, np.ones(len(user))


@kernel
def _count_pairs(user: Ints, group: Ints, last: NDArray[np.int32], start: Ints) -> None:
    """start[g + 1] += the different users of group g; `last` is the last user of each."""
    for k in range(len(user)):
        g = group[k]
        if last[g] != user[k]:
            last[g] = user[k]
            start[g + 1] += 1


@kernel
def _place_pairs(
    user: Ints,
    group: Ints,
    amount: Floats,
    last: NDArray[np.int32],
    free: Ints,
    holder: NDArray[np.int32],
    value: Floats,
) -> None:
    """Put every user behind those of her group that came before her."""
    for k in range(len(user)):
        g = group[k]
        if last[g] != user[k]:
            last[g] = user[k]
            holder[free[g]], value[free[g]] = user[k], amount[k]
            free[g] += 1
