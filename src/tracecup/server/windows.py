"""When what is allowed: the one function that pages, API and workers ask.

A window is open from its phase's instant to the next phase's instant plus the grace period; an
extension moves the end for one team; where the rules take late releases it stays open for them;
what the judge has closed stays closed whatever a clock says, and nothing is open for a team that
takes part no more.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from django.db.models import Max
from django.utils.translation import gettext as _

from tracecup.contest.rules import PHASES, PhaseName
from tracecup.server.errors import Refused
from tracecup.server.models import Contest, Extension, Round, Team

Action = Literal["data", "release", "attack"]
State = Literal["unscheduled", "before", "open", "closed", "paused"]
ENDS: dict[Action, tuple[PhaseName, PhaseName | None]] = {
    "data": ("announce", None),
    "release": ("anonymize", "judge"),
    "attack": ("attack", "results"),
}


@dataclass(frozen=True)
class Window:
    """When an action is allowed, and whether it is now. `closes` has extension and grace in it.

    `late_until`: until then a first release is taken out of competition; `late`: it is so now.
    """

    action: Action
    state: State
    opens: datetime | None
    closes: datetime | None
    grace: timedelta = timedelta(0)
    extended: bool = False
    late_until: datetime | None = None
    late: bool = False

    @property
    def is_open(self) -> bool:
        """Whether the action is allowed."""
        return self.state == "open"


def window(round: Round, action: Action, at: datetime, team: Team | None = None) -> Window:
    """The window of an action in a round at an instant of the contest's clock.

    `team` matters where it has an extension.
    """
    contest, phases = round.contest, round.rules.phases
    first, last = ENDS[action]
    opens: datetime | None = getattr(phases, first)
    if opens is None:
        return Window(action, "unscheduled", None, None)
    closes: datetime | None = getattr(phases, last) if last else None
    grace = timedelta(seconds=contest.rules.limits.grace_seconds)
    extended = False
    if closes is not None:
        if team is not None and last is not None:
            given = extended_until(round, action, team)
            if given is not None and given > closes:
                closes, extended = given, True
        closes += grace
    late_until = _late_until(contest, action, closes)
    end = late_until or closes
    state: State = "open"
    if at < opens:
        state = "before"
    elif (end is not None and at >= end) or _ended(round, action) or _left(team, action):
        state = "closed"
    elif contest.paused_at is not None and action != "data":
        state = "paused"
    elif action == "attack" and round.published_at is None:
        state = "before"
    late = state == "open" and closes is not None and at >= closes
    return Window(action, state, opens, closes, grace, extended, late_until, late)


def was_late(round: Round, team: Team, at: datetime) -> bool:
    """Whether a release that arrived at an instant came after its team's deadline."""
    closes = window(round, "release", at, team).closes
    return closes is not None and at >= closes


def require_open(round: Round, action: Action, at: datetime, team: Team | None = None) -> Window:
    """The window, or `Refused` (closed, paused) with the exact instants."""
    found = window(round, action, at, team)
    if found.is_open:
        return found
    if found.state == "paused":
        raise Refused("paused", _("The contest is paused; nothing is accepted until it resumes."))
    if found.state == "unscheduled":
        raise Refused("closed", _("The organisers have not set the phases of this round yet."))
    if found.state == "before":
        raise Refused("closed", _("This phase has not begun yet."), opens=_iso(found.opens))
    raise Refused(
        "closed",
        _("This phase is over: a file counts if it was fully received before the end."),
        closed=_iso(found.closes),
        arrived=_iso(at),
    )


def phase_now(round: Round, at: datetime) -> PhaseName | None:
    """The phase that an instant falls into; None before the announcement or without instants.

    The judge's own steps go before the clock: attacks begin only once releases are published.
    """
    phases = round.rules.phases
    if not phases.scheduled:
        return None
    begun = [name for name in PHASES if getattr(phases, name) <= at]
    return begun[-1] if begun else None


def last_end(round: Round, action: Action) -> datetime | None:
    """When an action ends for every team: the latest extension, grace and late files included.

    The judge acts then and not before.
    """
    last = ENDS[action][1]
    closes: datetime | None = getattr(round.rules.phases, last) if last else None
    if closes is None:
        return None
    latest = Extension.objects.filter(round=round, phase=_phase(action)).aggregate(
        latest=Max("until")
    )["latest"]
    grace = timedelta(seconds=round.contest.rules.limits.grace_seconds)
    end = max(closes, latest or closes) + grace
    return _late_until(round.contest, action, end) or end


def extended_until(round: Round, action: Action, team: Team) -> datetime | None:
    """The latest extension of a team for an action."""
    found: datetime | None = Extension.objects.filter(
        round=round, team=team, phase=_phase(action)
    ).aggregate(latest=Max("until"))["latest"]
    return found


def current_round(contest: Contest, at: datetime) -> Round | None:
    """The round that people mean now: the last one that has begun, else the first."""
    rounds = list(contest.rounds.all())
    begun = [one for one in rounds if one.closed_at or phase_now(one, at) is not None]
    return begun[-1] if begun else (rounds[0] if rounds else None)


def _late_until(contest: Contest, action: Action, closes: datetime | None) -> datetime | None:
    """Until when late releases are taken; None where they are refused."""
    minutes = contest.rules.limits.late_minutes
    if action != "release" or closes is None or not minutes:
        return None
    return closes + timedelta(minutes=minutes)


def _phase(action: Action) -> str:
    return "anonymize" if action == "release" else action


def _ended(round: Round, action: Action) -> bool:
    """Whether the judge has gone on already."""
    return (action == "release" and round.judging_at is not None) or (
        action == "attack" and round.closed_at is not None
    )


def _left(team: Team | None, action: Action) -> bool:
    """Whether a team takes part no more; it keeps its data."""
    return team is not None and team.status != "active" and action != "data"


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
