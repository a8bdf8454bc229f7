"""Traces with one region per event: training, reference, original and inferred traces.

A small frozen class around one dense array; tables are an export format.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tracecup import scratch
from tracecup.city.clock import Clock, ContestClock
from tracecup.errors import InvalidTraces

UNOBSERVED = -1


class Sized(Protocol):
    """Traces of any kind: users and a clock."""

    @property
    def n_users(self) -> int: ...

    @property
    def clock(self) -> Clock: ...


@dataclass(frozen=True, eq=False, repr=False)
class Traces:
    """Where everybody was: `regions[i, j]` is the region of user i at event j.

    `regions` is a C-contiguous, read-only int32 array of shape (users, times) with 0-based
    region indices; -1 means "not observed". `users` holds the ids people know the users by
    (1..m unless told otherwise).

    >>> traces = Traces.of([[0, 2, 1, 0], [3, 3, 4, 4]])
    >>> traces.n_users, traces.times
    (2, 4)
    >>> traces.take_users([1]).regions.tolist()
    [[3, 3, 4, 4]]
    """

    regions: NDArray[np.int32]
    users: NDArray[np.int64]
    clock: Clock

    def __post_init__(self) -> None:
        check_clock(self.clock)
        regions = frozen_int32(self.regions, "regions", 2)
        users = frozen_ids(self.users, regions.shape[0])
        if regions.shape[1] != self.clock.times:
            raise InvalidTraces(
                f"traces have {regions.shape[1]} events, their clock has {self.clock.times}"
            )
        if regions.size and int(regions.min()) < UNOBSERVED:
            raise InvalidTraces(f"a region index must be >= -1, got {int(regions.min())}")
        object.__setattr__(self, "regions", regions)
        object.__setattr__(self, "users", users)

    @classmethod
    def of(
        cls, regions: ArrayLike, clock: Clock | None = None, users: ArrayLike | None = None
    ) -> Traces:
        """From anything like a (users, times) array; one long day and ids 1..m by default."""
        array = np.asarray(regions)
        if array.ndim != 2:
            raise InvalidTraces(f"traces need an array of shape (users, times), got {array.shape}")
        ids = np.arange(1, array.shape[0] + 1) if users is None else np.asarray(users)
        return cls(array, ids, clock or Clock.unknown(array.shape[1]))

    @property
    def n_users(self) -> int:
        """Number of users, m."""
        return int(self.regions.shape[0])

    @property
    def times(self) -> int:
        """Events per trace, l."""
        return int(self.regions.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """(users, times)."""
        return self.n_users, self.times

    @property
    def has_gaps(self) -> bool:
        """Whether any event is not observed."""
        return bool(self.regions.size) and int(self.regions.min()) == UNOBSERVED

    def take_users(self, users: slice | ArrayLike) -> Traces:
        """Some users (positions, not ids); a slice shares memory."""
        chosen = users if isinstance(users, slice) else np.asarray(users, dtype=np.intp)
        return Traces(self.regions[chosen], self.users[chosen], self.clock)

    def take_days(self, low: int, high: int) -> Traces:
        """Days low..high-1."""
        clock, s = self.clock.take_days(low, high), self.clock.slots
        return Traces(_copied(self.regions, np.arange(low * s, high * s)), self.users, clock)

    def take_slots(self, slots: Sequence[int]) -> Traces:
        """The given slots of every day."""
        clock = self.clock.take_slots(slots)
        columns = np.add.outer(np.arange(self.clock.days) * self.clock.slots, list(slots)).ravel()
        return Traces(_copied(self.regions, columns.astype(np.int64)), self.users, clock)

    def join(self, other: Traces) -> Traces:
        """The users of both, on the same clock."""
        if self.clock != other.clock:
            raise InvalidTraces("only traces on the same clock can be joined")
        return Traces(
            np.concatenate([self.regions, other.regions]),
            np.concatenate([self.users, other.users]),
            self.clock,
        )

    def __len__(self) -> int:
        return self.n_users

    def __getitem__(self, users: Any) -> Any:
        """`traces[3]`: the regions of one user; `traces[3, 7]`: of one event; else `take_users`."""
        if isinstance(users, int | np.integer | tuple):
            return self.regions[users]
        return self.take_users(users)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The regions, shape (users, times); read-only unless a copy is asked for."""
        return np.array(self.regions, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        """Sizes only: traces may be secret."""
        gaps = int((self.regions < 0).sum()) if self.has_gaps else 0
        return f"<Traces: {sizes_said(self)}{f', {gaps} not observed' if gaps else ''}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Traces):
            return NotImplemented
        return (
            self.clock == other.clock
            and np.array_equal(self.users, other.users)
            and np.array_equal(self.regions, other.regions)
        )

    __hash__ = None  # type: ignore[assignment]  # equal by content of an array


def sizes_said(traces: Sized) -> str:
    """How many users, events and days, in words."""
    clock = traces.clock
    return (
        f"{traces.n_users} users, {clock.times} events ({clock.days} days of {clock.slots} slots)"
    )


def frozen_int32(values: ArrayLike, name: str, ndim: int) -> NDArray[np.int32]:
    """A read-only, C-contiguous int32 view or copy; the caller's array stays as it is."""
    given = np.asarray(values)
    if given.ndim != ndim:
        raise InvalidTraces(f"{name} must have {ndim} dimensions, got shape {given.shape}")
    if given.size and given.dtype.kind not in "iu":
        raise InvalidTraces(f"{name} must be whole numbers, got {given.dtype}")
    if given.dtype.itemsize > 4 and given.size and int(np.abs(given).max()) > 2**31 - 1:
        raise InvalidTraces(f"{name} must fit in 32 bits")
    return _read_only(np.ascontiguousarray(given, dtype=np.int32))


def check_clock(clock: object) -> None:
    """Traces lie on one part of a contest's clock."""
    if not isinstance(clock, Clock):
        parts = isinstance(clock, ContestClock)
        hint = "; take its part .reference or .original" if parts else ""
        raise InvalidTraces(f"traces need a Clock, got {type(clock).__name__}{hint}")


def frozen_ids(values: ArrayLike, n: int) -> NDArray[np.int64]:
    """Read-only ids, one for each of `n` users."""
    given = np.asarray(values)
    if given.shape != (n,):
        raise InvalidTraces(f"{n} users need {n} ids, got shape {given.shape}")
    ids: NDArray[np.int64] = np.ascontiguousarray(given, dtype=np.int64).view()
    ids.flags.writeable = False
    return ids


def _copied(regions: NDArray[np.int32], columns: NDArray[np.int64]) -> NDArray[np.int32]:
    """Some columns, in a file where they are large."""
    copy = scratch.empty((len(regions), len(columns)), np.int32)
    for low, high in scratch.parts(len(regions), 4 * regions.shape[1]):
        copy[low:high] = regions[low:high, columns]
    return copy


def _read_only(array: NDArray[np.int32]) -> NDArray[np.int32]:
    view = array.view()
    view.flags.writeable = False
    return view
