"""What an attacker may know of a person and who else fits it, as flat arrays for the kernels.

Known points come from the true traces, the people who fit them from the released ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tracecup.errors import InvalidTraces
from tracecup.traces import SetTraces, Traces

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Visits:
    """Who was where and when, sorted by user, then time: gaps and deleted cells left out.

    A generalised cell is a visit of every region in it.
    """

    user: Ints
    place: Ints
    time: Ints
    n_users: int

    @classmethod
    def of(cls, traces: Traces | SetTraces) -> Visits:
        """The visits of traces with gaps or of released cells."""
        if isinstance(traces, Traces):
            user, time = np.nonzero(traces.regions >= 0)
            place = traces.regions[user, time].astype(np.int64)
            return cls(user.astype(np.int64), place, time.astype(np.int64), traces.n_users)
        sizes = np.diff(traces.offsets)
        cell = np.repeat(np.arange(len(sizes)), sizes)
        user, time = np.divmod(cell, traces.times)
        return cls(user, traces.regions.astype(np.int64), time, traces.n_users)

    def counts(self) -> tuple[Ints, Ints, Ints]:
        """(user, place, visits) of every place of every user, sorted by user, then place."""
        side = int(self.place.max(initial=0)) + 1
        code, number = np.unique(self.user * side + self.place, return_counts=True)
        return code // side, code % side, number.astype(np.int64)

    def records(self) -> Ints:
        """Visits of each user, shape (users,)."""
        return np.bincount(self.user, minlength=self.n_users).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Known:
    """Known items of every user, and the people who fit each item.

    The items of user u are `first[u] : first[u + 1]`. Item i is about group `group[i]` and asks
    for `want[i]`; those who may fit it are `holder[e]` with `value[e]`, e in
    `start[group[i]] : start[group[i] + 1]`, ascending. With `tolerance` below 0 the value must be
    at least what is wanted, otherwise equal to it within that share. An item with `linked[i]` may
    be known only together with the one before it (the second visit of a place after the first).
    Those of group `also[i]` fit item i, too: an empty group unless cells may hide anything.
    """

    first: Ints
    group: Ints
    want: Floats
    linked: NDArray[np.bool_]
    start: Ints
    holder: Ints
    value: Floats
    n_users: int
    also: Ints
    tolerance: float = -1.0

    @classmethod
    def of_groups(
        cls,
        known: tuple[Ints, Ints, Floats],
        held: tuple[Ints, Ints, Floats],
        n_users: int,
        tolerance: float = -1.0,
    ) -> Known:
        """From (user, code, wanted) and (user, code, value), both sorted by user.

        Of a pair that is held twice (a cell may name a region twice) the first value counts.
        """
        user, code, want = known
        holder, of, value = held
        order = np.argsort(of, kind="stable")
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = (np.diff(of[order]) != 0) | (np.diff(holder[order]) != 0)
        order = order[new]
        codes, start = np.unique(of[order], return_index=True)
        # Codes that nobody holds share one empty group behind the others.
        at = np.searchsorted(codes, code)
        found = at < len(codes)
        found[found] = codes[at[found]] == code[found]
        return cls(
            np.searchsorted(user, np.arange(n_users + 1)).astype(np.int64),
            np.where(found, at, len(codes)).astype(np.int64),
            np.ascontiguousarray(want, dtype=np.float64),
            np.zeros(len(user), dtype=np.bool_),
            np.concatenate([start, [len(order), len(order)]]).astype(np.int64),
            np.ascontiguousarray(holder[order]),
            np.ascontiguousarray(value[order], dtype=np.float64),
            n_users,
            np.full(len(user), len(codes), dtype=np.int64),
            tolerance,
        )

    @property
    def items(self) -> Ints:
        """Number of known items of each user."""
        return np.diff(self.first)


def known_visits(known: Traces, released: SetTraces | None) -> tuple[Visits, Visits]:
    """The visits that may be known and those that are released, of the same users."""
    if released is None:
        visits = Visits.of(known)
        return visits, visits
    if released.shape != known.shape:
        raise InvalidTraces(f"known traces are {known.shape}, released ones {released.shape}")
    return Visits.of(known), Visits.of(released)


def places(known: Visits, held: Visits) -> Known:
    """Items: the different places of a user."""
    (user, place, _), (holder, where, number) = known.counts(), held.counts()
    wanted = np.ones(len(user))
    return Known.of_groups(
        (user, place, wanted), (holder, where, number.astype(float)), known.n_users
    )


def visits(known: Visits, held: Visits) -> Known:
    """Items: the visits of a user without their times, so that a place may be known twice."""
    (user, place, number), (holder, where, held_number) = known.counts(), held.counts()
    again = np.repeat(np.arange(len(user)), number)
    level = np.arange(len(again)) - np.repeat(np.cumsum(number) - number, number)
    found = Known.of_groups(
        (user[again], place[again], (level + 1).astype(np.float64)),
        (holder, where, held_number.astype(float)),
        known.n_users,
    )
    found.linked[:] = level > 0
    return found


def moments(known: Visits, held: Visits, hidden: NDArray[np.bool_] | None = None) -> Known:
    """Items: the visits of a user with their times.

    Where `hidden` (users, times) is true, a person may have been anywhere and fits every place.
    """
    side = max(int(known.place.max(initial=0)), int(held.place.max(initial=0))) + 1
    code = held.time * side + held.place
    found = Known.of_groups(
        (known.user, known.time * side + known.place, np.ones(len(known.user))),
        (held.user, code, np.ones(len(code))),
        known.n_users,
    )
    if hidden is None:
        return found
    time, user = np.nonzero(hidden.T)
    ends = len(found.holder) + np.searchsorted(time, np.arange(hidden.shape[1]), side="right")
    return replace(
        found,
        start=np.concatenate([found.start, ends]).astype(np.int64),
        holder=np.concatenate([found.holder, user]).astype(np.int64),
        value=np.concatenate([found.value, np.ones(len(user))]),
        also=len(found.start) - 1 + known.time,
    )


def frequencies(known: Visits, held: Visits, tolerance: float, *, shares: bool) -> Known:
    """Items: places with how often they were visited, or with `shares` in which share of visits."""
    sides = []
    for one in (known, held):
        user, place, number = one.counts()
        value = number / one.records()[user] if shares else number.astype(np.float64)
        sides.append((user, place, value))
    return Known.of_groups(sides[0], sides[1], known.n_users, tolerance)
