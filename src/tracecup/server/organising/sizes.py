"""What a new contest begins with: a class of one lesson, a workshop of a week, the cup of 2019.

A size is only a beginning: every value of it can be changed before and after the contest exists.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.utils.translation import gettext_lazy as _

from tracecup.contest.rules import ClockRules, Rules

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@dataclass(frozen=True)
class Size:
    """Rules to begin with, and how long the parts of a round last (`LENGTHS`, then the gap)."""

    title: Any
    about: Any
    rules: Rules
    lengths: tuple[timedelta, timedelta, timedelta, timedelta]
    between: timedelta


def _sizes() -> dict[str, Size]:
    return {
        "class": Size(
            _("A class"),
            _("One lesson of two hours: few users, everything is computed within seconds."),
            Rules.preset("class"),
            (10 * MINUTE, 45 * MINUTE, 5 * MINUTE, 40 * MINUTE),
            10 * MINUTE,
        ),
        "workshop": Size(
            _("A workshop"),
            _("A few days, strong sample attacks, small enough for notebooks."),
            replace(Rules.preset("strong"), users=500, clock=ClockRules(days=10)),
            (DAY, 2 * DAY, 6 * HOUR, 2 * DAY),
            DAY,
        ),
        "2019": Size(
            _("As in 2019"),
            _("2000 users, two rounds, both challenges, the rules of that contest; weeks."),
            Rules.preset("organisers2019"),
            (14 * DAY, 14 * DAY, DAY, 14 * DAY),
            7 * DAY,
        ),
    }


SIZES = _sizes()
