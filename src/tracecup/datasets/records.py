"""Records: who was where and when, as plain arrays; what every loader returns.

Synthesizers take these arrays as they are; `to_traces` makes dense traces of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tracecup.city import City, Clock
from tracecup.datasets.splitting import split_users
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.traces import Traces

MINUTES_A_DAY = 24 * 60
SECONDS_A_DAY = 86_400
MAX_CELLS = 2**31


@dataclass(frozen=True)
class Timetable:
    """How a day is cut: `instants` of `interval` minutes from minute `start`, in `slots` slots.

    A slot is a time slot of the synthesizer, an instant its finer step (T and I of the paper).

    >>> Timetable(360, 5, 144, 12).instants_per_slot
    12
    """

    start: int
    interval: int
    instants: int
    slots: int

    def __post_init__(self) -> None:
        end = self.start + self.interval * self.instants
        if min(self.interval, self.instants, self.slots) < 1 or self.instants % self.slots:
            raise InvalidParameter(
                "a timetable needs an interval, instants and slots >= 1 with instants a multiple "
                f"of slots, got {self.interval}, {self.instants}, {self.slots}"
            )
        if self.start < 0 or end > MINUTES_A_DAY:
            raise InvalidParameter(
                f"a timetable lies within minutes 0..{MINUTES_A_DAY}, got {self.start}..{end}"
            )

    @property
    def instants_per_slot(self) -> int:
        """Instants in a slot, I."""
        return self.instants // self.slots

    def instant_of(self, minute: ArrayLike, *, exact: bool = False) -> NDArray[np.int32]:
        """Instant that contains each minute of the day, -1 outside; `exact`: begins with it."""
        since = np.floor(np.asarray(minute, dtype=np.float64)).astype(np.int64) - self.start
        inside = (since >= 0) & (since < self.interval * self.instants)
        if exact:
            inside &= since % self.interval == 0
        return np.where(inside, since // self.interval, -1).astype(np.int32)

    def clock(self, days: int) -> Clock:
        """The clock of traces with one event per instant."""
        return Clock.regular(days, self.instants, self.start, self.interval)


# The three settings of the paper's appendices (T and I there).
PEOPLEFLOW = Timetable(start=9 * 60, interval=20, instants=30, slots=30)
FOURSQUARE = Timetable(start=0, interval=60, instants=24, slots=12)
CONTEST = Timetable(start=6 * 60, interval=5, instants=144, slots=12)


@dataclass(frozen=True, eq=False)
class Records:
    """n records, sorted by user, then time. All indices from 0, all arrays read-only.

    `user` (int64) and `location` (int32) are indices; `day` (int32) counts days from the first
    one; `instant` (int32) is the instant of the day; `unix` (float64) are seconds since 1970.
    `users` are the ids people know the users by, `names` their text where they are not whole
    numbers.

    >>> records = Records.of([0, 0, 1], [5, 6, 5], [0, 0, 0], [0, 1, 0], [0, 60, 0], 7, CONTEST)
    >>> len(records), records.n_users, records.slot.tolist()
    (3, 2, [0, 0, 0])
    """

    user: NDArray[np.int64]
    location: NDArray[np.int32]
    day: NDArray[np.int32]
    instant: NDArray[np.int32]
    unix: NDArray[np.float64]
    n_locations: int
    timetable: Timetable
    users: NDArray[np.int64]
    names: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        types = {"user": "i8", "location": "i4", "day": "i4", "instant": "i4", "unix": "f8"}
        n = len(self.user)
        for name, kind in types.items():
            array = np.ascontiguousarray(getattr(self, name), dtype=kind).view()
            if array.shape != (n,):
                raise InvalidTraces(f"columns of records differ in length: {name}, {array.shape}")
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        users = np.ascontiguousarray(self.users, dtype=np.int64).view()
        users.flags.writeable = False
        object.__setattr__(self, "users", users)
        if self.names and len(self.names) != len(users):
            raise InvalidTraces(f"{len(users)} users cannot have {len(self.names)} names")
        limits = (
            ("user", len(users)),
            ("location", self.n_locations),
            ("instant", self.timetable.instants),
            ("day", 2**31 - 1),
        )
        for name, limit in limits:
            values = getattr(self, name)
            if n and not 0 <= int(values.min()) <= int(values.max()) < limit:
                raise InvalidTraces(
                    f"{name} must be within 0..{limit - 1}, "
                    f"got {int(values.min())}..{int(values.max())}"
                )
        if n and bool((np.diff(self.user) < 0).any()):
            raise InvalidTraces("records must be sorted by user")

    @classmethod
    def of(
        cls,
        user: ArrayLike,
        location: ArrayLike,
        day: ArrayLike,
        instant: ArrayLike,
        unix: ArrayLike,
        n_locations: int,
        timetable: Timetable,
        users: ArrayLike | None = None,
        names: tuple[str, ...] = (),
    ) -> Records:
        """From columns in any order: sorted by user and time, ids 1..n unless given."""
        who, when = np.asarray(user, dtype=np.int64), np.asarray(unix, dtype=np.float64)
        order = np.lexsort((when, who))
        if users is None:
            users = np.arange(1, (int(who.max()) if len(who) else 0) + 2)
        return cls(
            who[order],
            np.asarray(location)[order],
            np.asarray(day)[order],
            np.asarray(instant)[order],
            when[order],
            n_locations,
            timetable,
            np.asarray(users),
            names,
        )

    @classmethod
    def of_traces(
        cls, traces: Traces, n_locations: int, timetable: Timetable, first_unix: float = 0.0
    ) -> Records:
        """Records of dense traces with one event per instant; unobserved events are left out."""
        if traces.clock.minutes != timetable.clock(1).minutes:
            raise InvalidTraces("the clock of the traces does not fit the timetable")
        user, time = np.nonzero(traces.regions >= 0)
        day, instant = np.divmod(time, timetable.instants)
        minute = timetable.start + timetable.interval * instant
        unix = first_unix + SECONDS_A_DAY * day + 60.0 * minute
        where = traces.regions[user, time]
        return cls(user, where, day, instant, unix, n_locations, timetable, traces.users)

    def __len__(self) -> int:
        return len(self.user)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Records):
            return NotImplemented
        arrays = ("user", "location", "day", "instant", "unix", "users")
        return (self.n_locations, self.timetable, self.names) == (
            other.n_locations,
            other.timetable,
            other.names,
        ) and all(np.array_equal(getattr(self, a), getattr(other, a)) for a in arrays)

    __hash__ = None  # type: ignore[assignment]  # equal by content of arrays

    @property
    def n_users(self) -> int:
        """Number of users, also those without records."""
        return len(self.users)

    @property
    def instants_per_day(self) -> int:
        """Instants in a day, T times I."""
        return self.timetable.instants

    @property
    def slot(self) -> NDArray[np.int32]:
        """Time slot of every record."""
        return np.asarray(self.instant // self.timetable.instants_per_slot, dtype=np.int32)

    @property
    def days(self) -> int:
        """Number of days, from the first to the last."""
        return int(self.day.max()) + 1 if len(self) else 0

    def take_users(self, users: ArrayLike) -> Records:
        """Some users (indices), in the given order, numbered anew from 0."""
        chosen = np.asarray(users, dtype=np.int64)
        if chosen.size and not 0 <= int(chosen.min()) <= int(chosen.max()) < self.n_users:
            raise InvalidTraces(f"users must be within 0..{self.n_users - 1}")
        starts = np.searchsorted(self.user, chosen, side="left")
        counts = np.searchsorted(self.user, chosen, side="right") - starts
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
            tuple(self.names[k] for k in chosen) if self.names else (),
        )

    def transitions(
        self, longest_gap: float | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """(user, from, to) of consecutive records of a day whose instants differ by exactly 1.

        `longest_gap` in seconds drops pairs further apart (7200 for check-ins).
        """
        pair = (np.diff(self.user) == 0) & (np.diff(self.day) == 0) & (np.diff(self.instant) == 1)
        if longest_gap is not None:
            pair &= np.diff(self.unix) <= longest_gap
        k = np.flatnonzero(pair)
        return self.user[k], self.location[k], self.location[k + 1]

    def to_traces(self) -> Traces:
        """Dense traces, one event per instant of every day, -1 where nothing was recorded.

        Several records in one instant: the first counts. Refuses more than 2^31 cells, as sparse
        check-ins over years would need.
        """
        days = max(self.days, 1)
        cells = self.n_users * days * self.instants_per_day
        if cells > MAX_CELLS:
            raise InvalidTraces(f"dense traces would have {cells} cells, at most {MAX_CELLS} fit")
        regions = np.full(cells, -1, dtype=np.int32)
        day = self.user * days + self.day
        cell, first = np.unique(day * self.instants_per_day + self.instant, return_index=True)
        regions[cell] = self.location[first]
        table = regions.reshape(self.n_users, days * self.instants_per_day)
        return Traces(table, self.users, self.timetable.clock(days))


@dataclass(frozen=True)
class Split:
    """Training and testing users of a data set, each with indices from 0, and their city."""

    training: Records
    testing: Records
    city: City
    by_place: bool = False


@dataclass(frozen=True)
class Dataset:
    """What a loader returns: records and the city they lie in.

    Locations are the city's regions, or with `by_place` its places (row i of `city.places` is
    location i, so that `city.places.regions[i]` is its cell). `skipped` counts bad lines that
    were left out on request, `outside` records of a table outside the box, `off_hours` those in
    the box outside the hours.
    """

    records: Records
    city: City
    by_place: bool = False
    skipped: int = 0
    outside: int = 0
    off_hours: int = 0

    def split(
        self, training: int | None = None, testing: int | None = None, seed: int = 1
    ) -> Split:
        """Training and testing users by the published rule; see `splitting.split_users`."""
        chosen = split_users(self.records.n_users, training, testing, seed)
        first, second = (self.records.take_users(users) for users in chosen)
        return Split(first, second, self.city, self.by_place)
