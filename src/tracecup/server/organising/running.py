"""A contest's clock in the hands of its organisers: pause, extension, demo clock, frozen boards.

A pause moves every instant that lies ahead by its own length, so that nobody loses time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from tracecup.contest.rules import PHASES, PhaseName
from tracecup.errors import InvalidFile
from tracecup.server import auditlog as log
from tracecup.server import clock, clockwatch, windows
from tracecup.server.access import Actor
from tracecup.server.errors import Refused
from tracecup.server.locks import (
    locked,
)
from tracecup.server.models import Contest, Extension, Round, StoredFile, Team
from tracecup.server.organising.endings import (
    ending_of_team,
    endings_since,
    require_confirmed,
)
from tracecup.server.organising.rulechange import (
    ACTS,
    RulesPlan,
    apply_rules,
    plan_rules,
)
from tracecup.server.organising.ruletext import Instants, instants_of, with_instants
from tracecup.server.reasons import (
    check_instant,
    require_reason,
)

ACTIONS: dict[str, windows.Action] = {"anonymize": "release", "attack": "attack"}
MAX_TRIES = 1000
# Far enough for every demo, near enough for every calendar.
MAX_OFFSET = timedelta(days=3660)


def pause(contest: Contest, actor: Actor, why: str) -> None:
    """Stop a contest: nothing is accepted and nothing happens by itself until `resume`."""
    why = require_reason(why)
    with transaction.atomic():
        held = locked(contest)
        if held.paused_at is not None:
            raise Refused("conflict", _("The contest is paused already."))
        held.paused_at = clock.contest_now(held)
        held.save(update_fields=["paused_at"])
        log.record(
            actor,
            "contest.pause",
            contest=held,
            before={"paused": None},
            after={"paused": held.paused_at.isoformat()},
            why=why,
        )
    contest.refresh_from_db()


def resume(
    contest: Contest, actor: Actor, why: str, shift: bool = True, confirm: str = ""
) -> timedelta:
    """Go on. With `shift` every instant and extension that lay ahead moves by the pause's length.

    Returns by how much they moved. Without it what the pause went past ends at once: `confirm`.
    """
    why = require_reason(why)
    with transaction.atomic():
        held = locked(contest)
        began = held.paused_at
        if began is None:
            raise Refused("conflict", _("The contest is not paused."))
        now = clock.contest_now(held)
        if not shift:
            require_confirmed(held, endings_since(held, began, now), confirm)
        length = now - began if shift else timedelta(0)
        length = timedelta(seconds=max(0, math.ceil(length.total_seconds())))
        held.paused_at = None
        held.save(update_fields=["paused_at"])
        log.record(
            actor,
            "contest.resume",
            contest=held,
            before={"paused": began.isoformat()},
            after={"paused": None, "shifted_seconds": length.total_seconds()},
            why=why,
        )
        if length:
            _shift(held, began, length, actor, why)
    contest.refresh_from_db()
    return length


def extend(
    team: Team,
    round: Round,
    phase: str,
    actor: Actor,
    *,
    until: datetime | None = None,
    extra_tries: int = 0,
    reason: str,
) -> Extension:
    """More time or more tries for one team in one phase (`anonymize`, `attack`)."""
    reason = require_reason(reason)
    if phase not in ACTIONS:
        raise Refused("invalid", _("Only anonymization and attack can be extended."))
    if team.contest_id != round.contest_id:
        raise Refused("invalid", _("The team is not in this contest."))
    if not 0 <= extra_tries <= MAX_TRIES or (until is None and not extra_tries):
        raise Refused("invalid", _("Give a later end, or 1 to 1000 more tries, or both."))
    with transaction.atomic():
        held = Round.objects.select_for_update(no_key=True).get(pk=round.pk)
        _require_not_over(held, phase)
        if until is not None:
            check_instant(until)
            _check_end(held, phase, until)
        made = Extension.objects.create(
            team=team,
            round=held,
            phase=phase,
            until=until,
            extra_tries=extra_tries,
            reason=reason,
            given_at=clock.now(),
            given_by=actor.person,
        )
        log.record(
            actor,
            "team.extend",
            contest=held.contest,
            subject=f"team:{team.number}",
            after=_told(made),
            why=reason,
        )
    return made


def take_back_extension(extension: Extension, actor: Actor, why: str, confirm: str = "") -> None:
    """Undo an extension; what was handed in meanwhile stays.

    Where the phase is over for the others it ends for the team at once: `confirm`.
    """
    why = require_reason(why)
    with transaction.atomic():
        held = Round.objects.select_for_update(no_key=True).get(pk=extension.round_id)
        now = clock.contest_now(held.contest)
        require_confirmed(held.contest, ending_of_team(extension, now), confirm)
        log.record(
            actor,
            "team.extend-undo",
            contest=held.contest,
            subject=f"team:{extension.team.number}",
            before=_told(extension),
            why=why,
        )
        extension.delete()


def move_deadline(
    round: Round,
    phase: str,
    until: datetime,
    actor: Actor,
    why: str,
    *,
    follow: bool = True,
    confirm: str = "",
) -> RulesPlan:
    """Another end of a phase for everybody; with `follow` all later instants keep their distance.

    Goes through the same checks as a change of the rules by hand, `confirm` too.
    """
    if phase not in ACTIONS:
        raise Refused("invalid", _("Only anonymization and attack can be extended."))
    why = require_reason(why)
    last = windows.ENDS[ACTIONS[phase]][1]
    with transaction.atomic():
        contest = locked(round.contest)
        held = Round.objects.get(pk=round.pk)
        _require_not_over(held, phase)
        old = _end_of(held, last)
        moved = shifted(
            {
                place: at
                for place, at in instants_of(contest.rules).items()
                if at >= old and (follow or place == (held.name, last))
            },
            until - old,
        )
        plan = _with(contest, moved, actor, "contest.deadline", why, confirm)
    round.refresh_from_db()
    round.contest.refresh_from_db()
    return plan


def set_phases(
    round: Round,
    instants: Mapping[PhaseName, datetime],
    actor: Actor,
    why: str,
    confirm: str = "",
    *,
    follow: bool = False,
) -> RulesPlan:
    """The instants of a round's phases; what has happened already cannot be moved.

    What would end at once needs `confirm`; a round that would be over at once is refused. With
    `follow` the rounds behind it keep their distance to its results.
    """
    why = require_reason(why)
    for at in instants.values():
        check_instant(at)
    with transaction.atomic():
        contest = locked(round.contest)
        wanted: Instants = {(round.name, phase): at for phase, at in instants.items()}
        held = instants_of(contest.rules)
        if all(held.get(place) == at for place, at in wanted.items()):
            return RulesPlan()
        ended = held.get((round.name, "results"))
        if follow and ended is not None and "results" in instants:
            behind = {
                place: at for place, at in held.items() if at >= ended and place[0] != round.name
            }
            wanted = {**wanted, **shifted(behind, instants["results"] - ended)}
        plan = _with(contest, wanted, actor, "contest.phases", why, confirm)
    round.refresh_from_db()
    round.contest.refresh_from_db()
    return plan


def move_clock(contest: Contest, seconds: float, actor: Actor) -> datetime:
    """Move the clock of a demo or rehearsal forwards (or back); the judge undoes nothing.

    Returns the new time on the contest's clock.
    """
    if not (contest.is_demo or contest.is_rehearsal):
        raise Refused("forbidden", _("Only the clock of a demo contest can be moved."))
    with transaction.atomic():
        held = locked(contest)
        before = held.clock_offset
        if not abs(before + seconds) <= MAX_OFFSET.total_seconds():
            raise Refused("invalid", _("The clock moves at most ten years."))
        Contest.objects.filter(pk=held.pk).update(clock_offset=F("clock_offset") + seconds)
        log.record(
            actor,
            "contest.clock",
            contest=held,
            before={"offset": before},
            after={"offset": before + seconds},
        )
    contest.refresh_from_db()
    return clock.contest_now(contest)


def accept_clock(contest: Contest, actor: Actor, why: str, confirm: str = "") -> None:
    """Say that the server's clock is right, after it was in doubt; acts that are due follow.

    What ends with that, in any contest of the server, needs `confirm`.
    """
    why = require_reason(why)
    doubt = clockwatch.open_doubt()
    if doubt is None:
        raise Refused("conflict", _("The server's clock is not in doubt."))
    ended = []
    for one in Contest.objects.filter(deleted_at=None, paused_at=None, is_demo=False):
        ended += endings_since(one, doubt.expected, doubt.shown)
    require_confirmed(contest, ended, confirm)
    clockwatch.accept(contest, actor, why)


def freeze(round: Round, on: bool, actor: Actor, why: str) -> None:
    """Hide the boards of the attack phase from everybody but organisers, or show them again."""
    why = require_reason(why)
    with transaction.atomic():
        held = Round.objects.select_for_update(no_key=True).get(pk=round.pk)
        before, held.frozen = held.frozen, on
        held.save(update_fields=["frozen"])
        log.record(
            actor,
            "round.freeze" if on else "round.unfreeze",
            contest=held.contest,
            subject=f"round:{held.name}",
            before={"frozen": before},
            after={"frozen": on},
            why=why,
        )
    round.refresh_from_db()


def open_archive(round: Round, on: bool, actor: Actor, why: str) -> None:
    """Give the archive of a round to everybody who may see its results, or to organisers only.

    It holds every team's original traces and ID tables; what was fetched cannot be taken back.
    """
    why = require_reason(why)
    with transaction.atomic():
        held = Round.objects.select_for_update(no_key=True).get(pk=round.pk)
        if on and held.released_at is None:
            raise Refused("closed", _("The archive can be opened once results are public."))
        before, held.archive_open = held.archive_open, on
        held.save(update_fields=["archive_open"])
        files = StoredFile.objects.filter(round=held, kind="archive")
        files.update(audience="all" if on else "judge")
        log.record(
            actor,
            "round.open-archive" if on else "round.close-archive",
            contest=held.contest,
            subject=f"round:{held.name}",
            before={"archive_open": before},
            after={"archive_open": on},
            why=why,
        )
    round.refresh_from_db()


def phase_ahead(round: Round, at: datetime) -> tuple[PhaseName, datetime] | None:
    """The next phase of a round and when it begins."""
    for phase in PHASES:
        begins: datetime | None = getattr(round.rules.phases, phase)
        if begins is not None and begins > at:
            return phase, begins
    return None


def _shift(contest: Contest, after: datetime, by: timedelta, actor: Actor, why: str) -> None:
    rounds = {one.name: one for one in contest.rounds.all()}
    ahead = {
        (name, phase): at
        for (name, phase), at in instants_of(contest.rules).items()
        # What an organiser had done by hand meanwhile has happened.
        if at > after and not (phase in ACTS and getattr(rounds[name], ACTS[phase]))
    }
    if ahead:
        _with(contest, shifted(ahead, by), actor, "contest.shift", why)
    Extension.objects.filter(round__contest=contest, until__gt=after).update(until=F("until") + by)
    if contest.appeals_until is not None and contest.appeals_until > after:
        contest.appeals_until += by
        contest.save(update_fields=["appeals_until"])


def shifted(instants: Instants, by: timedelta) -> Instants:
    """Instants moved by a length of time; `Refused` where no calendar goes."""
    try:
        moved = {place: at + by for place, at in instants.items()}
    except OverflowError:
        raise Refused("invalid", _("That is too far away.")) from None
    for at in moved.values():
        check_instant(at)
    return moved


def _with(
    contest: Contest, instants: Instants, actor: Actor, action: str, why: str, confirm: str = ""
) -> RulesPlan:
    """Put other instants into the rules of a locked contest."""
    try:
        text = with_instants(contest.rules_text, instants)
    except InvalidFile as error:
        problems = [_of_form(problem.as_dict()) for problem in error.problems]
        raise Refused(
            "invalid", _("The phases would no longer follow one another."), problems
        ) from None
    plan = plan_rules(contest, text)
    if plan.problems:
        problems = [_of_form(problem) for problem in plan.problems]
        raise Refused("invalid", _("These times cannot be accepted."), problems)
    require_confirmed(contest, plan.endings, confirm)
    apply_rules(contest, text, plan, actor, action, why)
    return plan


def _of_form(problem: Mapping[str, Any]) -> dict[str, Any]:
    """A problem of the rules' text for a form that has no lines: its field is the phase."""
    return {**problem, "line": 0, "field": str(problem["field"]).rpartition(".")[2]}


def _require_not_over(round: Round, phase: str) -> None:
    done = round.judging_at if phase == "anonymize" else round.closed_at
    if done is not None:
        raise Refused("closed", _("The judge has closed this phase already."))


def _end_of(round: Round, last: str | None) -> datetime:
    """When the rules end a phase, by their key for that; `Refused` where they do not."""
    end: datetime | None = getattr(round.rules.phases, last) if last else None
    if end is None:
        raise Refused("closed", _("The organisers have not set the phases of this round yet."))
    return end


def _check_end(round: Round, phase: str, until: datetime) -> None:
    end = _end_of(round, windows.ENDS[ACTIONS[phase]][1])
    if until <= end or until <= clock.contest_now(round.contest):
        raise Refused(
            "invalid",
            _("An extension ends later than the phase and later than now."),
            ends=end.isoformat(),
        )


def _told(extension: Extension) -> dict[str, str | int | None]:
    return {
        "round": extension.round.name,
        "phase": extension.phase,
        "until": extension.until.isoformat() if extension.until else None,
        "tries": extension.extra_tries,
    }
