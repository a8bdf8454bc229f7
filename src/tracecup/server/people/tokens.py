"""API tokens: named, expiring, stored as hashes; the token itself is shown once.

`tct_` in front lets people and secret scanners see what a leaked one is.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.errors import Refused, not_found
from tracecup.server.models import ApiToken, Person
from tracecup.server.people.accounts import Problem, checked_text, label, problem, refuse_if

PREFIX = "tct_"
MAX_TOKENS = 20
MAX_DAYS = 366
USED_EVERY = timedelta(minutes=1)


def new_token(person: Person, name: str, days: int, actor: Actor) -> tuple[ApiToken, str]:
    """A token for somebody, and its secret, which nobody can see again."""
    problems: list[Problem] = []
    name = checked_text("name", name, 80, problems)
    if not name:
        problems.append(problem("name", _("what the token is for, such as 'my laptop'")))
    if not 1 <= days <= MAX_DAYS:
        expected = _("1 to {most} days").format(most=MAX_DAYS)
        problems.append(problem("days", expected, str(days)))
    refuse_if(problems)
    secret, at = PREFIX + secrets.token_urlsafe(32), clock.now()
    with transaction.atomic():
        Person.objects.select_for_update(no_key=True).get(pk=person.pk)
        if live_tokens(person).count() >= MAX_TOKENS:
            raise Refused(
                "conflict",
                _("You have {most} tokens; revoke one first.").format(most=MAX_TOKENS),
            )
        if live_tokens(person).filter(name=name).exists():
            refuse_if([problem("name", _("a name that none of your tokens has"), name)])
        token = ApiToken.objects.create(
            person=person,
            name=name,
            token_hash=secret_hash(secret),
            hint=secret[:8],
            created_at=at,
            expires_at=at + timedelta(days=days),
        )
        log.record(
            actor,
            "token-create",
            subject=label(person),
            after={"token": token.pk, "expires": token.expires_at.isoformat()},
        )
    return token, secret


def person_of_token(secret: str) -> Person | None:
    """Whose token it is; None for an unknown, revoked or expired one."""
    token, at = live_token(secret), clock.now()
    if token is None:
        return None
    # Not on every request: a write each would make readers wait for the one writer of SQLite.
    if token.last_used_at is None or at - token.last_used_at > USED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=at)
    person: Person = token.person
    return person


def live_token(secret: str) -> ApiToken | None:
    """The token with this secret, if it works."""
    if not secret.startswith(PREFIX) or len(secret) > 200:
        return None
    held = ApiToken.objects.select_related("person").filter(person__is_active=True)
    return held.filter(
        token_hash=secret_hash(secret), revoked_at=None, expires_at__gt=clock.now()
    ).first()


def live_tokens(person: Person) -> Any:
    """The tokens of somebody that work."""
    return ApiToken.objects.filter(person=person, revoked_at=None, expires_at__gt=clock.now())


def revoke_token(token: ApiToken, actor: Actor) -> None:
    """Make a token worthless; doing it twice is doing it once."""
    with transaction.atomic():
        done = ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=clock.now())
        if done:
            log.record(
                actor, "token-revoke", subject=label(token.person), after={"token": token.pk}
            )


def revoke_by_number(person: Person, number: int, actor: Actor) -> None:
    """Revoke one of somebody's own tokens."""
    token = ApiToken.objects.filter(person=person, pk=number).first()
    if token is None:
        raise not_found("token")
    revoke_token(token, actor)


def revoke_all(person: Person, actor: Actor) -> int:
    """Make all tokens of somebody worthless; how many worked."""
    with transaction.atomic():
        tokens = live_tokens(person)
        numbers = sorted(tokens.values_list("pk", flat=True))
        tokens.update(revoked_at=clock.now())
        if numbers:
            after = {"tokens": numbers}
            log.record(actor, "token-revoke", subject=label(person), after=after)
    return len(numbers)


def secret_hash(secret: str) -> str:
    """How a secret of 256 random bits is stored: a fast hash is enough for those."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
