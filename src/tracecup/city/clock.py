"""The clock: days times slots, when each slot begins, and which part of a contest it is.

Days are sampled days, not calendar days; no week structure is assumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tracecup.errors import InvalidParameter, InvalidTraces

MINUTES_A_DAY = 24 * 60


@dataclass(frozen=True)
class Clock:
    """The times of a trace: `days` days with the same slots each.

    `minutes` holds the minute of the day at which each slot begins; `first_time` is the
    0-based number of the first event (the original part of a contest starts where the
    reference part ended). Event j lies on day `j // slots`, in slot `j % slots`.

    >>> clock = Clock.regular(days=20, slots=20)
    >>> clock.times, clock.label(0), clock.label(21)
    (400, 'day 1, 08:00', 'day 2, 08:30')
    """

    days: int
    minutes: tuple[int, ...]
    first_time: int = 0

    def __post_init__(self) -> None:
        if self.days < 1 or not self.minutes:
            raise InvalidParameter(
                f"Clock needs a day and a slot at least, got {self.days} and {len(self.minutes)}"
            )
        if self.first_time < 0:
            raise InvalidParameter(f"Clock.first_time must be >= 0, got {self.first_time}")
        if any(b <= a for a, b in zip(self.minutes, self.minutes[1:], strict=False)):
            raise InvalidParameter("Clock.minutes must increase within a day")
        if self.minutes[0] < 0:
            raise InvalidParameter(f"Clock.minutes must be >= 0, got {self.minutes[0]}")

    @classmethod
    def regular(
        cls,
        days: int,
        slots: int = 20,
        start: int = 8 * 60,
        interval: int = 30,
        first_time: int = 0,
    ) -> Clock:
        """Slots of `interval` minutes from minute `start`; the contest's by default."""
        if slots < 1 or interval < 1:
            raise InvalidParameter(f"slots and interval must be >= 1, got {slots} and {interval}")
        return cls(days, tuple(start + interval * k for k in range(slots)), first_time)

    @classmethod
    def unknown(cls, times: int, first_time: int = 0) -> Clock:
        """For files that carry no clock: one long day of `times` slots, a minute each."""
        return cls.regular(1, times, 0, 1, first_time)

    @property
    def slots(self) -> int:
        """Slots in a day."""
        return len(self.minutes)

    @property
    def times(self) -> int:
        """Events in a trace, days times slots."""
        return self.days * self.slots

    @cached_property
    def slot_of(self) -> NDArray[np.int64]:
        """Slot of every event, shape (times,)."""
        return np.tile(np.arange(self.slots), self.days)

    @cached_property
    def day_of(self) -> NDArray[np.int64]:
        """Day of every event, from 0, shape (times,)."""
        return np.repeat(np.arange(self.days), self.slots)

    def label(self, time: int) -> str:
        """How people write event `time` (0-based within this clock)."""
        day, slot = divmod(time, self.slots)
        minute = self.minutes[slot]
        day += self.first_time // self.slots
        return f"day {day + 1}, {minute // 60:02d}:{minute % 60:02d}"

    def take_days(self, low: int, high: int) -> Clock:
        """The clock of days low..high-1."""
        if not 0 <= low < high <= self.days:
            raise InvalidTraces(f"days {low}..{high - 1} are not within 0..{self.days - 1}")
        return Clock(high - low, self.minutes, self.first_time + low * self.slots)

    def take_slots(self, slots: Sequence[int]) -> Clock:
        """The clock of the given slots of every day; its events are numbered anew."""
        if not slots or any(not 0 <= s < self.slots for s in slots):
            raise InvalidTraces(f"slots {list(slots)} are not within 0..{self.slots - 1}")
        first_day = self.first_time // self.slots
        return Clock(self.days, tuple(self.minutes[s] for s in slots), first_day * len(slots))


@dataclass(frozen=True)
class ContestClock:
    """The two parts of a contest: reference days, then original days.

    >>> contest = ContestClock.regular(days=20)
    >>> contest.original.first_time, contest.reference.times
    (400, 400)
    """

    reference: Clock
    original: Clock

    def __post_init__(self) -> None:
        if self.reference.minutes != self.original.minutes:
            raise InvalidTraces("reference and original part must have the same slots a day")
        if self.original.first_time != self.reference.first_time + self.reference.times:
            raise InvalidTraces("the original part must begin where the reference part ends")

    @classmethod
    def regular(
        cls,
        days: int,
        slots: int = 20,
        start: int = 8 * 60,
        interval: int = 30,
        reference_days: int | None = None,
    ) -> ContestClock:
        """`reference_days` (default `days`) reference days, then `days` original days."""
        reference = Clock.regular(reference_days or days, slots, start, interval)
        original = Clock.regular(days, slots, start, interval, first_time=reference.times)
        return cls(reference, original)
