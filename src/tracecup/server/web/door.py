"""Who may send a large body: a token or a session is looked up while the first part arrives.

Strangers with made-up ones get no further than anybody without.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from waitress.utilities import Error

Known = Callable[[str, str], bool]
"""Whether the headers `Authorization` and `Cookie` are somebody's."""

THREADS = 2
logger = logging.getLogger(__name__)


class Stranger(Error):
    """A large body of somebody whom nobody knows."""

    code, reason = 401, "Unauthorized"


class Away(Error):
    """The database that knows people does not answer."""

    code, reason = 503, "Service Unavailable"


class Door:
    """Asks threads of its own who sends something; the thread that receives bodies never waits.

    One look at an index of the database takes about a millisecond, for each large body once, so
    there is nothing to remember: a token that is revoked is worthless at once. A budget of bytes
    for everybody would let strangers use up what teams need; this way teams need none. At most as
    many questions are open as there are connections. `wake` is called after each answer.
    """

    def __init__(self, known: Known | None = None) -> None:
        self.wake: Callable[[], None] = lambda: None
        self._known = known or _looked_up
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="door")

    def ask(self, authorization: str, cookie: str) -> Future[bool]:
        """Whether these headers are somebody's; the answer comes later."""
        asked = self._threads.submit(self._known, authorization, cookie)
        asked.add_done_callback(self._tell)
        return asked

    def close(self) -> None:
        """Ask nobody any more."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _tell(self, asked: Future[bool]) -> None:
        if not asked.cancelled() and (error := asked.exception()) is not None:
            logger.error("nobody can be asked who sends a body: %s", type(error).__name__)
        self.wake()


def is_known(authorization: str, cookie: str) -> bool:
    """Whether a token of a person or a worker, or a session, works; nothing is written."""
    return _is_token(authorization) or _is_session(cookie)


def _looked_up(authorization: str, cookie: str) -> bool:
    """The same in a thread of ours, whose connection to the database Django does not look after."""
    from django.db import close_old_connections

    close_old_connections()
    try:
        return is_known(authorization, cookie)
    finally:
        close_old_connections()


def _is_token(authorization: str) -> bool:
    from tracecup.server.judging.workers import live_worker
    from tracecup.server.people.tokens import live_token

    scheme, _, secret = authorization.partition(" ")
    if scheme.lower() != "bearer":
        return False
    secret = secret.strip()
    return live_token(secret) is not None or live_worker(secret) is not None


def _is_session(cookie: str) -> bool:
    from django.conf import settings
    from django.contrib.auth import get_user
    from django.contrib.sessions.backends.db import SessionStore
    from django.http import HttpRequest, parse_cookie

    key = parse_cookie(cookie).get(settings.SESSION_COOKIE_NAME, "")
    if not key or "\0" in key:
        return False
    request = HttpRequest()
    request.session = SessionStore(key)
    return bool(get_user(request).is_authenticated)
