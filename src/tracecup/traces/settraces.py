"""Traces whose cells are lists of regions: obfuscated and released traces.

Ragged: one flat array of regions and the offset at which each cell begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tracecup import scratch
from tracecup.city.clock import Clock
from tracecup.errors import InvalidTraces
from tracecup.kernels import kernel
from tracecup.traces.traces import (
    Traces,
    check_clock,
    frozen_ids,
    frozen_int32,
    sizes_said,
)


@dataclass(frozen=True, eq=False, repr=False)
class SetTraces:
    """What a team releases: cell (i, j) is `regions[offsets[i*l + j] : offsets[i*l + j + 1]]`.

    Empty = deleted, one region = kept or perturbed, several = generalised. A region may stand
    twice in a cell (multiplicity counts). `offsets` is int64 of length users*times + 1,
    `regions` flat int32 of 0-based indices. `users` are user ids 1..m before the shuffle,
    pseudonyms m+1..2m after it.

    >>> released = SetTraces.of_cells([[[0], [1, 3]], [[], [2]]])
    >>> released.cell(0, 1).tolist(), released.sizes.tolist()
    ([1, 3], [[1, 2], [0, 1]])
    """

    offsets: NDArray[np.int64]
    regions: NDArray[np.int32]
    users: NDArray[np.int64]
    clock: Clock

    def __post_init__(self) -> None:
        check_clock(self.clock)
        regions = frozen_int32(self.regions, "regions", 1)
        users = frozen_ids(self.users, len(self.users))
        offsets: NDArray[np.int64] = np.ascontiguousarray(self.offsets, dtype=np.int64).view()
        offsets.flags.writeable = False
        cells = len(users) * self.clock.times
        if offsets.shape != (cells + 1,):
            raise InvalidTraces(f"{cells} cells need {cells + 1} offsets, got {offsets.shape}")
        parts = scratch.parts(cells, offsets.itemsize)
        falls = any(bool((np.diff(offsets[a : b + 1]) < 0).any()) for a, b in parts)
        if offsets[0] != 0 or offsets[-1] != len(regions) or falls:
            raise InvalidTraces("offsets must rise from 0 to the number of regions")
        if regions.size and int(regions.min()) < 0:
            raise InvalidTraces(f"a released region must be >= 0, got {int(regions.min())}")
        object.__setattr__(self, "offsets", offsets)
        object.__setattr__(self, "regions", regions)
        object.__setattr__(self, "users", users)

    @classmethod
    def of_cells(
        cls,
        cells: Sequence[Sequence[Iterable[int]]],
        clock: Clock | None = None,
        users: ArrayLike | None = None,
    ) -> SetTraces:
        """From nested lists: `cells[i][j]` are the regions of user i at event j."""
        rows = [[list(cell) for cell in row] for row in cells]
        times = {len(row) for row in rows}
        if len(times) > 1:
            raise InvalidTraces(f"users have different numbers of events: {sorted(times)}")
        clock = clock or Clock.unknown(times.pop() if times else 1)
        sizes = [len(cell) for row in rows for cell in row]
        flat = [region for row in rows for cell in row for region in cell]
        ids = np.arange(1, len(rows) + 1) if users is None else np.asarray(users)
        offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        return cls(offsets, np.array(flat, dtype=np.int32), ids, clock)

    @classmethod
    def of_traces(cls, traces: Traces) -> SetTraces:
        """Every cell the one region of `traces`; unobserved events become deleted cells."""
        flat = traces.regions.ravel()
        seen = flat >= 0
        offsets = np.concatenate([[0], np.cumsum(seen, dtype=np.int64)])
        return cls(offsets, flat if seen.all() else flat[seen], traces.users, traces.clock)

    @property
    def n_users(self) -> int:
        """Number of users, m."""
        return len(self.users)

    @property
    def times(self) -> int:
        """Events per trace, l."""
        return self.clock.times

    @property
    def shape(self) -> tuple[int, int]:
        """(users, times)."""
        return self.n_users, self.times

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Regions per cell, shape (users, times)."""
        return np.diff(self.offsets).reshape(self.shape)

    @property
    def is_single(self) -> bool:
        """Whether every cell holds exactly one region (nothing generalised or deleted)."""
        cells = len(self.offsets) - 1
        parts = scratch.parts(cells, self.offsets.itemsize)
        return len(self.regions) == cells and all(
            bool((np.diff(self.offsets[a : b + 1]) == 1).all()) for a, b in parts
        )

    def cell(self, user: int, time: int) -> NDArray[np.int32]:
        """The regions of one cell."""
        if not (0 <= user < self.n_users and 0 <= time < self.times):
            raise InvalidTraces(f"cell ({user}, {time}) is not within {self.shape}")
        k = user * self.times + time
        return self.regions[self.offsets[k] : self.offsets[k + 1]]

    def as_traces(self) -> Traces:
        """As plain traces: single cells their region, deleted ones -1; no generalised cell."""
        sizes = np.diff(self.offsets)
        if sizes.size and int(sizes.max()) > 1:
            raise InvalidTraces("traces with generalised cells have no single region per event")
        regions = np.full(len(sizes), -1, dtype=np.int32)
        regions[sizes == 1] = self.regions
        return Traces(regions.reshape(self.shape), self.users, self.clock)

    def take_users(self, users: slice | ArrayLike) -> SetTraces:
        """Some users (positions, not ids), in the given order; a plain slice shares memory."""
        times = self.times
        if isinstance(users, slice):
            low, high, step = users.indices(self.n_users)
            if step == 1:
                high = max(low, high)
                offsets = self.offsets[low * times : high * times + 1]
                regions = self.regions[offsets[0] : offsets[-1]]
                return SetTraces(offsets - offsets[0], regions, self.users[low:high], self.clock)
            users = np.arange(low, high, step)
        chosen = np.asarray(users, dtype=np.int64)
        chosen = np.where(chosen < 0, chosen + self.n_users, chosen)
        if chosen.size and (int(chosen.min()) < 0 or int(chosen.max()) >= self.n_users):
            raise InvalidTraces(f"users must be within 0..{self.n_users - 1}")
        return self._gather(chosen, np.arange(times), self.clock)

    def take_days(self, low: int, high: int) -> SetTraces:
        """Days low..high-1."""
        clock, s = self.clock.take_days(low, high), self.clock.slots
        return self._take_columns(np.arange(low * s, high * s, dtype=np.int64), clock)

    def take_slots(self, slots: Sequence[int]) -> SetTraces:
        """The given slots of every day."""
        clock = self.clock.take_slots(slots)
        days = np.arange(self.clock.days, dtype=np.int64)[:, None]
        columns = (days * self.clock.slots + np.array(slots, dtype=np.int64)).ravel()
        return self._take_columns(columns, clock)

    def renamed(self, users: ArrayLike) -> SetTraces:
        """The same cells under other ids."""
        return SetTraces(self.offsets, self.regions, np.asarray(users), self.clock)

    def with_sorted_cells(self) -> SetTraces:
        """The same cells with the regions of each in ascending order; repeated ones stay.

        O(s^1.5) at most for a cell of s regions; cells that are all in order are returned as they
        are.

        >>> SetTraces.of_cells([[[3, 1, 3], [2]]]).with_sorted_cells().cell(0, 0).tolist()
        [1, 3, 3]
        """
        if self.is_single:
            return self
        regions = self.regions.copy()
        if not _sort_cells(self.offsets, regions):
            return self
        return SetTraces(self.offsets, regions, self.users, self.clock)

    def _take_columns(self, columns: NDArray[np.int64], clock: Clock) -> SetTraces:
        return self._gather(np.arange(self.n_users), columns, clock)

    def _gather(
        self, chosen: NDArray[np.int64], columns: NDArray[np.int64], clock: Clock
    ) -> SetTraces:
        """Some events of some users, in files where they are large."""
        offsets = scratch.empty(len(chosen) * len(columns) + 1, np.int64)
        _measure_cells(self.offsets, self.times, chosen, columns, offsets)
        regions = scratch.empty(int(offsets[-1]), np.int32)
        _copy_cells(self.offsets, self.regions, self.times, chosen, columns, offsets, regions)
        return SetTraces(offsets, regions, self.users[chosen], clock)

    def __len__(self) -> int:
        return self.n_users

    def __getitem__(self, users: Any) -> Any:
        """`cells[3, 7]`: the regions of a cell; `cells[3]`: a user's cells; else `take_users`."""
        if isinstance(users, tuple):
            return self.cell(*users)
        if isinstance(users, int | np.integer):
            user = int(users) + (self.n_users if users < 0 else 0)
            if not 0 <= user < self.n_users:
                raise IndexError(f"user {users} is not within 0..{self.n_users - 1}")
            return [self.cell(user, time) for time in range(self.times)]
        return self.take_users(users)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The regions, shape (users, times), -1 for deleted; not for generalised cells."""
        return np.array(self.as_traces().regions, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        """Sizes only: a release may be secret until its day."""
        sizes = np.diff(self.offsets)
        kinds = ((sizes == 0, "deleted"), (sizes > 1, "generalised"))
        said = [f"{int(found.sum())} {word}" for found, word in kinds if found.any()]
        return f"<SetTraces: {', '.join([sizes_said(self), *said])}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SetTraces):
            return NotImplemented
        return (
            self.clock == other.clock
            and np.array_equal(self.users, other.users)
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.regions, other.regions)
        )

    __hash__ = None  # type: ignore[assignment]  # equal by content of arrays


@kernel
def _measure_cells(
    offsets: NDArray[np.int64],
    times: int,
    chosen: NDArray[np.int64],
    columns: NDArray[np.int64],
    new_offsets: NDArray[np.int64],
) -> None:
    """Where each chosen cell begins when they follow one another."""
    at = k = 0
    new_offsets[0] = 0
    for user in chosen:
        for column in columns:
            cell = user * times + column
            at += offsets[cell + 1] - offsets[cell]
            k += 1
            new_offsets[k] = at


@kernel
def _copy_cells(
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    times: int,
    chosen: NDArray[np.int64],
    columns: NDArray[np.int64],
    new_offsets: NDArray[np.int64],
    new_regions: NDArray[np.int32],
) -> None:
    k = 0
    for user in chosen:
        for column in columns:
            source = offsets[user * times + column]
            for target in range(new_offsets[k], new_offsets[k + 1]):
                new_regions[target] = regions[source]
                source += 1
            k += 1


@kernel
def _sort_cells(offsets: NDArray[np.int64], regions: NDArray[np.int32]) -> bool:
    """Sort every cell in place, by Shell's method with Knuth's gaps; whether anything moved."""
    moved = False
    for k in range(len(offsets) - 1):
        low, high = offsets[k], offsets[k + 1]
        gap = 1
        while 3 * gap + 1 < high - low:
            gap = 3 * gap + 1
        while gap > 0:
            for at in range(low + gap, high):
                region, place = regions[at], at
                while place - gap >= low and regions[place - gap] > region:
                    regions[place] = regions[place - gap]
                    place -= gap
                if place != at:
                    regions[place] = region
                    moved = True
            gap //= 3
    return moved
