"""What synthesizers learn from: records of training users, in order, and the shape of a day.

Records need not be regular; traces on a clock become records by leaving out what is not observed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tracecup.city import Clock, Grid
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.traces import Traces

SECONDS_A_DAY = 86_400
MAX_LOCATIONS = 65_000


class TimetableLike(Protocol):
    """How loaded records cut the day."""

    @property
    def start(self) -> int:
        """Minute of the day at which the first instant begins."""
        ...

    @property
    def interval(self) -> int:
        """Minutes in an instant."""
        ...

    @property
    def slots(self) -> int:
        """Slots in a day."""
        ...

    @property
    def instants_per_slot(self) -> int:
        """Instants that make one slot."""
        ...


class RecordsLike(Protocol):
    """Loaded records: columns in order of user and time (see `tracecup.datasets`)."""

    @property
    def user(self) -> NDArray[np.int64]:
        """Position of the user, ascending."""
        ...

    @property
    def location(self) -> NDArray[np.int32]:
        """Where."""
        ...

    @property
    def day(self) -> NDArray[np.int32]:
        """Number of the day."""
        ...

    @property
    def instant(self) -> NDArray[np.int32]:
        """Instant of the day."""
        ...

    @property
    def n_users(self) -> int:
        """Number of users."""
        ...

    @property
    def n_locations(self) -> int:
        """Number of locations."""
        ...

    @property
    def timetable(self) -> TimetableLike:
        """How the day is cut."""
        ...


@dataclass(frozen=True)
class Day:
    """The shape of a day: `slots` slots of `slot_minutes` minutes from minute `start` on.

    >>> Day(12, 60, 6 * 60).clock(days=2, instants=12).minutes[:3]
    (360, 365, 370)
    """

    slots: int
    slot_minutes: int = 60
    start: int = 0

    def __post_init__(self) -> None:
        if self.slots < 1 or self.slot_minutes < 1 or self.start < 0:
            raise InvalidParameter(
                "a day needs a slot of a minute at least and a start >= 0, got "
                f"{self.slots} x {self.slot_minutes} min from minute {self.start}"
            )

    def clock(self, days: int, instants: int = 1) -> Clock:
        """The clock of `days` days with `instants` instants in every slot."""
        if instants < 1 or self.slot_minutes % instants:
            raise InvalidParameter(
                f"a slot of {self.slot_minutes} minutes cannot be cut into {instants} instants "
                "of whole minutes"
            )
        return Clock.regular(days, self.slots * instants, self.start, self.slot_minutes // instants)


@dataclass(frozen=True, eq=False)
class Training:
    """Training records in order of user and time: user `user[e]` was at `location[e]` at
    instant `instant[e]` of a day. `follows[e]` tells whether record e and the one before it make
    a transition. Slot of an instant: `instant // instants_per_slot`. Where known, `date[e]` is
    the number of the day of record e, and `positions` are the places in km, shape (N, 2).

    >>> training = Training.of_traces(Traces.of([[0, 2, 2, 1]]), 3)
    >>> training.n_users, training.follows.tolist()
    (1, [False, True, True, True])
    """

    user: NDArray[np.int32]
    location: NDArray[np.int32]
    instant: NDArray[np.int32]
    follows: NDArray[np.bool_]
    n_users: int
    n_locations: int
    day: Day
    instants_per_slot: int = 1
    date: NDArray[np.int32] | None = None
    positions: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        columns = [self.user, self.location, self.instant, self.follows]
        columns += [] if self.date is None else [self.date]
        if len({len(column) for column in columns}) != 1:
            raise InvalidTraces(f"columns differ in length: {[len(c) for c in columns]}")
        if not 1 <= self.n_locations <= MAX_LOCATIONS:
            raise InvalidTraces(
                f"the number of locations must be within 1..{MAX_LOCATIONS}, got {self.n_locations}"
            )
        if len(self.user) == 0 or self.n_users < 1:
            raise InvalidTraces("training needs at least one record")
        for name, values, size in (
            ("user", self.user, self.n_users),
            ("location", self.location, self.n_locations),
            ("instant", self.instant, self.day.slots * self.instants_per_slot),
        ):
            low, high = int(values.min()), int(values.max())
            if low < 0 or high >= size:
                raise InvalidTraces(
                    f"{name} {low if low < 0 else high} of the training records is not within "
                    f"0..{size - 1}"
                )
        if np.any(np.diff(self.user) < 0):
            raise InvalidTraces("training records must be ordered by user")
        if self.positions is not None:
            shape, wanted = self.positions.shape, (self.n_locations, 2)
            if shape != wanted or not np.isfinite(self.positions).all():
                raise InvalidTraces(
                    f"positions must be finite numbers of shape {wanted}, got shape {shape}"
                )

    @classmethod
    def of_traces(cls, traces: Traces, n_locations: int, instants_per_slot: int = 1) -> Training:
        """The observed events of traces on a regular clock; its slots are the instants.

        A transition joins consecutive instants of one day, both observed.
        """
        clock = traces.clock
        steps = np.diff(clock.minutes)
        if instants_per_slot < 1 or clock.slots % instants_per_slot:
            raise InvalidTraces(
                f"{clock.slots} instants a day do not make slots of {instants_per_slot}"
            )
        if len(set(steps.tolist())) > 1:
            raise InvalidTraces("training traces need a clock with equal steps")
        step = int(steps[0]) if len(steps) else 1
        day = Day(clock.slots // instants_per_slot, step * instants_per_slot, clock.minutes[0])
        user, time = np.nonzero(traces.regions >= 0)
        follows = np.zeros(len(user), dtype=np.bool_)
        follows[1:] = (
            (np.diff(user) == 0)
            & (np.diff(time) == 1)
            & (clock.day_of[time][1:] == clock.day_of[time][:-1])
        )
        return cls(
            user.astype(np.int32),
            traces.regions[user, time],
            clock.slot_of[time].astype(np.int32),
            follows,
            traces.n_users,
            n_locations,
            day,
            instants_per_slot,
            clock.day_of[time].astype(np.int32),
        )

    @classmethod
    def of_columns(
        cls,
        user: ArrayLike,
        location: ArrayLike,
        instant: ArrayLike,
        *,
        n_users: int,
        n_locations: int,
        day: Day,
        instants_per_slot: int = 1,
        seconds: ArrayLike | None = None,
        max_gap: float = math.inf,
    ) -> Training:
        """From columns ordered by user and time (spec: check-ins, max_gap = 7200 seconds).

        A transition joins consecutive records of a user whose instants differ by exactly +1 and,
        where `seconds` are given, whose times differ by at most `max_gap`.
        """
        users, instants = _column("user", user), _column("instant", instant)
        follows = np.zeros(len(users), dtype=np.bool_)
        if len(users) == len(instants):
            follows[1:] = (np.diff(users) == 0) & (np.diff(instants) == 1)
        if seconds is not None:
            times = np.asarray(seconds, dtype=np.float64)
            if times.shape != users.shape:
                raise InvalidTraces(f"{len(users)} records need as many times, got {times.shape}")
            follows[1:] &= np.diff(times) <= max_gap
        return cls(
            users,
            _column("location", location),
            instants,
            follows,
            n_users,
            n_locations,
            day,
            instants_per_slot,
        )

    @classmethod
    def of_records(cls, records: RecordsLike) -> Training:
        """From loaded records; a transition joins consecutive instants of one day.

        For hourly check-ins that is the rule of +1 hour and at most 7200 seconds.
        """
        table = records.timetable
        training = cls.of_columns(
            records.user,
            records.location,
            records.instant,
            n_users=records.n_users,
            n_locations=records.n_locations,
            day=Day(table.slots, table.interval * table.instants_per_slot, table.start),
            instants_per_slot=table.instants_per_slot,
        )
        training.follows[1:] &= np.diff(records.day) == 0
        return replace(training, date=records.day)

    def placed(self, positions: Grid | ArrayLike) -> Training:
        """The same records of places whose positions are known: a grid's regions, or km (N, 2)."""
        if isinstance(positions, Grid):
            positions = np.column_stack(
                [positions.x * positions.km_x, positions.y * positions.km_y]
            )
        return replace(self, positions=np.asarray(positions, dtype=np.float64))

    @property
    def slots(self) -> int:
        """Slots in a day, T."""
        return self.day.slots

    @property
    def slot(self) -> NDArray[np.int32]:
        """Slot of every record."""
        return self.instant // np.int32(self.instants_per_slot)

    def steps(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """(user, from, to) of every transition."""
        after = np.flatnonzero(self.follows)
        return self.user[after], self.location[after - 1], self.location[after]

    def day_ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First and last record of every user's every day.

        Without dates a day ends where the instant falls.
        """
        begins = np.ones(len(self.user), dtype=np.bool_)
        begins[1:] = (np.diff(self.user) != 0) | (np.diff(self.instant) < 0)
        if self.date is not None:
            begins[1:] |= np.diff(self.date) != 0
        first = np.flatnonzero(begins)
        return first, np.append(first[1:], len(begins)) - 1

    def prefix(self, instants: int) -> NDArray[np.int32]:
        """The first `instants` instants of the day of every user, shape (users, instants): where
        her first record of that instant was, -1 without one.
        """
        most = self.slots * self.instants_per_slot
        if instants > most:
            raise InvalidParameter(f"a day has {most} instants, {instants} cannot be copied")
        prefix = np.full((self.n_users, instants), -1, dtype=np.int32)
        early = np.flatnonzero(self.instant < instants)[::-1]  # the first record is written last
        prefix[self.user[early], self.instant[early]] = self.location[early]
        return prefix


def _column(name: str, values: ArrayLike) -> NDArray[np.int32]:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InvalidTraces(f"{name} must be a column of whole numbers, got {array.dtype}")
    if array.size and int(array.max()) > np.iinfo(np.int32).max:
        raise InvalidTraces(f"{name} must fit in 32 bits")
    return array.astype(np.int32)
