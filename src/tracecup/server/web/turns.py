"""Files in turn: one of a team is worked on at a time, and teams take turns.

Who sends a hundred files waits for her own; nobody else waits for them.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import Any

from waitress.task import ThreadedTaskDispatcher
from waitress.utilities import Error

MOST_WAITING = 64
"""Files of one team that may wait at once; the client sends them one by one."""

FORMS = ("", "application/json", "application/x-www-form-urlencoded")
Whose = Callable[[str, str, str], str]
"""Whose a request is, by its `Authorization`, `Cookie` and path; "" where nobody knows."""

logger = logging.getLogger(__name__)


class Crowded(Error):
    """Too many files of one team wait already."""

    code, reason = 429, "Too Many Requests"


class Turns(ThreadedTaskDispatcher):
    """A crew of workers for requests that have an owner.

    A request is first asked whose it is, by a worker, since that needs the database; then it waits
    in the line of its owner. Of each line one is served at a time, and lines take turns: with `n`
    owners who wait and `w` workers, the first request of an owner waits for at most n / w others.
    """

    def __init__(self, whose: Whose) -> None:
        super().__init__()
        self._whose = whose
        self._lines: dict[str, deque[Any]] = {}
        self._order: deque[str] = deque()
        self._busy: set[str] = set()

    def handler_thread(self, thread_no: int) -> None:
        """What a worker does until it is told to stop."""
        while True:
            with self.lock:
                while not (self.queue or self._order) and self.stop_count == 0:
                    self.active_count -= 1
                    self.queue_cv.wait()
                    self.active_count += 1
                if self.stop_count > 0:
                    self.active_count -= 1
                    self.stop_count -= 1
                    self.threads.discard(thread_no)
                    self.thread_exit_cv.notify()
                    return
                channel = self.queue.popleft() if self.queue else None
                owner = "" if channel is not None else self._order.popleft()
                if channel is None:
                    waiting = self._lines[owner].popleft()
                    self._busy.add(owner)
            if channel is not None:
                self._line_up(channel)
            else:
                self._serve(owner, waiting)

    def shutdown(self, cancel_pending: bool = True, timeout: float = 5) -> bool:
        """Let the workers finish as far as they do in time; who waits is hung up."""
        self.set_thread_count(0)
        with self.lock:
            for line in self._lines.values():
                self.queue.extend(line)
            self._lines.clear()
            self._order.clear()
        return bool(super().shutdown(cancel_pending, timeout))

    def _line_up(self, channel: Any) -> None:
        """Put a request at the end of its owner's line."""
        owner = ""
        try:
            owner = _owner(channel, self._whose)
        except Exception:
            logger.exception("nobody can be asked whose a file is")
        owner = owner or f"address:{channel.addr[0]}"
        with self.lock:
            line = self._lines.setdefault(owner, deque())
            if len(line) < MOST_WAITING:
                line.append(channel)
                if len(line) == 1 and owner not in self._busy:
                    self._order.append(owner)
                self.queue_cv.notify()
                return
        if channel.requests:
            channel.requests[0].error = Crowded("too many files of one team")
        self._run(channel)

    def _serve(self, owner: str, channel: Any) -> None:
        try:
            self._run(channel)
        finally:
            with self.lock:
                self._busy.discard(owner)
                if self._lines.get(owner):
                    self._order.append(owner)
                    self.queue_cv.notify()
                else:
                    self._lines.pop(owner, None)

    def _run(self, channel: Any) -> None:
        try:
            channel.service()
        except BaseException:
            self.logger.exception("Exception when servicing %r", channel)


class Lanes:
    """Two crews of workers: one for files that come in, in turn, one for everything else."""

    def __init__(self, pages: int, uploads: int, whose: Whose) -> None:
        self.pages = ThreadedTaskDispatcher()
        self.uploads = Turns(whose)
        self.pages.set_thread_count(pages)
        self.uploads.set_thread_count(uploads)

    def add_task(self, channel: Any) -> None:
        """Give the first request of a channel to its crew."""
        (self.uploads if is_file(channel.requests[0]) else self.pages).add_task(channel)

    def shutdown(self, cancel_pending: bool = True, timeout: float = 5) -> bool:
        """Let both crews finish, as far as they do in time."""
        ends = [lane.shutdown(cancel_pending, timeout) for lane in (self.pages, self.uploads)]
        return all(ends)


def unknown(_authorization: str, _cookie: str, _path: str) -> str:
    """Nobody knows whose a file is: senders are told apart by their addresses."""
    return ""


def _owner(channel: Any, whose: Whose) -> str:
    """Whose the first request of a channel is."""
    request = channel.requests[0]
    headers = request.headers
    return whose(headers.get("AUTHORIZATION", ""), headers.get("COOKIE", ""), request.path)


def is_file(request: Any) -> bool:
    """Whether a request brings a file: a body that is neither a form nor JSON."""
    if request.error is not None or request.command not in ("POST", "PUT", "PATCH"):
        return False
    return request.headers.get("CONTENT_TYPE", "").partition(";")[0].strip().lower() not in FORMS
