"""The server's clock: injectable, so that tests can set and step it; demo contests move theirs.

Everything that asks for the time asks here. A computer's clock that jumps is not followed before
somebody has said that it is right.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tracecup.server.models import Contest

CLOCK_VARIABLE = "TRACECUP_CLOCK"
TOLERANCE = timedelta(seconds=30)
"""Clocks that are set by a network move less in one step; a deadline is never moved by more."""


class Clock(Protocol):
    """Something that knows the time."""

    def now(self) -> datetime:
        """The instant, in UTC."""


def _wall() -> datetime:
    return datetime.now(UTC)


def _steady() -> float:
    """Seconds that nobody can set; sleep of the computer counts where the system knows it."""
    which = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if which is None else time.clock_gettime(which)


class SystemClock:
    """The computer's clock, held against one that nobody can set.

    Small corrections are followed. When it jumps by more than `TOLERANCE`, time goes on here as if
    it had not, until it comes back or is accepted.
    """

    def __init__(
        self, wall: Callable[[], datetime] = _wall, steady: Callable[[], float] = _steady
    ) -> None:
        self._wall, self._steady = wall, steady
        self._trusted = (wall(), steady())
        self._lock = threading.Lock()

    def now(self) -> datetime:
        """The instant, in UTC."""
        return self._read()[0]

    def jump(self) -> timedelta:
        """By how much the computer's clock is ahead of the time that is kept here; usually 0."""
        return self._read()[1]

    def steady(self) -> float:
        """The reading of the clock that nobody can set."""
        return self._steady()

    def trusted_until(self) -> float:
        """The last such reading at which both clocks agreed."""
        return self._trusted[1]

    def accept(self) -> None:
        """The computer's clock is right as it is."""
        with self._lock:
            self._trusted = (self._wall(), self._steady())

    def _read(self) -> tuple[datetime, timedelta]:
        with self._lock:
            wall, steady = self._wall(), self._steady()
            kept = self._trusted[0] + timedelta(seconds=steady - self._trusted[1])
            if abs(wall - kept) > TOLERANCE:
                return kept, wall - kept
            self._trusted = (wall, steady)
            return wall, timedelta(0)


class FileClock:
    """The computer's clock plus the seconds that a file holds: one step moves all processes."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def now(self) -> datetime:
        """The instant, in UTC."""
        try:
            offset = float(self._path.read_text() or 0)
        except (FileNotFoundError, ValueError):
            offset = 0.0
        return datetime.now(UTC) + timedelta(seconds=offset)


def _of_environment() -> Clock:
    said = os.environ.get(CLOCK_VARIABLE, "")
    return (
        FileClock(Path(said.removeprefix("file:"))) if said.startswith("file:") else SystemClock()
    )


_clock: Clock = _of_environment()


def use(clock: Clock) -> Clock:
    """Take another clock from now on; returns the one before."""
    global _clock
    before, _clock = _clock, clock
    return before


def now() -> datetime:
    """The instant, for jobs, sessions and the log."""
    return _clock.now()


def watched() -> SystemClock | None:
    """The computer's clock, where it is the one in use; a clock of tests is moved on purpose."""
    return _clock if isinstance(_clock, SystemClock) else None


def contest_now(contest: Contest) -> datetime:
    """The instant on a contest's own clock: only a demo's differs."""
    return now() + timedelta(seconds=contest.clock_offset)


def arrival(contest: Contest, stamp: float | None) -> datetime:
    """When a body had fully arrived: `stamp` is `time.monotonic()` of that moment.

    Without a stamp (another web server in front) it is now, the later and therefore safe one.
    """
    waited = 0.0 if stamp is None else max(0.0, time.monotonic() - stamp)
    return contest_now(contest) - timedelta(seconds=waited)
