"""Whom the web server lets send a large body, and whose a file is that has come.

Asked by `web.door` and `web.turns` in threads of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.db import close_old_connections
from django.http import HttpRequest, parse_cookie

from tracecup.server.judging.workers import live_worker
from tracecup.server.models import Member, Person
from tracecup.server.people.tokens import live_token

_CONTEST = re.compile(r"/(?:c|contests)/([-a-z0-9]{1,60})/")


def is_known(authorization: str, cookie: str) -> bool:
    """Whether a token of a person or a worker, or a session, works; nothing is written."""
    return _is_token(authorization) or _is_session(cookie)


def owner(authorization: str, cookie: str, path: str) -> str:
    """Whose a file is: a person's team in the contest of the path, else hers; "" for strangers.

    All members of a team share one turn, and so do all tokens and sessions of a person.
    """
    token = live_token(_bearer(authorization))
    person = token.person if token is not None else _person_of_session(cookie)
    if person is None:
        worker = live_worker(_bearer(authorization))
        return f"worker:{worker.pk}" if worker is not None else ""
    found = _CONTEST.search(path)
    team = None
    if found is not None:
        mine = Member.objects.filter(person=person, contest__slug=found[1])
        team = mine.values_list("team", flat=True).first()
    return f"team:{team}" if team is not None else f"person:{person.pk}"


def looked_up(authorization: str, cookie: str) -> bool:
    """`is_known` in a thread of ours, whose connection Django does not look after."""
    with _own_connection():
        return is_known(authorization, cookie)


def owner_looked_up(authorization: str, cookie: str, path: str) -> str:
    """`owner` in a thread of ours."""
    with _own_connection():
        return owner(authorization, cookie, path)


@contextmanager
def _own_connection() -> Iterator[None]:
    close_old_connections()
    try:
        yield
    finally:
        close_old_connections()


def _bearer(authorization: str) -> str:
    scheme, _, secret = authorization.partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def _is_token(authorization: str) -> bool:
    secret = _bearer(authorization)
    return live_token(secret) is not None or live_worker(secret) is not None


def _is_session(cookie: str) -> bool:
    return _person_of_session(cookie) is not None


def _person_of_session(cookie: str) -> Person | None:
    key = parse_cookie(cookie).get(settings.SESSION_COOKIE_NAME, "")
    if not key or "\0" in key:
        return None
    request = HttpRequest()
    request.session = SessionStore(key)
    user = get_user(request)
    return user if isinstance(user, Person) and user.is_authenticated else None
