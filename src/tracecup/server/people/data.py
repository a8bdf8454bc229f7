"""What the pages about people show: the account, a one-time link, a team's members.

Typed; a page renders it and the API returns it. E-mail addresses are shown to their owner and to
organisers, keys of sessions and secrets of tokens to nobody.
"""

from __future__ import annotations

from datetime import datetime

from ninja import Schema

from tracecup.server.access import Role
from tracecup.server.models import ApiToken, Member, OneTimeLink, Organiser, Person, Team, Visit
from tracecup.server.people import links, visits
from tracecup.server.people.membership import (
    may_manage,
)
from tracecup.server.people.tokens import live_tokens

BROWSERS = ("Edg", "OPR", "Firefox", "Chrome", "Safari", "tracecup-client", "curl", "Python")
NAMES = {"Edg": "Edge", "OPR": "Opera", "tracecup-client": "tracecup"}
SYSTEMS = ("Android", "iPhone", "iPad", "Windows", "Mac OS X", "Linux")


class RoleInfo(Schema):
    """What somebody is in a contest: `organiser` or `member`."""

    contest: str
    contest_name: str
    role: str
    team: int | None = None
    team_name: str = ""
    captain: bool = False


class Me(Schema):
    """An account as its owner sees it."""

    id: int
    username: str
    name: str
    email: str
    language: str
    zone: str
    may_create_contests: bool
    roles: list[RoleInfo]


class TokenInfo(Schema):
    """An API token; `hint` is how it begins."""

    id: int
    name: str
    hint: str
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None


class SessionInfo(Schema):
    """Where somebody is logged in; `current` is the session that asks."""

    id: int
    agent: str
    created_at: datetime
    seen_at: datetime
    current: bool


class AccountPage(Schema):
    """The whole account."""

    me: Me
    tokens: list[TokenInfo]
    sessions: list[SessionInfo]


class LinkInfo(Schema):
    """What a one-time link is for; `name` and `email` are proposals for the new account."""

    purpose: str
    contest: str
    contest_name: str
    team: str
    username: str
    name: str
    email: str
    expires_at: datetime


class OpenLink(Schema):
    """A one-time link that was not used yet; the secret itself is shown once, when made."""

    id: int
    purpose: str
    team: int | None
    team_name: str
    name: str
    email: str
    created_at: datetime
    expires_at: datetime


class MemberInfo(Schema):
    """Somebody in a team; `email` is there for organisers only."""

    id: int
    username: str
    name: str
    captain: bool
    since: datetime
    you: bool
    email: str | None = None


class MembersPage(Schema):
    """Who is in a team, and how others come in. Captains and organisers may change it."""

    contest: str
    team: int
    name: str
    division: str
    status: str
    may_manage: bool
    join_code: str
    join_path: str
    members: list[MemberInfo]
    invitations: list[OpenLink]


def me(person: Person) -> Me:
    """An account with its roles."""
    return Me(
        id=person.pk,
        username=person.username,
        name=person.first_name,
        email=person.email,
        language=person.language,
        zone=person.zone,
        may_create_contests=person.is_staff,
        roles=_roles(person),
    )


def tokens(person: Person) -> list[TokenInfo]:
    """The tokens that work, newest first."""
    return [token_info(one) for one in live_tokens(person).order_by("-pk")]


def token_info(token: ApiToken) -> TokenInfo:
    """A token without its secret."""
    return TokenInfo(
        id=token.pk,
        name=token.name,
        hint=token.hint,
        created_at=token.created_at,
        expires_at=token.expires_at,
        last_used_at=token.last_used_at,
    )


def sessions(person: Person, session_key: str | None) -> list[SessionInfo]:
    """Where somebody is logged in."""
    return [_session(visit, session_key) for visit in visits.sessions(person)]


def account(person: Person, session_key: str | None) -> AccountPage:
    """The account's page."""
    return AccountPage(me=me(person), tokens=tokens(person), sessions=sessions(person, session_key))


def link(found: OneTimeLink) -> LinkInfo:
    """What a link is for."""
    return LinkInfo(
        purpose=found.purpose,
        contest=found.contest.slug if found.contest else "",
        contest_name=found.contest.name if found.contest else "",
        team=found.team.name if found.team else "",
        username=found.person.username if found.person else "",
        name=found.name,
        email=found.email,
        expires_at=found.expires_at,
    )


def open_link(found: OneTimeLink) -> OpenLink:
    """A link as its page shows it."""
    return OpenLink(
        id=found.pk,
        purpose=found.purpose,
        team=found.team.number if found.team else None,
        team_name=found.team.name if found.team else "",
        name=found.name,
        email=found.email,
        created_at=found.created_at,
        expires_at=found.expires_at,
    )


def invitations(role: Role) -> list[OpenLink]:
    """All open invitations of a contest, for its organisers."""
    role.require_organiser()
    found = links.open_links(None, role.contest).select_related("team")
    return [open_link(one) for one in found]


def organisers(role: Role) -> list[MemberInfo]:
    """Who runs a contest, for its organisers."""
    role.require_organiser()
    found = Organiser.objects.filter(contest=role.contest).select_related("person")
    return [_member(one.person, one.since, False, role) for one in found.order_by("since", "pk")]


def members(role: Role, team: Team) -> MembersPage:
    """A team's members, for themselves and for organisers."""
    manages = may_manage(role, team)
    held = Member.objects.filter(team=team).select_related("person").order_by("since", "pk")
    open_now = links.open_links("member", team.contest).filter(team=team) if manages else ()
    return MembersPage(
        contest=role.contest.slug,
        team=team.number,
        name=team.name,
        division=team.division,
        status=team.status,
        may_manage=manages,
        join_code=team.join_code,
        join_path=f"/join/{team.join_code}/",
        members=[_member(one.person, one.since, one.captain, role) for one in held],
        invitations=[open_link(one) for one in open_now],
    )


def agent_name(agent: str) -> str:
    """A browser and its system in two words.

    >>> agent_name("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
    'Firefox, Linux'
    """
    browser = next((one for one in BROWSERS if f"{one}/" in agent or f"{one}-" in agent), "")
    system = next((one for one in SYSTEMS if one in agent), "")
    return ", ".join(part for part in (NAMES.get(browser, browser), system) if part) or agent[:40]


def _session(visit: Visit, session_key: str | None) -> SessionInfo:
    return SessionInfo(
        id=visit.pk,
        agent=agent_name(visit.agent),
        created_at=visit.created_at,
        seen_at=visit.seen_at,
        current=visit.session_key == session_key,
    )


def _member(person: Person, since: datetime, captain: bool, role: Role) -> MemberInfo:
    return MemberInfo(
        id=person.pk,
        username=person.username,
        name=person.first_name,
        captain=captain,
        since=since,
        you=role.person is not None and role.person.pk == person.pk,
        email=person.email if role.organiser else None,
    )


def _roles(person: Person) -> list[RoleInfo]:
    runs = Organiser.objects.filter(person=person, contest__deleted_at=None)
    plays = Member.objects.filter(
        person=person, team__deleted_at=None, contest__deleted_at=None
    ).select_related("team", "contest")
    return [
        RoleInfo(contest=one.contest.slug, contest_name=one.contest.name, role="organiser")
        for one in runs.select_related("contest").order_by("contest__slug")
    ] + [
        RoleInfo(
            contest=one.contest.slug,
            contest_name=one.contest.name,
            role="member",
            team=one.team.number,
            team_name=one.team.name,
            captain=one.captain,
        )
        for one in plays.order_by("contest__slug")
    ]
