"""The schedule: what is due on the clock goes into the queue.

Asked by every worker every second or so; asking twice gives one job.
"""

from __future__ import annotations

from datetime import datetime

from tracecup.server import clock
from tracecup.server.jobs import kinds
from tracecup.server.models import Job


def due(now: datetime | None = None) -> list[Job]:
    """Put everything that is due into the queue: acts of the judge and of bots, chores of a day.

    The new jobs are returned.
    """
    at = now or clock.now()
    return [job for ask in kinds.asked() for job in ask(at)]
