"""One-time links: the first organiser, invitations, a new password.

Stored as hashes, they expire, and they work once: using one is a conditional update inside the
transaction that does what it is for. Looking at one (mail scanners do) does not use it.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import SYSTEM, Actor
from tracecup.server.errors import Refused, not_found
from tracecup.server.models import Contest, Member, OneTimeLink, Organiser, Person, Team
from tracecup.server.people import throttle
from tracecup.server.people.accounts import (
    MAX_NAME,
    Problem,
    checked_account,
    checked_email,
    checked_text,
    create_account,
    label,
    password_problems,
    problem,
    refuse_if,
    store_password,
)
from tracecup.server.people.membership import (
    add_member,
)
from tracecup.server.people.tokens import revoke_all, secret_hash
from tracecup.server.people.visits import end_other_sessions

FIRST, ORGANISER, MEMBER, RESET = OneTimeLink.PURPOSES
MAX_DAYS = 366
RESET_HOURS = 2


@dataclass(frozen=True)
class Invitation:
    """A link that was made: for whom, to which team. `link` is a path of this site."""

    team: Team
    email: str
    link: str
    name: str = ""


def new_link(
    purpose: str,
    actor: Actor,
    *,
    contest: Contest | None = None,
    team: Team | None = None,
    person: Person | None = None,
    name: str = "",
    email: str = "",
    days: float = 14,
) -> str:
    """The secret of a new link; `link_path` is its address.

    `organiser` without a contest makes somebody who may create contests; `member` needs a team,
    `reset` a person. An invitation for an e-mail address replaces the open one before.
    """
    if purpose not in OneTimeLink.PURPOSES:
        refuse_if([problem("purpose", ", ".join(OneTimeLink.PURPOSES), purpose)])
    problems: list[Problem] = []
    name = checked_text("name", name, MAX_NAME, problems)
    email = checked_email(email, problems)
    if purpose == MEMBER and team is None:
        problems.append(problem("team", _("the team that the link is for")))
    if purpose == RESET and person is None:
        problems.append(problem("person", _("whose password it is")))
    if not 0 < days <= MAX_DAYS:
        problems.append(problem("days", _("1 to {most} days").format(most=MAX_DAYS), str(days)))
    refuse_if(problems)
    secret, at = secrets.token_urlsafe(32), clock.now()
    contest = team.contest if team is not None else contest
    with transaction.atomic():
        if email and purpose in (ORGANISER, MEMBER):
            open_links(purpose, contest).filter(team=team, email__iexact=email).delete()
        made = OneTimeLink.objects.create(
            token_hash=secret_hash(secret),
            purpose=purpose,
            person=person,
            contest=contest,
            team=team,
            name=name,
            email=email,
            created_at=at,
            expires_at=at + timedelta(days=days),
        )
        log.record(
            actor,
            "link-create",
            contest=contest,
            subject=_subject(made),
            after={"purpose": purpose, "expires": made.expires_at.isoformat()},
        )
    return secret


def link_path(secret: str) -> str:
    """The address of a link on the site."""
    return reverse("link", args=[secret])


def open_links(purpose: str | None = None, contest: Contest | None = None) -> Any:
    """Links that work, newest first; of a purpose, and of a contest (None: of the site)."""
    found = OneTimeLink.objects.filter(
        contest=contest, used_at=None, expires_at__gt=clock.now()
    ).order_by("-pk")
    return found.filter(purpose=purpose) if purpose else found


def revoke_link(link: OneTimeLink, actor: Actor) -> None:
    """Make a link worthless, and forget whom it was for."""
    with transaction.atomic():
        if OneTimeLink.objects.filter(pk=link.pk, used_at=None).delete()[0]:
            log.record(actor, "link-revoke", contest=link.contest, subject=_subject(link))


def link_of(secret: str) -> OneTimeLink:
    """The link, if it works; looking does not use it."""
    link = (
        OneTimeLink.objects.select_related("contest", "team", "person")
        .filter(token_hash=secret_hash(secret[:200]), used_at=None, expires_at__gt=clock.now())
        .first()
    )
    if link is None or _is_stale(link):
        raise Refused(
            "not-found",
            _("This link does not work: it was used, has expired, or is not complete."),
        )
    return link


def redeem(token: str, username: str, password: str, *, name: str = "", email: str = "") -> Person:
    """Use a link: an account is made with what the link gives, or a new password is set.

    For a reset `username`, `name` and `email` are ignored; every session and API token of the
    account ends with it, since whoever had them may be the reason for it.
    """
    link = link_of(token)
    if link.purpose == RESET:
        return _reset(link, password)
    columns = checked_account(username, password, name=name or link.name, email=email or link.email)
    with transaction.atomic():
        _use(link)
        if link.purpose == FIRST and Person.objects.filter(is_staff=True, is_active=True).exists():
            raise Refused("conflict", _("This site already has an organiser; ask them for a link."))
        staff = link.purpose == FIRST or (link.purpose == ORGANISER and link.contest is None)
        person = create_account(columns, staff=staff, owner=link.purpose == FIRST)
        _give_role(link, person)
    return person


def accept(token: str, person: Person) -> OneTimeLink:
    """Use an invitation with the account one has already."""
    link = link_of(token)
    if link.purpose not in (ORGANISER, MEMBER):
        raise Refused("conflict", _("This link is not an invitation."))
    with transaction.atomic():
        _use(link)
        if link.purpose == ORGANISER and link.contest is None and not person.is_staff:
            person.is_staff = True
            person.save(update_fields=["is_staff"])
            log.record(Actor(person), "staff-set", subject=label(person), after={"staff": True})
        _give_role(link, person)
    return link


def first_organiser_link() -> str | None:
    """The link of the first organiser; None when there is one. The link before stops working."""
    if Person.objects.filter(is_staff=True, is_active=True).exists():
        return None
    OneTimeLink.objects.filter(purpose=FIRST, used_at=None).delete()
    return new_link(FIRST, SYSTEM)


def reset_links(typed: str) -> list[tuple[Person, str]]:
    """A link for every account with this name or e-mail address; the ones before stop working."""
    typed = typed.strip()
    if not typed or "\0" in typed:
        return []
    people = list(Person.objects.filter(is_active=True, username__iexact=typed)[:1])
    people += Person.objects.filter(is_active=True, email__iexact=typed).exclude(
        pk__in=[person.pk for person in people]
    )[:10]
    made = []
    for person in people:
        if person.email:
            OneTimeLink.objects.filter(purpose=RESET, person=person, used_at=None).delete()
            made.append((person, new_link(RESET, SYSTEM, person=person, days=RESET_HOURS / 24)))
    return made


def link_by_number(contest: Contest | None, number: int) -> OneTimeLink:
    """An open invitation of a contest (None: of the site), for organisers."""
    link = open_links(None, contest).filter(purpose__in=(ORGANISER, MEMBER), pk=number).first()
    if link is None:
        raise not_found("link")
    found: OneTimeLink = link
    return found


def _reset(link: OneTimeLink, password: str) -> Person:
    person: Person = link.person
    refuse_if(password_problems(password, person))
    hashed = make_password(password)
    actor = Actor(person)
    with transaction.atomic():
        _use(link)
        store_password(person, hashed, actor)
        end_other_sessions(person, None, actor)
        revoke_all(person, actor)
    throttle.forgive(throttle.LOG_IN, person.username)
    return person


def _use(link: OneTimeLink) -> None:
    """Mark a link as used; of two at the same time one comes too late."""
    done = OneTimeLink.objects.filter(pk=link.pk, used_at=None, expires_at__gt=clock.now()).update(
        used_at=clock.now(), name="", email=""
    )
    if not done:
        raise Refused("conflict", _("This link was used at this very moment."))


def _give_role(link: OneTimeLink, person: Person) -> None:
    actor = Actor(person)
    if link.purpose == ORGANISER and link.contest is not None:
        add_organiser(link.contest, person, actor)
    elif link.purpose == MEMBER:
        add_member(link.team, person, actor)
    else:
        log.record(actor, "link-use", subject=_subject(link), after={"purpose": link.purpose})


def add_organiser(contest: Contest, person: Person, actor: Actor) -> Organiser:
    """Make somebody an organiser of a contest; who plays in it cannot run it."""
    with transaction.atomic():
        if not contest.is_demo and Member.objects.filter(contest=contest, person=person).exists():
            raise Refused("conflict", _("You play in this contest; leave your team first."))
        made: Organiser
        made, new = Organiser.objects.get_or_create(
            contest=contest, person=person, defaults={"since": clock.now()}
        )
        if new:
            log.record(actor, "organiser-add", contest=contest, subject=label(person))
    return made


def _is_stale(link: OneTimeLink) -> bool:
    """Whether what the link leads to is gone."""
    return bool(
        (link.contest is not None and link.contest.deleted_at)
        or (link.team is not None and link.team.deleted_at)
        or (link.person is not None and not link.person.is_active)
    )


def _subject(link: OneTimeLink) -> str:
    if link.person is not None:
        return label(link.person)
    return f"team:{link.team.number}" if link.team is not None else link.purpose
