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


def nobody(_authorization: str, _cookie: str) -> bool:
    """Nobody is known: all bodies are held to what strangers may send."""
    return False


class Door:
    """Asks threads of its own who sends something; the thread that receives bodies never waits.

    One look at an index of the database takes about a millisecond, for each large body once, so
    there is nothing to remember: a token that is revoked is worthless at once. A budget of bytes
    for everybody would let strangers use up what teams need; this way teams need none. At most as
    many questions are open as there are connections. `wake` is called after each answer.
    """

    def __init__(self, known: Known) -> None:
        self.wake: Callable[[], None] = lambda: None
        self._known = known
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
