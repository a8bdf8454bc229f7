"""Whom the web server lets send a large body: people with a token or a session, and workers.

Asked by `web.door` in threads of its own.
"""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.db import close_old_connections
from django.http import HttpRequest, parse_cookie

from tracecup.server.judging.workers import live_worker
from tracecup.server.people.tokens import live_token


def is_known(authorization: str, cookie: str) -> bool:
    """Whether a token of a person or a worker, or a session, works; nothing is written."""
    return _is_token(authorization) or _is_session(cookie)


def looked_up(authorization: str, cookie: str) -> bool:
    """The same in a thread of ours, whose connection to the database Django does not look after."""

    close_old_connections()
    try:
        return is_known(authorization, cookie)
    finally:
        close_old_connections()


def _is_token(authorization: str) -> bool:
    scheme, _, secret = authorization.partition(" ")
    if scheme.lower() != "bearer":
        return False
    secret = secret.strip()
    return live_token(secret) is not None or live_worker(secret) is not None


def _is_session(cookie: str) -> bool:

    key = parse_cookie(cookie).get(settings.SESSION_COOKIE_NAME, "")
    if not key or "\0" in key:
        return False
    request = HttpRequest()
    request.session = SessionStore(key)
    return bool(get_user(request).is_authenticated)
