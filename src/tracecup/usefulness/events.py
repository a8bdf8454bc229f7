"""What the synthesizer metrics read: records of real users and days of synthetic users.

Thin, checked wrappers around plain arrays; all indices start at 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tracecup.errors import InvalidTraces
from tracecup.traces import Traces

Ints = NDArray[np.int64]
SECONDS_A_DAY = 86_400


@dataclass(frozen=True, eq=False)
class Records:
    """Training or testing records: user `users[e]` was at `locations[e]` at `instants[e]`.

    Columns of equal length, ordered by user and then by time. `users` are positions in
    `user_ids`; instants count within a day, `instants_per_slot` of them make a slot. `seconds`
    (absolute times) only serve `max_gap`: the longest time between two records that still make
    a transition (7200 s for check-ins, unlimited where instants alone decide).

    >>> records = Records.of([7, 7, 9], [0, 1, 1], [0, 1, 0], n_locations=2, slots=2)
    >>> records.n_users, [steps.tolist() for steps in records.steps()]
    (2, [[0], [1]])
    """

    users: Ints
    locations: Ints
    instants: Ints
    seconds: NDArray[np.float64]
    user_ids: Ints
    n_locations: int
    slots: int
    instants_per_slot: int = 1
    max_gap: float = math.inf

    def __post_init__(self) -> None:
        lengths = {len(c) for c in (self.users, self.locations, self.instants, self.seconds)}
        if len(lengths) != 1:
            raise InvalidTraces(f"columns of records differ in length: {sorted(lengths)}")
        if not len(self.users):
            raise InvalidTraces("records need at least one row")
        _check_within("user", self.users, 0, len(self.user_ids))
        _check_within("location", self.locations, 0, self.n_locations)
        _check_within("instant", self.instants, 0, self.slots * self.instants_per_slot)
        if np.any(np.diff(self.users) < 0):
            raise InvalidTraces("records must be ordered by user; Records.of sorts them")

    @classmethod
    def of(
        cls,
        users: ArrayLike,
        locations: ArrayLike,
        instants: ArrayLike,
        *,
        n_locations: int,
        slots: int,
        instants_per_slot: int = 1,
        seconds: ArrayLike | None = None,
        max_gap: float = math.inf,
    ) -> Records:
        """From columns in any order: sorted by user and time (stable, so ties keep their order).

        `users` are any whole numbers; without `seconds` a user's records stay as they come.
        """
        given = _whole("users", users)
        times = np.zeros(len(given)) if seconds is None else np.asarray(seconds, dtype=np.float64)
        place, instant = _whole("locations", locations), _whole("instants", instants)
        if not len(given) == len(times) == len(place) == len(instant):
            raise InvalidTraces("columns of records differ in length")
        order = np.lexsort((times, given))
        ids, position = np.unique(given[order], return_inverse=True)
        return cls(
            position.astype(np.int64),
            place[order],
            instant[order],
            times[order],
            ids,
            n_locations,
            slots,
            instants_per_slot,
            max_gap,
        )

    @classmethod
    def of_traces(cls, traces: Traces, n_locations: int, instants_per_slot: int = 1) -> Records:
        """The observed events of plain traces; a step over midnight is never a transition."""
        user, time = np.nonzero(traces.regions >= 0)
        clock = traces.clock
        minute = np.array(clock.minutes, dtype=np.float64)[clock.slot_of[time]]
        return cls.of(
            traces.users[user],
            traces.regions[user, time],
            clock.slot_of[time],
            n_locations=n_locations,
            slots=_slots(clock.slots, instants_per_slot),
            instants_per_slot=instants_per_slot,
            seconds=clock.day_of[time] * float(SECONDS_A_DAY) + minute * 60,
            # A later slot of a later day is more than a day away, one of the same day is not.
            max_gap=SECONDS_A_DAY - 1,
        )

    @property
    def n_users(self) -> int:
        """Number of users that have a record."""
        return len(self.user_ids)

    @property
    def slot(self) -> Ints:
        """Slot of every record."""
        return self.instants // self.instants_per_slot

    @property
    def offsets(self) -> Ints:
        """User k's records are `offsets[k] : offsets[k + 1]`, shape (users + 1,)."""
        return np.searchsorted(self.users, np.arange(self.n_users + 1)).astype(np.int64)

    def steps(self) -> tuple[Ints, Ints]:
        """(from, to) of every counted transition: consecutive records of one user whose
        instants differ by exactly +1 and whose times differ by at most `max_gap`.
        """
        counted = (
            (np.diff(self.users) == 0)
            & (np.diff(self.instants) == 1)
            & (np.diff(self.seconds) <= self.max_gap)
        )
        return self.locations[:-1][counted], self.locations[1:][counted]


@dataclass(frozen=True, eq=False)
class DayTraces:
    """Synthetic traces: `locations[u, d, t]` of virtual user u on day d at instant t.

    Shape (users, days, instants); -1 means "not observed". `user_ids` say which training user
    a virtual user is compared with (0, 1, ... by default).

    >>> DayTraces.of([[[0, 1], [1, 1]]], n_locations=2).days
    2
    """

    locations: NDArray[np.int32]
    n_locations: int
    slots: int
    user_ids: Ints = field(repr=False)

    def __post_init__(self) -> None:
        if self.locations.ndim != 3 or 0 in self.locations.shape:
            raise InvalidTraces(
                "day traces need an array of shape (users, days, instants) with at least one of "
                f"each, got {self.locations.shape}"
            )
        _check_within("location", self.locations, -1, self.n_locations)
        if self.user_ids.shape != self.locations.shape[:1]:
            raise InvalidTraces(f"{self.n_users} users need {self.n_users} ids")
        if self.slots < 1 or self.instants % self.slots:
            raise InvalidTraces(f"{self.instants} instants do not fill {self.slots} slots evenly")

    @classmethod
    def of(
        cls,
        locations: ArrayLike,
        *,
        n_locations: int,
        slots: int | None = None,
        user_ids: ArrayLike | None = None,
    ) -> DayTraces:
        """From anything like a (users, days, instants) array; one instant per slot by default."""
        array = np.asarray(locations)
        if array.ndim != 3:
            raise InvalidTraces(f"day traces need (users, days, instants), got {array.shape}")
        if array.dtype.kind not in "iu":
            raise InvalidTraces(f"locations must be whole numbers, got {array.dtype}")
        _check_within("location", array, -1, n_locations)
        ids = np.arange(len(array)) if user_ids is None else _whole("user_ids", user_ids)
        return cls(
            np.ascontiguousarray(array, dtype=np.int32),
            n_locations,
            array.shape[2] if slots is None else slots,
            ids.astype(np.int64),
        )

    @classmethod
    def of_traces(cls, traces: Traces, n_locations: int, instants_per_slot: int = 1) -> DayTraces:
        """The days of plain traces; virtual user k is compared with training user k."""
        clock = traces.clock
        return cls.of(
            traces.regions.reshape(traces.n_users, clock.days, clock.slots),
            n_locations=n_locations,
            slots=_slots(clock.slots, instants_per_slot),
        )

    @property
    def n_users(self) -> int:
        """Number of virtual users."""
        return int(self.locations.shape[0])

    @property
    def days(self) -> int:
        """One-day traces per user."""
        return int(self.locations.shape[1])

    @property
    def instants(self) -> int:
        """Instants in a day."""
        return int(self.locations.shape[2])

    @property
    def instants_per_slot(self) -> int:
        """Instants that make one slot."""
        return self.instants // self.slots

    def steps(self, day: int) -> tuple[Ints, Ints]:
        """(from, to) of all consecutive observed instants of one day."""
        here = self.locations[:, day]
        before, after = here[:, :-1].ravel(), here[:, 1:].ravel()
        seen = (before >= 0) & (after >= 0)
        return before[seen].astype(np.int64), after[seen].astype(np.int64)


def _slots(instants: int, instants_per_slot: int) -> int:
    if instants_per_slot < 1 or instants % instants_per_slot:
        raise InvalidTraces(f"{instants} instants do not make slots of {instants_per_slot}")
    return instants // instants_per_slot


def _whole(name: str, values: ArrayLike) -> Ints:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InvalidTraces(f"{name} must be a column of whole numbers, got {array.dtype}")
    return array.astype(np.int64)


def _check_within(name: str, values: NDArray[np.integer], low: int, high: int) -> None:
    if values.size and (int(values.min()) < low or int(values.max()) >= high):
        bad = int(values[(values < low) | (values >= high)].flat[0])
        raise InvalidTraces(f"{name} {bad} is not within {low}..{high - 1}")
