"""What organisers do with a contest as a whole: create, clone, delete and undo, rules.

The clock is in `running`, messages and appeals in `teams.messages`, changes of rules in
`rulechange`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from tracecup.contest.rules import Rules
from tracecup.contest.rules.file import parse_rules
from tracecup.contest.rules.file import rules_text as text_of
from tracecup.errors import Problem
from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.errors import Refused
from tracecup.server.locks import (
    locked,
)
from tracecup.server.models import Contest, Organiser, Round, Team
from tracecup.server.organising.endings import endings_since, require_ahead
from tracecup.server.organising.owncity import copy_city
from tracecup.server.organising.rulechange import (
    read_text,
    sync_rounds,
    tidy,
)
from tracecup.server.organising.ruletext import (
    instants_of,
    renamed,
    with_instants,
    without_instants,
)
from tracecup.server.organising.running import (
    shifted,
)
from tracecup.server.reasons import (
    require_reason,
)
from tracecup.server.teams.registration import create_team

_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?")
MAX_DIVISIONS = 20
PRESET = "strong"
"""The rules of a contest for which nobody wrote any."""


def create_contest(
    actor: Actor,
    *,
    name: str,
    slug: str,
    rules_text: str | None = None,
    is_public: bool = False,
    join_open: bool = False,
    is_demo: bool = False,
    is_rehearsal: bool = False,
    is_over: bool = False,
    divisions: Sequence[str] = (),
) -> Contest:
    """A new contest with its rounds; who creates it organises it.

    Without a text it has the paper's rules with strong sample attacks and no instants yet. The
    name wins over the text's. Only a contest that `is_over`, taken over from elsewhere, may have
    its phases in the past.
    """
    name = _name(name)
    _check_slug(slug)
    if rules_text is None:
        text = text_of(Rules.preset(PRESET).renamed(name))
    else:
        text = tidy(rules_text)
        read_text(text)
        text = renamed(text, name)
    if not (is_demo or is_rehearsal or is_over):
        require_ahead(parse_rules(text), clock.now())
    with transaction.atomic():
        if Contest.objects.filter(slug=slug).exists():
            raise Refused(
                "conflict", _("Another contest has this address already (maybe a deleted one).")
            )
        contest = Contest.objects.create(
            slug=slug,
            name=name,
            rules_text=text,
            divisions=_divisions(divisions),
            is_public=is_public,
            join_open=join_open,
            is_demo=is_demo,
            is_rehearsal=is_rehearsal,
            created_at=clock.now(),
            created_by=actor.person,
        )
        sync_rounds(contest)
        if actor.person is not None:
            Organiser.objects.create(contest=contest, person=actor.person, since=clock.now())
        log.record(
            actor,
            "contest.create",
            contest=contest,
            subject="rules:1",
            after={"rules": text, "public": is_public, "divisions": contest.divisions},
        )
    return contest


def clone_contest(
    contest: Contest,
    actor: Actor,
    *,
    name: str,
    slug: str,
    starts: datetime | None = None,
    with_teams: bool = False,
) -> Contest:
    """A new contest with the same rules and divisions.

    `starts` is the first instant of the new one, all others follow at the same distances; without
    it the phases have no instants. Teams come along by name only, with new codes and no members.
    """
    instants = instants_of(contest.rules)
    if starts is None or not instants:
        text = without_instants(contest.rules_text)
    else:
        shift = starts - min(instants.values())
        text = with_instants(contest.rules_text, shifted(instants, shift))
    with transaction.atomic():
        made = create_contest(
            actor, name=name, slug=slug, rules_text=text, divisions=contest.divisions
        )
        copy_city(contest, made)
        log.record(actor, "contest.clone", contest=made, subject=f"contest:{contest.slug}")
        if with_teams:
            for team in contest.teams.filter(deleted_at=None):
                create_team(
                    made,
                    team.name,
                    actor,
                    division=team.division,
                    bot=team.bot,
                    hors_concours=team.hors_concours,
                )
    return made


def set_details(
    contest: Contest,
    actor: Actor,
    *,
    is_public: bool | None = None,
    join_open: bool | None = None,
    divisions: Sequence[str] | None = None,
) -> None:
    """Whether everybody may see the contest, whether teams may register, which divisions it has."""
    wanted = {
        "is_public": is_public,
        "join_open": join_open,
        "divisions": None if divisions is None else _divisions(divisions),
    }
    changes = {key: value for key, value in wanted.items() if value is not None}
    with transaction.atomic():
        held = locked(contest)
        before = {key: getattr(held, key) for key in changes}
        if before == changes:
            return
        gone = set(held.divisions) - set(changes.get("divisions", held.divisions))
        used = held.teams.filter(deleted_at=None, division__in=gone)
        if gone and used.exists():
            raise Refused(
                "conflict", _("A division that has teams cannot be removed; move them first.")
            )
        Contest.objects.filter(pk=held.pk).update(**changes)
        log.record(actor, "contest.details", contest=held, before=before, after=changes)
    contest.refresh_from_db()


def delete(contest: Contest, actor: Actor, why: str) -> None:
    """Take a contest away from everybody; `undelete` brings it back as it was."""
    why = require_reason(why)
    with transaction.atomic():
        held = locked(contest)
        if held.deleted_at is None:
            held.deleted_at = clock.now()
            held.save(update_fields=["deleted_at"])
            log.record(
                actor,
                "contest.delete",
                contest=held,
                before={"deleted": False},
                after={"deleted": True},
                why=why,
            )
    contest.refresh_from_db()


def undelete(contest: Contest, actor: Actor) -> None:
    """Bring a deleted contest back.

    Where a deadline passed meanwhile it comes back paused since it was deleted: nothing ends before
    an organiser has moved its deadlines.
    """
    with transaction.atomic():
        held = locked(contest)
        if held.deleted_at is not None:
            gone = held.deleted_at + timedelta(seconds=held.clock_offset)
            if held.paused_at is None and endings_since(held, gone, clock.contest_now(held)):
                held.paused_at = gone
            held.deleted_at = None
            held.save(update_fields=["deleted_at", "paused_at"])
            log.record(
                actor,
                "contest.undelete",
                contest=held,
                before={"deleted": True},
                after={"deleted": False, "paused": held.paused_at is not None},
            )
    contest.refresh_from_db()


def set_status(team: Team, status: str, reason: str, actor: Actor) -> None:
    """Withdraw or disqualify a team, or take it back; always with a reason.

    Its number stays its own. The judge and the results read the status when they work.
    """
    if status not in Team.STATUSES:
        raise Refused("invalid", _("A team is active, withdrawn or disqualified."))
    reason = require_reason(reason)
    with transaction.atomic():
        held = Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        before = {"status": held.status, "reason": held.status_reason}
        held.status = status
        held.status_reason = "" if status == "active" else reason
        held.save(update_fields=["status", "status_reason"])
        log.record(
            actor,
            "team.status",
            contest=held.contest,
            subject=f"team:{held.number}",
            before=before,
            after={"status": status, "reason": held.status_reason},
            why=reason,
        )
    team.refresh_from_db()


def delete_team(team: Team, actor: Actor, why: str) -> None:
    """Take a team away that should not be; its number stays its own, `undelete_team` undoes it."""
    _set_deleted(team, True, actor, require_reason(why))


def undelete_team(team: Team, actor: Actor) -> None:
    """Bring a deleted team back as it was."""
    _set_deleted(team, False, actor, "")


def _set_deleted(team: Team, on: bool, actor: Actor, why: str) -> None:
    with transaction.atomic():
        held = Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        if (held.deleted_at is not None) != on:
            held.deleted_at = clock.now() if on else None
            held.save(update_fields=["deleted_at"])
            log.record(
                actor,
                "team.delete" if on else "team.undelete",
                contest=held.contest,
                subject=f"team:{held.number}",
                before={"deleted": not on},
                after={"deleted": on},
                why=why,
            )
    team.refresh_from_db()


def set_auto_publish(round: Round, on: bool, actor: Actor, why: str) -> None:
    """Whether releases are published by themselves at the instant, or when an organiser says so."""
    if round.published_at is not None:
        raise Refused("closed", _("The releases of this round are published already."))
    _set_auto(round, "auto_publish", on, actor, why)


def set_auto_results(round: Round, on: bool, actor: Actor, why: str) -> None:
    """Whether the first results are published by themselves, or when an organiser says so."""
    if round.released_at is not None:
        raise Refused("closed", _("The results of this round are published already."))
    _set_auto(round, "auto_results", on, actor, why)


def _set_auto(round: Round, column: str, on: bool, actor: Actor, why: str) -> None:
    why = require_reason(why)
    with transaction.atomic():
        held = Round.objects.select_for_update(no_key=True).get(pk=round.pk)
        before = getattr(held, column)
        setattr(held, column, on)
        held.save(update_fields=[column])
        log.record(
            actor,
            f"round.{column.replace('_', '-')}",
            contest=held.contest,
            subject=f"round:{held.name}",
            before={"auto": before},
            after={"auto": on},
            why=why,
        )
    round.refresh_from_db()


def _name(name: str) -> str:
    said = name.strip()
    if not 1 <= len(said) <= 200 or not said.isprintable():
        raise Refused("invalid", _("A contest's name is one line of 1 to 200 characters."))
    return said


def _check_slug(slug: str) -> None:
    if not _SLUG.fullmatch(slug):
        hint = _("Small letters, digits, hyphens.")
        raise Refused(
            "invalid",
            _("An address has 1 to 60 small letters, digits and hyphens, like spring-2030."),
            [Problem(0, "slug", slug[:80], hint).as_dict()],
        )


def _divisions(names: Sequence[str]) -> list[str]:
    found = list(dict.fromkeys(name.strip() for name in names if name.strip()))
    if len(found) > MAX_DIVISIONS or any(len(n) > 80 or not n.isprintable() for n in found):
        raise Refused(
            "invalid", _("Divisions are up to 20 names of one line and at most 80 characters.")
        )
    return found
