"""What machines know of the time: their clocks as last seen, and jumps that nobody has explained.

One row for each machine on which workers of this server run.
"""

from __future__ import annotations

from django.db import models


class ClockWatch(models.Model):
    """The clock of one machine when it was last trusted, beside one that nobody can set.

    `steady` counts seconds since `boot`. `doubt` is "" or why the clock is not trusted: `jump`
    (by `seconds`, while the server ran), `restart` (the same, while it did not run), `back` (before
    the last entry of the log), `away` (the machine was off for long and acts are due). An organiser
    who says that the clock is right sets `accepted`; it stays, so that every process can follow.
    """

    machine = models.CharField(max_length=80, unique=True)
    boot = models.CharField(max_length=80, default="", blank=True)
    seen_at = models.DateTimeField()
    steady = models.FloatField()
    doubt = models.CharField(max_length=8, default="", blank=True)
    seconds = models.FloatField(default=0.0)
    noticed_at = models.DateTimeField(null=True)
    noticed_steady = models.FloatField(default=0.0)
    accepted = models.BooleanField(default=False)
