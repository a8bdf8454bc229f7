"""The API of accounts: who am I, tokens, sessions, one-time links, a forgotten password.

What changes how somebody logs in asks for the password, even of a token.
"""

from __future__ import annotations

from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest
from ninja import Field, Router, Schema, Status

from tracecup.server.models import Person
from tracecup.server.people import accounts, erasure, letters, visits
from tracecup.server.people import data as pagedata
from tracecup.server.people import links as one_time_links
from tracecup.server.people import tokens as api_tokens
from tracecup.server.people.accounts import MAX_EMAIL, MAX_NAME, MAX_PASSWORD, MAX_USERNAME
from tracecup.server.people.auth import (
    actor_of,
    anyone,
)
from tracecup.server.people.pages import site_of
from tracecup.server.people.tokens import MAX_DAYS

router = Router()


class Credentials(Schema):
    """Name and password, for a token of this name that lives so many days."""

    username: str = Field(max_length=300)
    password: str = Field(max_length=MAX_PASSWORD)
    token_name: str = Field(min_length=1, max_length=80)
    days: int = Field(90, ge=1, le=MAX_DAYS)


class NewToken(Schema):
    """What a token is for and how long it lives."""

    name: str = Field(min_length=1, max_length=80)
    days: int = Field(90, ge=1, le=MAX_DAYS)


class MadeToken(pagedata.TokenInfo):
    """A new token; `secret` is shown this once."""

    secret: str


class Profile(Schema):
    """What is to change; a new e-mail address needs the password."""

    name: str | None = Field(None, max_length=MAX_NAME)
    email: str | None = Field(None, max_length=MAX_EMAIL)
    language: str | None = Field(None, max_length=8)
    zone: str | None = Field(None, max_length=60)
    password: str = Field("", max_length=MAX_PASSWORD)


class Passwords(Schema):
    """The password of today and the next one."""

    old: str = Field(max_length=MAX_PASSWORD)
    new: str = Field(max_length=MAX_PASSWORD)


class Password(Schema):
    """The password, to be sure."""

    password: str = Field(max_length=MAX_PASSWORD)


class Forgotten(Schema):
    """The name or the e-mail address of an account."""

    who: str = Field(min_length=1, max_length=MAX_EMAIL)


class NewAccount(Schema):
    """An account to be made; for a reset only `password` counts."""

    username: str = Field("", max_length=MAX_USERNAME)
    password: str = Field(max_length=MAX_PASSWORD)
    name: str = Field("", max_length=MAX_NAME)
    email: str = Field("", max_length=MAX_EMAIL)


class Ended(Schema):
    """How many sessions have ended."""

    ended: int


@router.post("/log-in", auth=anyone, response={201: MadeToken})
def log_in(request: HttpRequest, body: Credentials) -> Status[MadeToken]:
    """A token for a name and a password; throttled by name and by address."""
    person = visits.check_password(body.username, body.password, visits.address_of(request))
    return Status(201, _made(request, person, body.token_name, body.days))


@router.get("/me", response=pagedata.Me)
def show(request: HttpRequest) -> pagedata.Me:
    """Who am I, and what may I do where?"""
    return pagedata.me(request.user)


@router.patch("/me", response=pagedata.Me)
def change(request: HttpRequest, body: Profile) -> pagedata.Me:
    """Change name, e-mail, language, zone: those that are given."""
    person, before = request.user, request.user.email
    accounts.change_profile(person, actor_of(request), **body.dict())
    if before and person.email != before:
        letters.tell_email_changed(person, before, site_of(request))
    return pagedata.me(person)


@router.post("/me/password", response={204: None})
def change_password(request: HttpRequest, body: Passwords) -> Status[None]:
    """Change the password; every other session ends, tokens stay."""
    accounts.change_password(request.user, body.old, body.new, actor_of(request))
    visits.end_other_sessions(request.user, _key(request), actor_of(request))
    if _key(request):
        update_session_auth_hash(request, request.user)
        visits.seen(request)
    letters.tell_password_changed(request.user, site_of(request))
    return Status(204, None)


@router.post("/me/erase", response={204: None})
def erase(request: HttpRequest, body: Password) -> Status[None]:
    """Forget the account, for good."""
    accounts.require_password(request.user, body.password)
    erasure.erase(request.user, actor_of(request))
    return Status(204, None)


@router.get("/me/tokens", response=list[pagedata.TokenInfo])
def tokens(request: HttpRequest) -> list[pagedata.TokenInfo]:
    """My API tokens that work."""
    return pagedata.tokens(request.user)


@router.post("/me/tokens", response={201: MadeToken})
def new_token(request: HttpRequest, body: NewToken) -> Status[MadeToken]:
    """Make an API token; this answer is the only place that shows it."""
    return Status(201, _made(request, request.user, body.name, body.days))


@router.delete("/me/tokens/{int:number}", response={204: None})
def revoke_token(request: HttpRequest, number: int) -> Status[None]:
    """Make a token worthless; doing it twice is doing it once."""
    api_tokens.revoke_by_number(request.user, number, actor_of(request))
    return Status(204, None)


@router.get("/me/sessions", response=list[pagedata.SessionInfo])
def sessions(request: HttpRequest) -> list[pagedata.SessionInfo]:
    """Where I am logged in."""
    return pagedata.sessions(request.user, _key(request))


@router.delete("/me/sessions/{int:number}", response={204: None})
def end_session(request: HttpRequest, number: int) -> Status[None]:
    """End one session."""
    visits.end_visit(request.user, number, actor_of(request))
    return Status(204, None)


@router.post("/me/sessions/end-others", response=Ended)
def end_other_sessions(request: HttpRequest) -> Ended:
    """End every session but the one that asks; a token has none, and ends all."""
    return Ended(ended=visits.end_other_sessions(request.user, _key(request), actor_of(request)))


@router.post("/password-reset", auth=anyone, response={202: None})
def forgotten(request: HttpRequest, body: Forgotten) -> Status[None]:
    """Send a link for a new password; the answer is the same whether the account exists."""
    letters.ask_reset(body.who, visits.address_of(request), site_of(request))
    return Status(202, None)


@router.get("/links/{secret}", auth=anyone, response=pagedata.LinkInfo)
def link(request: HttpRequest, secret: str) -> pagedata.LinkInfo:
    """What a one-time link is for; looking does not use it."""
    return pagedata.link(one_time_links.link_of(secret))


@router.post("/links/{secret}", auth=anyone, response={201: pagedata.Me})
def redeem(request: HttpRequest, secret: str, body: NewAccount) -> Status[pagedata.Me]:
    """Use a link: makes the account, or sets the new password.

    A new password ends all sessions and revokes all API tokens of the account.
    """
    resets = one_time_links.link_of(secret).purpose == "reset"
    person = one_time_links.redeem(
        secret, body.username, body.password, name=body.name, email=body.email
    )
    if resets:
        letters.tell_password_changed(person, site_of(request), by_link=True)
    return Status(201, pagedata.me(person))


@router.post("/links/{secret}/accept", response=pagedata.Me)
def accept(request: HttpRequest, secret: str) -> pagedata.Me:
    """Accept an invitation with the account that asks."""
    one_time_links.accept(secret, request.user)
    return pagedata.me(request.user)


def _made(request: HttpRequest, person: Person, name: str, days: int) -> MadeToken:
    token, secret = api_tokens.new_token(person, name, days, actor_of(request))
    return MadeToken(**pagedata.token_info(token).dict(), secret=secret)


def _key(request: HttpRequest) -> str | None:
    """The key of the browser's session; None for a token."""
    if "Authorization" in request.headers:
        return None
    key: str | None = request.session.session_key
    return key
