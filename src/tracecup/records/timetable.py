"""How a day is cut: instants of so many minutes, gathered into slots.

One timetable serves loaders, synthesizers and evaluations; the paper's three have names.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tracecup.city import Clock
from tracecup.errors import InvalidParameter
from tracecup.kernels import kernel

MINUTES_A_DAY = 24 * 60
SECONDS_A_DAY = 86_400


@dataclass(frozen=True)
class Timetable:
    """`instants` of `interval` minutes from minute `start` of the day, in `slots` equal slots.

    A slot is a time slot of the synthesizer, an instant its finer step (T and I of the paper).
    A day may run past midnight: its last hours then belong to the day on which it began.

    >>> Timetable(360, 5, 144, 12).instants_per_slot
    12
    """

    start: int
    interval: int
    instants: int
    slots: int

    def __post_init__(self) -> None:
        if min(self.interval, self.instants, self.slots) < 1 or self.instants % self.slots:
            raise InvalidParameter(
                "a timetable needs an interval, instants and slots >= 1 with instants a multiple "
                f"of slots, got {self.interval}, {self.instants}, {self.slots}"
            )
        if not 0 <= self.start < MINUTES_A_DAY:
            raise InvalidParameter(
                f"a timetable starts at a minute 0..{MINUTES_A_DAY - 1}, got {self.start}"
            )

    def __str__(self) -> str:
        end = self.start + self.interval * self.instants - 1
        return f"{_hour(self.start)} to {_hour(end)}"

    @classmethod
    def of_hours(cls, start: int, end: int, interval: int, slot_minutes: int) -> Timetable:
        """From minute `start` to minute `end`; an end before the start is that of the next day.

        >>> Timetable.of_hours(20 * 60, 6 * 60, 30, 60)
        Timetable(start=1200, interval=30, instants=20, slots=10)
        """
        length = end - start if end > start else end - start + MINUTES_A_DAY
        for minutes, what in ((interval, "an interval"), (slot_minutes, "a slot")):
            if minutes < 1 or length % minutes:
                raise InvalidParameter(
                    f"the {length} minutes from {_hour(start)} to {_hour(end)} must be a multiple "
                    f"of {what} of {minutes} minutes"
                )
        return cls(start, interval, length // interval, length // slot_minutes)

    @property
    def instants_per_slot(self) -> int:
        """Instants in a slot, I."""
        return self.instants // self.slots

    @property
    def slot_minutes(self) -> int:
        return self.interval * self.instants_per_slot

    def divided(self, instants: int) -> Timetable:
        """The same slots with `instants` instants in each, of whole minutes.

        >>> CONTEST.divided(1)
        Timetable(start=360, interval=60, instants=12, slots=12)
        """
        if instants < 1 or self.slot_minutes % instants:
            raise InvalidParameter(
                f"a slot of {self.slot_minutes} minutes cannot be cut into {instants} instants "
                "of whole minutes"
            )
        return Timetable(
            self.start, self.slot_minutes // instants, self.slots * instants, self.slots
        )

    def instant_of(self, minute: ArrayLike, *, exact: bool = False) -> NDArray[np.int32]:
        """Instant that contains each minute of the day, -1 outside; `exact`: begins with it."""
        self.check_within_a_day()
        whole = np.floor(np.asarray(minute, dtype=np.float64)).astype(np.int64)
        since = (whole - self.start) % MINUTES_A_DAY
        inside = (whole >= 0) & (whole < MINUTES_A_DAY) & (since < self.interval * self.instants)
        if exact:
            inside &= since % self.interval == 0
        return np.where(inside, since // self.interval, -1).astype(np.int32)

    def place(
        self, local: NDArray[np.float64], *, exact: bool = False
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """(day since 1970, instant) of times by the local clock in seconds; instant -1 outside.

        Hours past midnight count to the day on which the timetable began.
        """
        self.check_within_a_day()
        day = np.empty(len(local), dtype=np.int64)
        instant = np.empty(len(local), dtype=np.int32)
        _place(local, self.start, self.interval, self.instants, exact, day, instant)
        return day, instant

    def clock(self, days: int) -> Clock:
        """The clock of traces with one event per instant."""
        return Clock.regular(days, self.instants, self.start, self.interval)

    def check_within_a_day(self) -> None:
        """Raise `InvalidParameter` for a timetable of more than 24 hours."""
        if self.interval * self.instants > MINUTES_A_DAY:
            raise InvalidParameter(
                f"a timetable covers at most {MINUTES_A_DAY} minutes, got "
                f"{self.interval * self.instants}"
            )


@kernel
def _place(
    local: NDArray[np.float64],
    start: int,
    interval: int,
    instants: int,
    exact: bool,
    day: NDArray[np.int64],
    instant: NDArray[np.int32],
) -> None:
    for k in range(len(local)):
        midnight = math.floor(local[k] / SECONDS_A_DAY)
        minute = math.floor((local[k] - SECONDS_A_DAY * midnight) / 60.0)
        since = minute - start + (MINUTES_A_DAY if minute < start else 0)
        inside = 0 <= minute < MINUTES_A_DAY and since < interval * instants
        if exact and inside and since % interval:
            inside = False
        day[k] = midnight - (minute < start)
        instant[k] = np.int32(since) // np.int32(interval) if inside else -1


def _hour(minute: int) -> str:
    return f"{minute // 60}:{minute % 60:02d}"


# The three settings of the paper's appendices (T and I there).
CONTEST = Timetable(start=6 * 60, interval=5, instants=144, slots=12)
PEOPLE_FLOW = Timetable(start=9 * 60, interval=20, instants=30, slots=30)
CHECK_INS = Timetable(start=0, interval=60, instants=24, slots=12)
TIMETABLES = {"contest": CONTEST, "people-flow": PEOPLE_FLOW, "check-ins": CHECK_INS}
