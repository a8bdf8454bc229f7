"""Accounts: names, passwords, language and zone; what is checked before any of it is stored.

Hashing a password is slow on purpose, so it happens before a transaction begins, never inside.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from tracecup import errors
from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.errors import Refused
from tracecup.server.models import Person
from tracecup.server.people import throttle
from tracecup.server.web.choosing import zones

MAX_USERNAME = 60
MAX_NAME = 150
MAX_EMAIL = 254
MAX_PASSWORD = 1024
_USERNAME = re.compile(rf"[\w.+@-]{{2,{MAX_USERNAME}}}")
# What erased accounts are called: who had such a name could keep somebody from being forgotten.
_RESERVED = re.compile(r"erased-\d+")

Problem = dict[str, Any]


def checked_account(
    username: str, password: str, *, name: str = "", email: str = ""
) -> dict[str, str]:
    """The columns of a new account, password hashed; `Refused` with every problem at once."""
    problems: list[Problem] = []
    username = normal_username(username)
    if not _USERNAME.fullmatch(username):
        expected = _("2 to {most} letters, digits or any of . + @ - _")
        problems.append(problem("username", expected.format(most=MAX_USERNAME), username))
    elif _RESERVED.fullmatch(username) or username_taken(username):
        problems.append(problem("username", _("a name that nobody has yet"), username))
    name = checked_text("name", name, MAX_NAME, problems)
    email = checked_email(email, problems)
    like = Person(username=username, first_name=name, email=email)
    problems += password_problems(password, like)
    refuse_if(problems)
    return {
        "username": username,
        "first_name": name,
        "email": email,
        "password": make_password(password),
    }


def create_account(columns: dict[str, str], *, staff: bool = False, owner: bool = False) -> Person:
    """Store an account that `checked_account` has checked; inside the caller's transaction."""
    try:
        with transaction.atomic():
            person: Person = Person.objects.create(
                **columns, is_staff=staff, is_superuser=owner, date_joined=clock.now()
            )
    except IntegrityError:  # the same name in the same moment
        refuse_if([problem("username", _("a name that nobody has yet"), columns["username"])])
        raise
    log.record(
        Actor(person), "person-create", subject=label(person), after={"staff": staff or False}
    )
    return person


def change_profile(
    person: Person,
    actor: Actor,
    *,
    name: str | None = None,
    email: str | None = None,
    language: str | None = None,
    zone: str | None = None,
    password: str = "",
) -> Person:
    """Change what is given. A new e-mail address needs the password: it can reset the password."""
    problems: list[Problem] = []
    changed: dict[str, str] = {}
    if name is not None:
        changed["first_name"] = checked_text("name", name, MAX_NAME, problems)
    if email is not None:
        changed["email"] = checked_email(email, problems)
    if language is not None:
        changed["language"] = language
        known = ["", *(code for code, _name in settings.LANGUAGES)]
        if language not in known:
            problems.append(problem("language", ", ".join(known[1:]), language))
    if zone is not None:
        changed["zone"] = zone
        if zone and (zone, zone) not in zones():
            problems.append(problem("zone", _("a time zone such as Asia/Tokyo"), zone))
    changed = {column: value for column, value in changed.items() if value != _of(person, column)}
    if "email" in changed and not _is_password(person, password):
        problems.append(problem("password", _("your password, because the e-mail changes")))
    refuse_if(problems)
    if not changed:
        return person
    with transaction.atomic():
        for column, value in changed.items():
            setattr(person, column, value)
        person.save(update_fields=list(changed))
        log.record(
            actor, "person-change", subject=label(person), after={"columns": sorted(changed)}
        )
    return person


def change_password(person: Person, old: str, new: str, actor: Actor) -> Person:
    """Set a new password; sessions that were opened with the old one end with it."""
    problems = []
    if not _is_password(person, old):
        problems.append(problem("old", _("your password of today")))
    problems += password_problems(new, person, "new")
    refuse_if(problems)
    return store_password(person, make_password(new), actor)


def store_password(person: Person, hashed: str, actor: Actor) -> Person:
    """Store a hashed password."""
    with transaction.atomic():
        person.password = hashed
        person.save(update_fields=["password"])
        log.record(actor, "password-change", subject=label(person))
    return person


def require_password(person: Person, password: str) -> None:
    """For acts that cannot be undone: the password once more."""
    if not _is_password(person, password):
        refuse_if([problem("password", _("your password"))])


def label(person: Person) -> str:
    """How the log calls somebody: by number, since names can be erased."""
    return f"person:{person.pk}"


def normal_username(typed: str) -> str:
    """One spelling for names that look alike: compatibility forms joined, lower case."""
    return unicodedata.normalize("NFKC", typed).strip().lower()


def username_taken(username: str) -> bool:
    """Whether somebody has a name, in whatever case."""
    return Person.objects.filter(username__iexact=username).exists()


def checked_text(field: str, value: str, most: int, problems: list[Problem]) -> str:
    """A line of text for people: composed, trimmed, no control characters, not too long."""
    value = unicodedata.normalize("NFC", value).strip()
    if not is_line(value):
        problems.append(problem(field, _("text without control characters")))
    elif len(value) > most:
        expected = _("at most {most} characters").format(most=most)
        problems.append(problem(field, expected, value))
    return value


def is_line(value: str) -> bool:
    """Whether a text has neither control characters nor halves of characters.

    >>> is_line("Rät Süd"), is_line("two\\nlines")
    (True, False)
    """
    return not any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in value)


def checked_email(value: str, problems: list[Problem]) -> str:
    """An e-mail address or nothing."""
    value = value.strip()
    if value:
        try:
            validate_email(value)
        except ValidationError:
            problems.append(problem("email", _("an e-mail address"), value))
        else:
            if len(value) > MAX_EMAIL:
                expected = _("at most {most} characters").format(most=MAX_EMAIL)
                problems.append(problem("email", expected, value))
    return value


def password_problems(password: str, person: Person, field: str = "password") -> list[Problem]:
    """What is wrong with a new password; the password itself is not repeated."""
    if len(password) > MAX_PASSWORD:
        expected = _("at most {most} characters").format(most=MAX_PASSWORD)
        return [problem(field, expected)]
    try:
        validate_password(password, person)
    except ValidationError as error:
        return [problem(field, message) for message in error.messages]
    return []


def problem(field: str, expected: str, found: str = "", line: int = 0) -> Problem:
    """One bad place of a form (line 0) or a file."""
    return errors.Problem(line, field, found[:120], expected).as_dict()


def refuse_if(problems: Iterable[Problem]) -> None:
    """`Refused` with all problems, if there are any."""
    listed = list(problems)
    if listed:
        raise Refused("invalid", _("Some fields are missing or wrong."), listed)


def _of(person: Person, column: str) -> str:
    return str(getattr(person, column))


def _is_password(person: Person, password: str) -> bool:
    """Whether it is her password; guessed by whom has her session or token, it is slowed down."""
    if not 0 < len(password) <= MAX_PASSWORD:
        return False
    throttle.spend(throttle.OWN_PASSWORD, label(person), label(person))
    if not person.check_password(password):
        return False
    throttle.forgive(throttle.OWN_PASSWORD, label(person))
    return True
