"""What synthesizers learn from: records of training users and where the places lie.

The records are those of every loader; traces on a clock become records by leaving out what is
not observed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tracecup.city import Grid
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.records import Records, Timetable, timetable_of
from tracecup.traces import Traces

MAX_LOCATIONS = 65_000


@dataclass(frozen=True, eq=False)
class Training:
    """Training records and, where known, the positions of the places in km, shape (N, 2).

    >>> training = Training.of_traces(Traces.of([[0, 2, 2, 1]]), 3)
    >>> training.n_users, training.follows.tolist()
    (1, [False, True, True, True])
    """

    records: Records
    positions: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.n_locations <= MAX_LOCATIONS:
            raise InvalidTraces(
                f"the number of locations must be within 1..{MAX_LOCATIONS}, got {self.n_locations}"
            )
        if len(self.records) == 0:
            raise InvalidTraces("training needs at least one record")
        if self.positions is not None:
            shape, wanted = self.positions.shape, (self.n_locations, 2)
            if shape != wanted or not np.isfinite(self.positions).all():
                raise InvalidTraces(
                    f"positions must be finite numbers of shape {wanted}, got shape {shape}"
                )

    @classmethod
    def of_traces(cls, traces: Traces, n_locations: int, instants_per_slot: int = 1) -> Training:
        """The observed events of traces on a regular clock; its slots are the instants."""
        timetable = timetable_of(traces.clock, instants_per_slot)
        return cls(Records.of_traces(traces, n_locations, timetable))

    @classmethod
    def of_records(cls, records: Records) -> Training:
        """From loaded records."""
        return cls(records)

    def placed(self, positions: Grid | ArrayLike) -> Training:
        """The same records of places whose positions are known: a grid's regions, or km (N, 2)."""
        if isinstance(positions, Grid):
            positions = np.column_stack(
                [positions.x * positions.km_x, positions.y * positions.km_y]
            )
        return replace(self, positions=np.asarray(positions, dtype=np.float64))

    @property
    def user(self) -> NDArray[np.int32]:
        """Number of every record's user, ascending."""
        return self.records.user

    @property
    def location(self) -> NDArray[np.int32]:
        """Where every record was."""
        return self.records.location

    @property
    def instant(self) -> NDArray[np.int32]:
        """Instant of the day of every record."""
        return self.records.instant

    @property
    def follows(self) -> NDArray[np.bool_]:
        """Whether each record and the one before it make a transition."""
        return self.records.follows

    @property
    def n_users(self) -> int:
        """Training users, also those without a record."""
        return self.records.n_users

    @property
    def n_locations(self) -> int:
        """Number of places, N."""
        return self.records.n_locations

    @property
    def day(self) -> Timetable:
        """The shape of the days that a model makes: the slots, one instant in each."""
        return self.records.timetable.divided(1)

    @property
    def slots(self) -> int:
        """Slots in a day, T."""
        return self.records.slots

    @property
    def instants_per_slot(self) -> int:
        """Instants in a slot, I."""
        return self.records.instants_per_slot

    @property
    def slot(self) -> NDArray[np.int32]:
        """Slot of every record."""
        return self.records.slot

    def steps(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """(user, from, to) of every transition."""
        return self.records.steps()

    def day_ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First and last record of every user's every day."""
        records = self.records
        begins = np.ones(len(records), dtype=np.bool_)
        begins[1:] = (np.diff(records.user) != 0) | (np.diff(records.day) != 0)
        first = np.flatnonzero(begins)
        return first, np.append(first[1:], len(begins)) - 1

    def prefix(self, instants: int) -> NDArray[np.int32]:
        """The first `instants` instants of the day of every user, shape (users, instants): where
        her first record of that instant was, -1 without one.
        """
        most = self.records.instants_per_day
        if instants > most:
            raise InvalidParameter(f"a day has {most} instants, {instants} cannot be copied")
        prefix = np.full((self.n_users, instants), -1, dtype=np.int32)
        early = np.flatnonzero(self.instant < instants)[::-1]  # the first record is written last
        prefix[self.user[early], self.instant[early]] = self.location[early]
        return prefix
