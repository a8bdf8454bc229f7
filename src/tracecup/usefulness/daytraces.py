"""Days of synthetic users, which the synthesizer metrics compare with records of real ones.

A thin, checked wrapper around a plain array; all indices start at 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tracecup.errors import InvalidTraces
from tracecup.records.records import whole_numbers
from tracecup.traces import Traces

Ints = NDArray[np.int64]


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
        ids = np.arange(len(array)) if user_ids is None else whole_numbers("user_ids", user_ids)
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
        if instants_per_slot < 1 or clock.slots % instants_per_slot:
            raise InvalidTraces(f"{clock.slots} instants do not make slots of {instants_per_slot}")
        return cls.of(
            traces.regions.reshape(traces.n_users, clock.days, clock.slots),
            n_locations=n_locations,
            slots=clock.slots // instants_per_slot,
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


def _check_within(name: str, values: NDArray[np.integer], low: int, high: int) -> None:
    if values.size and (int(values.min()) < low or int(values.max()) >= high):
        bad = int(values[(values < low) | (values >= high)].flat[0])
        raise InvalidTraces(f"{name} {bad} is not within {low}..{high - 1}")
