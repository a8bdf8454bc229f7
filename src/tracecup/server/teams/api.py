"""The API of teams: members, join codes, registration; for organisers lists and invitations.

A team is named by its number in the contest. Organisers' acts that are declared with their pages
(`organising.acts_teams`) have their operations here, too.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja import Field, Router, Schema, Status

from tracecup.server.access import Actor, Role, role_in
from tracecup.server.errors import Refused, not_found
from tracecup.server.models import Contest, Person, Team
from tracecup.server.people import data as pagedata
from tracecup.server.people import erasure, letters, membership
from tracecup.server.people import links as one_time_links
from tracecup.server.people.accounts import MAX_EMAIL, MAX_NAME
from tracecup.server.people.asking import organiser_of
from tracecup.server.people.auth import (
    actor_of,
    person_of,
)
from tracecup.server.people.membership import (
    count_invitation,
)
from tracecup.server.people.pages import site_of
from tracecup.server.teams import registration, teamlist
from tracecup.server.teams.registration import MAX_TEAM_NAME
from tracecup.server.teams.teamlist import MAX_CHARACTERS

router = Router()
TEAM = "/contests/{slug}/teams/{int:number}"


class Code(Schema):
    """A join code."""

    code: str = Field(max_length=40)


class Captain(Schema):
    """Whether somebody is a captain."""

    captain: bool


class NewTeam(Schema):
    """A team to be made."""

    name: str = Field(min_length=1, max_length=MAX_TEAM_NAME)
    division: str = Field("", max_length=80)


class TeamInfo(Schema):
    """A team, for its members and the organisers."""

    contest: str
    number: int
    name: str
    division: str
    status: str
    hors_concours: bool
    join_code: str


class Invite(Schema):
    """Whom a link is for; with an e-mail address the link is sent there."""

    name: str = Field("", max_length=MAX_NAME)
    email: str = Field("", max_length=MAX_EMAIL)
    days: int = Field(14, ge=1, le=366)
    send: bool = True


class MadeLink(Schema):
    """A new link; its secret is shown this once."""

    path: str
    address: str


class TeamList(Schema):
    """A CSV file with the columns team,division,name,email."""

    text: str = Field(max_length=MAX_CHARACTERS + 1)


class TeamListToDo(TeamList):
    """A list to be carried out; `send` sends the links to those with an address."""

    send: bool = False


class PlannedRow(Schema):
    """What one line will do: new-team, new-link, replaced-link, nothing."""

    line: int
    team: str
    division: str
    name: str
    email: str
    effect: str


class TeamPlan(Schema):
    """What a list will do, or what is wrong with it."""

    ok: bool
    new_teams: int
    new_links: int
    rows: list[PlannedRow]
    problems: list[dict[str, Any]]


class InvitationInfo(Schema):
    """A link that a list made."""

    team: int
    team_name: str
    name: str
    email: str
    address: str


class Erased(Schema):
    """How many accounts were erased."""

    erased: int


@router.post("/join", response=TeamInfo)
def join(request: HttpRequest, body: Code) -> TeamInfo:
    """Join the team with this code."""
    return team_info(membership.join(body.code, request.user, actor_of(request)))


@router.post("/contests/{slug}/register", response={201: TeamInfo})
def register(request: HttpRequest, slug: str, body: NewTeam) -> Status[TeamInfo]:
    """Make a team of one's own, where the contest allows it."""
    role = role_in(slug, person_of(request))
    team = registration.register_team(
        role.contest, body.name, request.user, actor_of(request), division=body.division
    )
    return Status(201, team_info(team))


@router.get("/contests/{slug}/team/members", response=pagedata.MembersPage)
def own_members(request: HttpRequest, slug: str) -> pagedata.MembersPage:
    """Who is in my team."""
    role = role_in(slug, person_of(request))
    return pagedata.members(role, role.require_team())


@router.get(TEAM + "/members", response=pagedata.MembersPage)
def members(request: HttpRequest, slug: str, number: int) -> pagedata.MembersPage:
    """Who is in a team; for its members and the organisers."""
    role, team = _at(request, slug, number)
    return pagedata.members(role, team)


@router.patch(TEAM + "/members/{int:person}", response=pagedata.MembersPage)
def set_captain(
    request: HttpRequest, slug: str, number: int, person: int, body: Captain
) -> pagedata.MembersPage:
    """Make somebody a captain, or no longer one; for captains and organisers."""
    role, team = _managed(request, slug, number)
    membership.set_captain(
        team, membership.person_in(team, person), actor_of(request), body.captain
    )
    return pagedata.members(role, team)


@router.delete(TEAM + "/members/{int:person}", response={204: None})
def remove_member(request: HttpRequest, slug: str, number: int, person: int) -> Status[None]:
    """Take somebody out of a team: oneself, or for captains and organisers anybody."""
    role, team = _at(request, slug, number)
    if person != request.user.pk:
        membership.require_manager(role, team)
    membership.remove_member(team, membership.person_in(team, person), actor_of(request))
    return Status(204, None)


@router.post(TEAM + "/code", response=Code)
def new_code(request: HttpRequest, slug: str, number: int) -> Code:
    """A new join code; the one before stops working. For captains and organisers."""
    _role, team = _managed(request, slug, number)
    return Code(code=membership.new_code(team, actor_of(request)))


@router.post(TEAM + "/links", response={201: MadeLink})
def invite_member(request: HttpRequest, slug: str, number: int, body: Invite) -> Status[MadeLink]:
    """A one-time link into a team; for captains and organisers."""
    role, team = _managed(request, slug, number)
    count_invitation(role)
    secret = one_time_links.new_link(
        "member", actor_of(request), team=team, name=body.name, email=body.email, days=body.days
    )
    if body.send and body.email:
        link = one_time_links.link_path(secret)
        letters.invite(team, body.name, body.email, link, site_of(request), body.days)
    return Status(201, made_link(site_of(request), secret))


@router.get("/contests/{slug}/links", response=list[pagedata.OpenLink])
def links(request: HttpRequest, slug: str) -> list[pagedata.OpenLink]:
    """Invitations that nobody has used yet; for organisers."""
    return pagedata.invitations(organiser_of(request, slug))


@router.delete("/contests/{slug}/links/{int:link}", response={204: None})
def revoke_link(request: HttpRequest, slug: str, link: int) -> Status[None]:
    """Make an invitation worthless; for organisers and, for their own team, captains."""
    role = role_in(slug, person_of(request))
    found = one_time_links.link_by_number(role.contest, link)
    if not role.organiser and (found.team is None or not membership.may_manage(role, found.team)):
        raise not_found("link")
    one_time_links.revoke_link(found, actor_of(request))
    return Status(204, None)


@router.get("/contests/{slug}/organisers", response=list[pagedata.MemberInfo])
def organisers(request: HttpRequest, slug: str) -> list[pagedata.MemberInfo]:
    """Who runs the contest; for organisers."""
    return pagedata.organisers(organiser_of(request, slug))


@router.delete("/contests/{slug}/organisers/{int:person}", response={204: None})
def remove_organiser(request: HttpRequest, slug: str, person: int) -> Status[None]:
    """Take the contest from an organiser; the last one stays. For organisers."""
    role = organiser_of(request, slug)
    found = Person.objects.filter(pk=person, organises__contest=role.contest).first()
    if found is None:
        raise not_found("organiser")
    membership.remove_organiser(role.contest, found, actor_of(request))
    return Status(204, None)


@router.post("/site/organisers", response={201: MadeLink})
def invite_site_organiser(request: HttpRequest, body: Invite) -> Status[MadeLink]:
    """A one-time link that makes somebody who may create contests; for those who may."""
    if not request.user.is_staff:
        raise Refused("forbidden", _("Only organisers of the site may do this."))
    secret = organiser_link(actor_of(request), body, site_of(request))
    return Status(201, made_link(site_of(request), secret))


@router.post("/contests/{slug}/erase-people", response=Erased)
def erase_people(request: HttpRequest, slug: str) -> Erased:
    """Forget all players after the contest; for organisers."""
    role = organiser_of(request, slug)
    return Erased(erased=erasure.erase_people_of(role.contest, actor_of(request)))


def _at(request: HttpRequest, slug: str, number: int) -> tuple[Role, Team]:
    """A team for those who may look into it; for others there is none."""
    role = role_in(slug, person_of(request))
    mine = role.team is not None and role.team.number == number
    if not (role.organiser or mine):
        raise not_found("team")
    return role, registration.team_by_number(role.contest, number)


def _managed(request: HttpRequest, slug: str, number: int) -> tuple[Role, Team]:
    role, team = _at(request, slug, number)
    membership.require_manager(role, team)
    return role, team


def team_info(team: Team) -> TeamInfo:
    """What the API says about a team."""
    return TeamInfo(
        contest=team.contest.slug,
        number=team.number,
        name=team.name,
        division=team.division,
        status=team.status,
        hors_concours=team.hors_concours,
        join_code=team.join_code,
    )


def team_plan(plan: teamlist.ListPlan) -> TeamPlan:
    """What the API says about a plan."""
    return TeamPlan(
        ok=not plan.problems,
        new_teams=plan.new_teams,
        new_links=plan.new_links,
        rows=[PlannedRow(**vars(row)) for row in plan.rows],
        problems=list(plan.problems),
    )


def invitation_info(one: one_time_links.Invitation, site: str) -> InvitationInfo:
    """What the API says about a link that a list made."""
    return InvitationInfo(
        team=one.team.number,
        team_name=one.team.name,
        name=one.name,
        email=one.email,
        address=site + one.link,
    )


def made_link(site: str, secret: str) -> MadeLink:
    """What the API says about a new link."""
    path = one_time_links.link_path(secret)
    return MadeLink(path=path, address=site + path)


def organiser_link(actor: Actor, body: Invite, site: str, contest: Contest | None = None) -> str:
    """The secret of a new link for an organiser, of a contest or of the site; sent if asked for."""
    secret = one_time_links.new_link(
        "organiser", actor, contest=contest, name=body.name, email=body.email, days=body.days
    )
    if body.send and body.email:
        path = one_time_links.link_path(secret)
        letters.invite_organiser(contest, body.name, body.email, path, site, body.days)
    return secret
