"""How teams come into being: made by organisers, or by themselves where the contest allows it.

Numbers go from 1 without gaps in the order of creation; a team that left keeps its number, but for
one that registered and was left by all before data were out: the next that registers takes it over.
"""

from __future__ import annotations

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.errors import Refused, not_found
from tracecup.server.judging.service import ensure_data
from tracecup.server.models import Contest, Person, Team
from tracecup.server.models.contests import new_code
from tracecup.server.people import throttle
from tracecup.server.people.accounts import (
    Problem,
    checked_account,
    checked_text,
    create_account,
    label,
    problem,
    refuse_if,
)
from tracecup.server.people.membership import (
    add_member,
    data_are_out,
    join,
    team_of_code,
)
from tracecup.server.windows import window

MAX_TEAM_NAME = 120
MAX_TEAMS = 899  # 901 and 902 are the sample teams


def create_team(
    contest: Contest,
    name: str,
    actor: Actor,
    *,
    division: str = "",
    bot: str = "",
    hors_concours: bool = False,
) -> Team:
    """A new team with the next number; its data is made by a job."""
    with transaction.atomic():
        held = _lock(contest)
        team = insert_team(held, name, actor, division, bot=bot, hors_concours=hors_concours)
        ensure_data(held)
    return team


def insert_team(
    contest: Contest,
    name: str,
    actor: Actor,
    division: str = "",
    *,
    bot: str = "",
    hors_concours: bool = False,
    registered: bool = False,
) -> Team:
    """Store a team of a locked contest; `ensure_data` is to follow."""
    problems: list[Problem] = []
    name = checked_text("name", name, MAX_TEAM_NAME, problems)
    problems += [] if problems else name_problems(contest, name)
    problems += division_problems(contest, division)
    refuse_if(problems)
    number = (contest.teams.aggregate(last=Max("number"))["last"] or 0) + 1
    if number > MAX_TEAMS:
        raise Refused("conflict", _("A contest has at most {n} teams.").format(n=MAX_TEAMS))
    team: Team = Team.objects.create(
        contest=contest,
        number=number,
        name=name,
        division=division,
        bot=bot,
        hors_concours=hors_concours,
        registered=registered,
        created_at=clock.now(),
    )
    log.record(
        actor,
        "team-create",
        contest=contest,
        subject=f"team:{number}",
        after={"name": name, "division": division, "bot": bot, "hors_concours": hors_concours},
    )
    return team


def change_team(
    team: Team, actor: Actor, *, name: str | None = None, division: str | None = None
) -> Team:
    """Another name or division for a team."""
    with transaction.atomic():
        contest = _lock(team.contest)
        held: Team = Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        before = {"name": held.name, "division": held.division}
        problems: list[Problem] = []
        if name is not None:
            held.name = checked_text("name", name, MAX_TEAM_NAME, problems)
            problems += [] if problems else name_problems(contest, held.name, but=held)
        if division is not None:
            held.division = division
            problems += division_problems(contest, division)
        refuse_if(problems)
        after = {"name": held.name, "division": held.division}
        if after != before:
            held.save(update_fields=["name", "division"])
            subject = f"team:{held.number}"
            log.record(
                actor, "team-change", contest=contest, subject=subject, before=before, after=after
            )
    return held


def registration_open(contest: Contest) -> bool:
    """Whether people may make teams by themselves: the organisers allow it, and it is not late."""
    if not contest.join_open or contest.deleted_at is not None:
        return False
    at = clock.contest_now(contest)
    return any(window(one, "release", at).state != "closed" for one in contest.rounds.all())


def register_team(
    contest: Contest, name: str, person: Person, actor: Actor, *, division: str = ""
) -> Team:
    """A team that somebody makes for herself; she is its captain."""
    if not registration_open(contest):
        raise Refused("closed", _("Teams cannot register by themselves (any more)."))
    _require_division(contest, division)
    with transaction.atomic():
        held = _lock(contest)
        team = _take_over(held, name, actor, division)
        if team is None:
            team = insert_team(held, name, actor, division, registered=True)
        add_member(team, person, actor)
        throttle.spend(throttle.REGISTER, label(person), label(person))
        ensure_data(held)
    return team


def _take_over(contest: Contest, name: str, actor: Actor, division: str) -> Team | None:
    """A team that all have left before data were out, under a new name and with a new code.

    Somebody who registers and leaves again would otherwise use up all numbers of a contest.
    """
    if data_are_out(contest):
        return None
    left = contest.teams.filter(registered=True, members=None, status="active", deleted_at=None)
    team: Team | None = left.order_by("number").first()
    if team is None:
        return None
    problems: list[Problem] = []
    before = {"name": team.name, "division": team.division}
    team.name = checked_text("name", name, MAX_TEAM_NAME, problems)
    problems += [] if problems else name_problems(contest, team.name, but=team)
    problems += division_problems(contest, division)
    refuse_if(problems)
    team.division, team.join_code, team.created_at = division, new_code(), clock.now()
    team.save()
    log.record(
        actor,
        "team-take-over",
        contest=contest,
        subject=f"team:{team.number}",
        before=before,
        after={"name": team.name, "division": division},
    )
    return team


def register_with_new_account(
    contest: Contest,
    team_name: str,
    username: str,
    password: str,
    *,
    division: str = "",
    name: str = "",
    email: str = "",
) -> tuple[Team, Person]:
    """An account and a team of its own: both, or neither."""
    if not registration_open(contest):
        raise Refused("closed", _("Teams cannot register by themselves (any more)."))
    columns = checked_account(username, password, name=name, email=email)
    with transaction.atomic():
        person = create_account(columns)
        team = register_team(contest, team_name, person, Actor(person, "page"), division=division)
    return team, person


def join_with_new_account(
    code: str, username: str, password: str, *, name: str = "", email: str = ""
) -> tuple[Team, Person]:
    """An account that joins a team by its code: both, or neither."""
    team_of_code(code)
    columns = checked_account(username, password, name=name, email=email)
    with transaction.atomic():
        person = create_account(columns)
        return join(code, person, Actor(person, "page")), person


def team_by_number(contest: Contest, number: int) -> Team:
    """A team of a contest."""
    team = contest.teams.filter(number=number, deleted_at=None).first()
    if team is None:
        raise not_found("team")
    found: Team = team
    return found


def name_problems(contest: Contest, name: str, but: Team | None = None) -> list[Problem]:
    """What is wrong with a team's name; names differ in more than case."""
    if not name:
        return [problem("name", _("the name of the team"))]
    for number, held in contest.teams.values_list("number", "name"):
        if held.casefold() == name.casefold() and (but is None or but.number != number):
            return [problem("name", _("a name that no other team has"), name)]
    return []


def division_problems(contest: Contest, division: str) -> list[Problem]:
    """What is wrong with a division; none at all is allowed."""
    if not division or division in contest.divisions:
        return []
    allowed = ", ".join(contest.divisions) or _("nothing: this contest has no divisions")
    return [problem("division", allowed, division)]


def _lock(contest: Contest) -> Contest:
    """The contest as it is now, held until the transaction ends: numbers are given one by one."""
    # See `locks.locked` for the order of locks, and why they are of this kind.
    held: Contest = Contest.objects.select_for_update(no_key=True).get(pk=contest.pk)
    return held


def _require_division(contest: Contest, division: str) -> None:
    if contest.divisions and not division:
        refuse_if([problem("division", ", ".join(contest.divisions))])


def about_team(refused: Refused) -> Refused:
    """The same refusal with `team` where the form has a field `name` for the person."""
    renamed = [
        {**one, "field": "team" if one["field"] == "name" else one["field"]}
        for one in refused.problems
    ]
    return Refused(refused.code, refused.message, renamed, **refused.details)
