"""What a change of times would end at once and for good; nothing ends before somebody typed it.

A phase ends for teams at its instant plus the grace period; what the judge does then stays done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from tracecup.contest.rules import PHASES, Rules
from tracecup.server.errors import Refused
from tracecup.server.models import Contest, Extension, Round

What = Literal["judge", "publish", "close"]
DONE: dict[What, str] = {
    "judge": "judging_at",
    "publish": "published_at",
    "close": "closed_at",
}


@dataclass(frozen=True)
class Ending:
    """What would happen now in a round and cannot be undone."""

    round: str
    what: What
    sentence: str


def endings(contest: Contest, new: Rules, at: datetime) -> list[Ending]:
    """What other rules would end at an instant that the rules of today do not."""
    return list(_between(contest, contest.rules, None, new, at))


def endings_since(contest: Contest, then: datetime, at: datetime) -> list[Ending]:
    """What ends when a contest that stood still goes on and its deadlines stay where they are."""
    return list(_between(contest, contest.rules, then, contest.rules, at))


def ending_of_team(extension: Extension, at: datetime) -> list[Ending]:
    """What ends for one team without its extension."""
    round, team = extension.round, extension.team
    what: What = "judge" if extension.phase == "anonymize" else "close"
    end = _ends(round, round.contest.rules)[what]
    others = Extension.objects.filter(team=team, round=round, phase=extension.phase, until__gt=at)
    open_now = extension.until is not None and extension.until > at
    if end is None or end > at or not open_now or others.exclude(pk=extension.pk).exists():
        return []
    said = {
        "judge": _("This closes anonymization now for team %(number)d %(name)s, for good."),
        "close": _("This closes attacks now for team %(number)d %(name)s, for good."),
    }[what]
    return [Ending(round.name, what, said % {"number": team.number, "name": team.name})]


def require_confirmed(contest: Contest, found: Sequence[Ending], typed: str) -> None:
    """`Refused` where something would end and nobody has typed the contest's address."""
    if not found or typed.strip() == contest.slug:
        return
    raise Refused(
        "conflict",
        " ".join(one.sentence for one in found),
        confirm=contest.slug,
        endings=[{"round": one.round, "act": one.what} for one in found],
    )


def past_rounds(rules: Rules, at: datetime) -> list[str]:
    """The rounds of which every instant lies in the past: they would be over before they begin."""
    found = []
    for one in rules.rounds:
        instants = [getattr(one.phases, phase) for phase in PHASES]
        if one.phases.scheduled and all(begins <= at for begins in instants):
            found.append(one.name)
    return found


def require_ahead(rules: Rules, at: datetime) -> None:
    """`Refused` for the rules of a new contest in which a phase that teams need is over."""
    for one in rules.rounds:
        if one.phases.judge is not None and one.phases.judge <= at:
            said = _(
                "Anonymization of round %(name)s would be over before it begins: its end is in "
                "the past. Set later times, or none yet."
            )
            raise Refused("invalid", said % {"name": one.name})


def _between(
    contest: Contest, old: Rules, then: datetime | None, new: Rules, at: datetime
) -> Iterator[Ending]:
    """What lies ahead with old rules (at `then`, or now) and behind with new ones."""
    names = {one.name for one in new.rounds}
    for round in contest.rounds.all():
        if round.name not in names:
            continue
        before, after = _ends(round, old), _ends(round, new)
        for what, column in DONE.items():
            end, was = after[what], before[what]
            if end is None or end > at or getattr(round, column) is not None:
                continue
            if was is None or was > (then or at):
                yield Ending(round.name, what, _sentence(round, what, at))


def _ends(round: Round, rules: Rules) -> dict[What, datetime | None]:
    """When each act of the judge ends something for teams without an extension."""
    names = [one.name for one in rules.rounds]
    if round.name not in names or not rules.round(round.name).phases.scheduled:
        return dict.fromkeys(DONE)
    phases = rules.round(round.name).phases
    grace = timedelta(seconds=rules.limits.grace_seconds)
    assert phases.judge is not None
    assert phases.results is not None
    return {
        "judge": phases.judge + grace + timedelta(minutes=rules.limits.late_minutes),
        "publish": phases.attack if round.auto_publish else None,
        "close": phases.results + grace,
    }


def _sentence(round: Round, what: What, at: datetime) -> str:
    if what == "publish":
        said = _("This publishes the releases of round %(round)s now, for good.")
        return said % {"round": round.name}
    phase = "anonymize" if what == "judge" else "attack"
    teams = round.contest.teams.filter(deleted_at=None, status="active")
    later = Extension.objects.filter(round=round, phase=phase, until__gt=at)
    count = teams.exclude(pk__in=later.values("team")).count()
    if what == "judge":
        said = ngettext(
            "This closes anonymization of round %(round)s now, for %(count)d team, for good.",
            "This closes anonymization of round %(round)s now, for %(count)d teams, for good.",
            count,
        )
    else:
        said = ngettext(
            "This closes attacks of round %(round)s now, for %(count)d team, for good.",
            "This closes attacks of round %(round)s now, for %(count)d teams, for good.",
            count,
        )
    return said % {"round": round.name, "count": count}
