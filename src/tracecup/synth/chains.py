"""Chains with counted transitions: what SGD, Markov and Uniform have in common.

Rows are sparse: only places that somebody left have one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.errors import InvalidParameter
from tracecup.kernels import inlined, kernel
from tracecup.records import Timetable
from tracecup.streams import ONE, child, uniform
from tracecup.synth.base import Model, Walk

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Places = NDArray[np.int32]
Arrays = tuple[Ints, Places, Ints, Places, Floats]


@dataclass(frozen=True, eq=False)
class Rows:
    """Counts of (group, origin) -> target as cumulated rows.

    Group g has rows `groups[g] : groups[g + 1]`; row r starts from `origin[r]` (ascending within
    a group) and leads to `target[starts[r] : starts[r + 1]]` with `cumulated` counts.
    """

    groups: Ints
    origin: Places
    starts: Ints
    target: Places
    cumulated: Floats

    @classmethod
    def counted(
        cls, group: NDArray[np.integer], origin: Places, target: Places, n_groups: int, n: int
    ) -> Rows:
        """Count the transitions of `n` locations; O(transitions log transitions).

        >>> rows = Rows.counted(np.array([0, 0, 0]), np.array([1, 1, 1]), np.array([2, 0, 2]), 1, 3)
        >>> rows.target.tolist(), rows.cumulated.tolist()
        ([0, 2], [1.0, 3.0])
        """
        row = group.astype(np.int64) * n + origin
        key, count = np.unique(row * n + target, return_counts=True)
        distinct, first = np.unique(key // n, return_index=True)
        starts = np.append(first, len(key)).astype(np.int64)
        running = np.cumsum(count, dtype=np.int64)
        before = np.concatenate([[0], running])[starts[:-1]]
        return cls(
            np.searchsorted(distinct, np.arange(n_groups + 1) * n).astype(np.int64),
            (distinct % n).astype(np.int32),
            starts,
            (key % n).astype(np.int32),
            (running - np.repeat(before, np.diff(starts))).astype(np.float64),
        )

    @property
    def arrays(self) -> Arrays:
        """As the kernel takes them."""
        return self.groups, self.origin, self.starts, self.target, self.cumulated


@dataclass(frozen=True, eq=False)
class ChainModel(Model):
    """First instant from a row of `opening` (origin 0), later ones from the row of where one is.

    `of_users` says whether groups are users (of `opening` and `steps`) or, for `steps`, slots.
    Where there is no row: a uniformly drawn location, or with `stay` the same one. The first
    instants of every day are copied from `prefix` (training users, copied instants), -1 for none.
    """

    trained_day: Timetable
    locations: int
    opening: Rows
    steps: Rows
    of_users: bool
    stay: bool
    prefix: Places
    instants_per_slot: int

    @property
    def day(self) -> Timetable:
        return self.trained_day

    @property
    def n_locations(self) -> int:
        return self.locations

    @property
    def n_users(self) -> int | None:
        """The training users where virtual users are theirs, otherwise any number."""
        if self.of_users:
            return len(self.opening.groups) - 1
        return len(self.prefix) if self.prefix.size else None

    def walk(self, order: Walk, low: int, high: int, out: Places) -> None:
        if self.prefix.size and order.instants != self.instants_per_slot:
            raise InvalidParameter(
                f"copied instants need the training data's {self.instants_per_slot} instants "
                f"per slot, got {order.instants}"
            )
        _walk_users(
            order.first_user + low,
            self.locations,
            self.day.slots,
            order.instants,
            self.opening.arrays,
            self.steps.arrays,
            self.of_users,
            self.stay,
            self.prefix,
            order.kept,
            *order.key,
            out[low:high],
        )


@kernel
def _walk_users(
    first: int,
    locations: int,
    slots: int,
    instants: int,
    opening: Arrays,
    steps: Arrays,
    of_users: bool,
    stay: bool,
    prefix: Places,
    kept: NDArray[np.bool_],
    key0: np.uint64,
    key1: np.uint64,
    out: Places,
) -> None:
    for u in range(out.shape[0]):
        user0, user1 = child(key0, key1, np.uint64(first + u))
        n = np.uint64(0)
        for day in range(out.shape[1]):
            x = 0
            place = 0
            for instant in range(slots * instants):
                chance = uniform(user0, user1, n)
                n += ONE
                if instant < prefix.shape[1] and prefix[first + u, instant] >= 0:
                    x = prefix[first + u, instant]
                elif instant == 0:
                    x = _next(opening, first + u if of_users else 0, 0, chance, locations, -1)
                else:
                    group = first + u if of_users else instant // instants
                    x = _next(steps, group, x, chance, locations, x if stay else -1)
                if kept[instant]:
                    out[u, day, place] = x
                    place += 1


@inlined
def _next(rows: Arrays, group: int, x: int, chance: float, locations: int, otherwise: int) -> int:
    """Draw from the row of x in a group; without one, `otherwise`, or uniformly if that is -1."""
    groups, origin, starts, target, cumulated = rows
    low, high = groups[group], groups[group + 1]
    end = high
    while low < high:
        middle = (low + high) // 2
        if origin[middle] < x:
            low = middle + 1
        else:
            high = middle
    result = otherwise
    if low < end and origin[low] == x:
        first, last = starts[low], starts[low + 1] - 1
        value = chance * cumulated[last]
        while first < last:
            middle = (first + last) // 2
            if value < cumulated[middle]:
                last = middle
            else:
                first = middle + 1
        result = int(target[first])
    elif otherwise < 0:
        result = int(chance * locations)
    return result
