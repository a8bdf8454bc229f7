"""Log-in, log-out and the sessions that people see and end.

A session is rotated on log-in; ending it removes it from the database at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from django.conf import settings
from django.contrib.auth import authenticate, login, logout
from django.contrib.sessions.models import Session
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.errors import Refused, not_found
from tracecup.server.models import Member, Person, Team, Visit
from tracecup.server.people import throttle
from tracecup.server.people.accounts import MAX_PASSWORD, is_line, label, normal_username

SEEN_EVERY = timedelta(minutes=5)
BACKEND = "django.contrib.auth.backends.ModelBackend"
WRONG = "not-signed-in"


def sign_in(request: HttpRequest, username: str, password: str) -> Person:
    """Log somebody in: a fresh session for her, or `Refused` (not-signed-in, throttled)."""
    person = check_password(username, password, address_of(request))
    begin_visit(request, person)
    return person


def check_password(username: str, password: str, address: str) -> Person:
    """Whose name and password these are; throttled by name and by address.

    An unknown name costs one hash, as a known one does, and gets the same sentence.
    """
    throttle.spend(throttle.LOG_IN, _counted(username), address)
    person = None
    if len(password) <= MAX_PASSWORD and len(username) <= 300 and is_line(username):
        person = authenticate(username=_stored(username), password=password)
    if person is None:
        raise Refused(WRONG, _("The name or the password is wrong."))
    throttle.forgive(throttle.LOG_IN, _counted(username))
    found: Person = person
    return found


def begin_visit(request: HttpRequest, person: Person) -> Visit:
    """Open a session for somebody who has shown who she is; the key before is no longer valid."""
    before = request.session.session_key
    login(request, person, backend=BACKEND)
    if request.session.session_key is None:
        request.session.create()
    with transaction.atomic():
        if before:
            Visit.objects.filter(session_key=before).delete()
        return _new_visit(request, person)


def sign_out(request: HttpRequest) -> None:
    """Log out: the session is gone, here and in the list."""
    key = request.session.session_key
    if key:
        Visit.objects.filter(session_key=key).delete()
    logout(request)


def seen(request: HttpRequest) -> None:
    """Keep the list of sessions: called for every request of a logged-in person."""
    person, at = request.user, clock.now()
    visit = Visit.objects.filter(session_key=request.session.session_key).first()
    if visit is None:
        _new_visit(request, person)
    elif at - visit.seen_at < SEEN_EVERY:
        return
    else:
        Visit.objects.filter(pk=visit.pk).update(seen_at=at)
    teams = Member.objects.filter(person=person).values("team")
    Team.objects.filter(pk__in=teams).update(seen_at=at)


def sessions(person: Person) -> list[Visit]:
    """The sessions of somebody, last used first; those that have ended are forgotten."""
    held = list(Visit.objects.filter(person=person).order_by("-seen_at", "-pk"))
    alive = set(
        Session.objects.filter(
            session_key__in=[visit.session_key for visit in held], expire_date__gt=timezone.now()
        ).values_list("session_key", flat=True)
    )
    gone = [visit.pk for visit in held if visit.session_key not in alive]
    if gone:
        Visit.objects.filter(pk__in=gone).delete()
    return [visit for visit in held if visit.session_key in alive]


def end_session(person: Person, session_key: str, actor: Actor) -> None:
    """End one session of somebody."""
    if not _end(person, [session_key], actor):
        raise not_found("session")


def end_visit(person: Person, number: int, actor: Actor) -> None:
    """End one session by its number in the list; keys of sessions are secrets."""
    visit = Visit.objects.filter(person=person, pk=number).first()
    if visit is None:
        raise not_found("session")
    _end(person, [visit.session_key], actor)


def end_other_sessions(person: Person, keep: str | None, actor: Actor) -> int:
    """End all sessions but one (None: all); how many those were."""
    keys = Visit.objects.filter(person=person).values_list("session_key", flat=True)
    return _end(person, [key for key in keys if key != keep], actor)


def address_of(request: HttpRequest) -> str:
    """The visitor's address; behind a proxy of our own, what that proxy says."""
    if settings.CONFIG.proxied:
        said = request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip()
        if said:
            return str(said)
    return str(request.META.get("REMOTE_ADDR", ""))


def _end(person: Person, keys: Iterable[str], actor: Actor) -> int:
    keys = list(keys)
    with transaction.atomic():
        ended: int = Visit.objects.filter(person=person, session_key__in=keys).delete()[0]
        if ended:
            Session.objects.filter(session_key__in=keys).delete()
            log.record(actor, "session-end", subject=label(person), after={"sessions": ended})
    return ended


def _new_visit(request: HttpRequest, person: Person) -> Visit:
    at = clock.now()
    agent = request.headers.get("User-Agent", "").replace("\0", "")[:200]
    made: Visit = Visit.objects.update_or_create(
        session_key=request.session.session_key,
        defaults={"person": person, "agent": agent, "created_at": at, "seen_at": at},
    )[0]
    return made


def _counted(username: str) -> str:
    return normal_username(username[:300])


def _stored(typed: str) -> str:
    """The name as the account has it: as typed, else in the one spelling of new accounts."""
    exact = Person.objects.filter(username=typed).exists()
    return typed if exact else normal_username(typed)
