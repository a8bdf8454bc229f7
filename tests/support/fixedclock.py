"""A clock that stands still until it is set."""

from __future__ import annotations

from datetime import datetime


class FixedClock:
    """What `tracecup.server.clock.use` takes in tests."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self) -> datetime:
        """The instant it was set to."""
        return self.at
