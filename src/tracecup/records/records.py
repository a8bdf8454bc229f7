"""Records: who was where and when, as plain arrays; what every loader and reader returns.

Loaders, synthesizers and evaluations share this one model; `to_traces` makes dense traces of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tracecup.city import Clock
from tracecup.errors import InvalidTraces
from tracecup.records.ordering import first_of_events
from tracecup.records.timetable import SECONDS_A_DAY, Timetable
from tracecup.traces import Traces

MAX_CELLS = 2**31
COLUMNS = {"user": "i4", "location": "i4", "day": "i4", "instant": "i4", "unix": "f8"}


@dataclass(frozen=True, eq=False)
class Records:
    """n records, sorted by user, then time. All indices from 0, all arrays read-only.

    `user` and `location` (int32) are indices; `day` (int32) counts days from the first one;
    `instant` (int32) is the instant of the day; `unix` (float64) are seconds since 1970.
    `users` are the ids people know the users by, `names` their text where they are not whole
    numbers. Users without a record are users all the same.

    >>> from tracecup.records import CHECK_INS
    >>> records = Records.of([7, 7, 9], [5, 6, 5], [0, 1, 0], n_locations=7, timetable=CHECK_INS)
    >>> len(records), records.users.tolist(), records.user.tolist()
    (3, [7, 9], [0, 0, 1])
    """

    user: NDArray[np.int32]
    location: NDArray[np.int32]
    day: NDArray[np.int32]
    instant: NDArray[np.int32]
    unix: NDArray[np.float64]
    n_locations: int
    timetable: Timetable
    users: NDArray[np.int64]
    names: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        n = len(self.user)
        for name, kind in COLUMNS.items():
            given = np.asarray(getattr(self, name))
            if given.shape != (n,):
                raise InvalidTraces(f"columns of records differ in length: {name}, {given.shape}")
            if kind == "i4" and n and given.dtype.kind not in "iu":
                raise InvalidTraces(f"{name} must be a column of whole numbers, got {given.dtype}")
            if kind == "i4" and n:
                _check_range(name, given, self._limit(name))
            array = np.ascontiguousarray(given, dtype=kind).view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        users = np.ascontiguousarray(self.users, dtype=np.int64).view()
        users.flags.writeable = False
        object.__setattr__(self, "users", users)
        if self.names and len(self.names) != len(users):
            raise InvalidTraces(f"{len(users)} users cannot have {len(self.names)} names")
        if n and bool((np.diff(self.user) < 0).any()):
            raise InvalidTraces("records must be sorted by user; Records.of sorts them")

    def _limit(self, name: str) -> int:
        limits = {
            "user": len(self.users),
            "location": self.n_locations,
            "instant": self.timetable.instants,
        }
        return limits.get(name, 2**31 - 1)

    @classmethod
    def of(
        cls,
        user: ArrayLike,
        location: ArrayLike,
        instant: ArrayLike,
        *,
        n_locations: int,
        timetable: Timetable,
        day: ArrayLike | None = None,
        unix: ArrayLike | None = None,
        users: ArrayLike | None = None,
        names: tuple[str, ...] = (),
    ) -> Records:
        """From columns in any order: sorted by user, time and location.

        `user` holds positions in `users`; without `users` it holds ids, and those that occur are
        the users. One day where no `day` is given. Times (`unix`) follow from day and instant
        where they are not given.
        """
        where, when = whole_numbers("location", location), whole_numbers("instant", instant)
        who = whole_numbers("user", user)
        date = whole_numbers("day", np.zeros(len(who), dtype=np.int64) if day is None else day)
        if users is None:
            users, who = (
                whole_numbers("user", part) for part in np.unique(who, return_inverse=True)
            )
        lengths = {len(who), len(where), len(when), len(date)}
        if unix is None and len(lengths) == 1:
            unix = seconds_of(date, when, timetable)
        times = np.asarray(unix, dtype=np.float64)
        if lengths != {times.size}:
            raise InvalidTraces(f"columns of records differ in length: {sorted(lengths)}")
        order = np.lexsort((where, times, who))
        return cls(
            who[order],
            where[order],
            date[order],
            when[order],
            times[order],
            n_locations,
            timetable,
            np.asarray(users),
            names,
        )

    @classmethod
    def of_traces(
        cls,
        traces: Traces,
        n_locations: int,
        timetable: Timetable | None = None,
        first_unix: float = 0.0,
    ) -> Records:
        """Records of traces with one event per instant; unobserved events are left out.

        Without a timetable that of the traces' clock is taken, a slot for every instant.
        """
        if timetable is None:
            timetable = timetable_of(traces.clock)
        elif traces.clock.minutes != timetable.clock(1).minutes:
            raise InvalidTraces("the clock of the traces does not fit the timetable")
        user, time = (whole_numbers("event", part) for part in np.nonzero(traces.regions >= 0))
        day, instant = np.divmod(time, timetable.instants)
        unix = first_unix + seconds_of(day, instant, timetable)
        where = traces.regions[user, time]
        return cls(user, where, day, instant, unix, n_locations, timetable, traces.users)

    def __len__(self) -> int:
        return len(self.user)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Records):
            return NotImplemented
        return (self.n_locations, self.timetable, self.names) == (
            other.n_locations,
            other.timetable,
            other.names,
        ) and all(np.array_equal(getattr(self, a), getattr(other, a)) for a in (*COLUMNS, "users"))

    __hash__ = None  # type: ignore[assignment]  # equal by content of arrays

    @property
    def n_users(self) -> int:
        """Number of users, also those without records."""
        return len(self.users)

    @property
    def slots(self) -> int:
        """Slots in a day, T."""
        return self.timetable.slots

    @property
    def instants_per_slot(self) -> int:
        """Instants in a slot, I."""
        return self.timetable.instants_per_slot

    @property
    def instants_per_day(self) -> int:
        """Instants in a day, T times I."""
        return self.timetable.instants

    @property
    def slot(self) -> NDArray[np.int32]:
        """Time slot of every record."""
        return self.instant // np.int32(self.instants_per_slot)

    @property
    def days(self) -> int:
        """Number of days, from the first to the last."""
        return int(self.day.max()) + 1 if len(self) else 0

    @property
    def offsets(self) -> NDArray[np.int64]:
        """User k's records are `offsets[k] : offsets[k + 1]`, shape (users + 1,)."""
        return np.searchsorted(self.user, np.arange(self.n_users + 1)).astype(np.int64)

    @property
    def follows(self) -> NDArray[np.bool_]:
        """Whether each record and the one before it make a transition: the same user on the same
        day, one instant apart. For hourly check-ins that is the published rule of the next hour
        within 7200 seconds.
        """
        found = np.zeros(len(self), dtype=np.bool_)
        found[1:] = (
            (np.diff(self.user) == 0) & (np.diff(self.day) == 0) & (np.diff(self.instant) == 1)
        )
        return found

    def steps(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """(user, from, to) of every transition."""
        after = np.flatnonzero(self.follows)
        return self.user[after], self.location[after - 1], self.location[after]

    def take_users(self, users: ArrayLike) -> Records:
        """Some users (indices), in the given order, numbered anew from 0."""
        chosen = np.asarray(users, dtype=np.int64)
        if chosen.size and not 0 <= int(chosen.min()) <= int(chosen.max()) < self.n_users:
            raise InvalidTraces(f"users must be within 0..{self.n_users - 1}")
        starts = np.searchsorted(self.user, chosen, side="left")
        counts = np.searchsorted(self.user, chosen, side="right") - starts
        if len(chosen) == self.n_users and np.array_equal(chosen, np.arange(self.n_users)):
            return self
        first = np.cumsum(counts) - counts
        rows = np.arange(int(counts.sum())) + np.repeat(starts - first, counts)
        return Records(
            np.repeat(np.arange(len(chosen)), counts),
            self.location[rows],
            self.day[rows],
            self.instant[rows],
            self.unix[rows],
            self.n_locations,
            self.timetable,
            self.users[chosen],
            tuple(map(self.names.__getitem__, chosen.tolist())) if self.names else (),
        )

    def take_days(self, days: ArrayLike) -> Records:
        """The records of some days, ascending, numbered anew from 0; all users stay."""
        chosen = np.asarray(days, dtype=np.int64)
        if chosen.size and bool((np.diff(chosen) <= 0).any()):
            raise InvalidTraces("days must ascend")
        if len(chosen) == self.days and np.array_equal(chosen, np.arange(self.days)):
            return self
        number = np.full(max(self.days, int(chosen.max(initial=-1)) + 1), -1, dtype=np.int32)
        number[chosen] = np.arange(len(chosen))
        day = number[self.day]
        rows = np.flatnonzero(day >= 0)
        return replace(self.take(rows), day=day[rows])

    def take(self, rows: ArrayLike) -> Records:
        """Some records (rows, ascending); all users stay."""
        at = np.asarray(rows, dtype=np.int64)
        return replace(self, **{name: getattr(self, name)[at] for name in COLUMNS})

    def thinned(self) -> Records:
        """The first record of every user's every instant."""
        rows = self.first_of_instants()
        alone = len(rows) == len(self) and bool((np.diff(rows) > 0).all())
        return self if alone else self.take(rows)

    def first_of_instants(self) -> NDArray[np.int64]:
        """Rows of the first record of every user's every instant, by user, day and instant."""
        event = self.day.astype(np.int64) * self.instants_per_day + self.instant
        return first_of_events(self.user, event)

    def to_traces(self) -> Traces:
        """Dense traces, one event per instant of every day, -1 where nothing was recorded.

        Several records in one instant: the first counts. Refuses more than 2^31 cells, as sparse
        check-ins over years would need.
        """
        days = max(self.days, 1)
        cells = self.n_users * days * self.instants_per_day
        if cells > MAX_CELLS:
            raise InvalidTraces(f"dense traces would have {cells} cells, at most {MAX_CELLS} fit")
        table = np.full((self.n_users, days * self.instants_per_day), -1, dtype=np.int32)
        first = self.first_of_instants()
        event = self.day[first] * self.instants_per_day + self.instant[first]
        table[self.user[first], event] = self.location[first]
        return Traces(table, self.users, self.timetable.clock(days))


def seconds_of(
    day: NDArray[np.integer], instant: NDArray[np.integer], timetable: Timetable
) -> NDArray[np.float64]:
    """Seconds from the first midnight to the begin of each instant."""
    minute = timetable.start + timetable.interval * instant
    return np.asarray(SECONDS_A_DAY * day + 60.0 * minute)


def timetable_of(clock: Clock, instants_per_slot: int = 1) -> Timetable:
    """The timetable of a regular clock, whose events are the instants.

    >>> timetable_of(Clock.regular(days=1, slots=4), 2)
    Timetable(start=480, interval=30, instants=4, slots=2)
    """
    steps = set(np.diff(clock.minutes).tolist())
    if len(steps) > 1:
        raise InvalidTraces("records need a clock with equal steps")
    if instants_per_slot < 1 or clock.slots % instants_per_slot:
        raise InvalidTraces(
            f"{clock.slots} instants a day do not make slots of {instants_per_slot}"
        )
    slots = clock.slots // instants_per_slot
    return Timetable(clock.minutes[0], steps.pop() if steps else 1, clock.slots, slots)


def whole_numbers(name: str, values: ArrayLike) -> NDArray[Any]:
    """A column of whole numbers; `InvalidTraces` for anything else."""
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InvalidTraces(f"{name} must be a column of whole numbers, got {array.dtype}")
    return array.astype(np.int64)


def _check_range(name: str, values: NDArray[np.integer], limit: int) -> None:
    low, high = int(values.min()), int(values.max())
    if low < 0 or high >= limit:
        raise InvalidTraces(
            f"{name} {low if low < 0 else high} of the records is not within 0..{limit - 1}"
        )
