"""The server's clock: injectable, so that tests can set and step it; demo contests move theirs.

Everything that asks for the time asks here.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tracecup.server.models import Contest

CLOCK_VARIABLE = "TRACECUP_CLOCK"


class Clock(Protocol):
    """Something that knows the time."""

    def now(self) -> datetime:
        """The instant, in UTC."""


class SystemClock:
    """The computer's clock."""

    def now(self) -> datetime:
        """The instant, in UTC."""
        return datetime.now(UTC)


class FileClock:
    """The computer's clock plus the seconds that stand in a file: one step moves all processes."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def now(self) -> datetime:
        """The instant, in UTC."""
        try:
            offset = float(self._path.read_text() or 0)
        except (FileNotFoundError, ValueError):
            offset = 0.0
        return datetime.now(UTC) + timedelta(seconds=offset)


class FixedClock:
    """A clock that stands still until it is set."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self) -> datetime:
        """The instant it was set to."""
        return self.at


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


def contest_now(contest: Contest) -> datetime:
    """The instant on a contest's own clock: only a demo's differs."""
    return now() + timedelta(seconds=contest.clock_offset)


def arrival(contest: Contest, stamp: float | None) -> datetime:
    """When a body had fully arrived: `stamp` is `time.monotonic()` of that moment.

    Without a stamp (another web server in front) it is now, the later and therefore safe one.
    """
    waited = 0.0 if stamp is None else max(0.0, time.monotonic() - stamp)
    return contest_now(contest) - timedelta(seconds=waited)
