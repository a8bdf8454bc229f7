"""What organisers type: a reason for what is dangerous, and instants that a contest can have.

Refused in words before anything happens.
"""

from __future__ import annotations

from datetime import datetime

from django.utils.translation import gettext as _

from tracecup.contest.rules.values import YEARS
from tracecup.errors import Problem
from tracecup.server.errors import Refused

MAX_REASON = 2000


def require_reason(why: str) -> str:
    """The reason, or `Refused`: what is dangerous is logged with its reason."""
    said = why.strip()
    if not said:
        problem = Problem(0, "why", "", _("a few words")).as_dict()
        raise Refused("invalid", _("Please give a reason; it is kept in the log."), [problem])
    if len(said) > MAX_REASON:
        told = _("A reason has at most %(most)d characters.") % {"most": MAX_REASON}
        raise Refused("invalid", told)
    return said


def check_instant(at: datetime) -> None:
    """Only instants that a rules file may hold, with room for time zones."""
    if not YEARS[0] < at.year < YEARS[1]:
        raise Refused("invalid", _("That is too far away."))
