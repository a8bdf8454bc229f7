"""The web server: waitress, which notes when each body had fully arrived and keeps strangers short.

Bodies are received by one thread and spooled to disk, so slow clients hold no worker; uploads have
workers of their own, so pages answer while files are checked.
"""

from __future__ import annotations

import errno
import logging
import os
import socket
import sys
import threading
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import MultiSocketServer, TcpWSGIServer
from waitress.utilities import BadRequest, Error, RequestEntityTooLarge

from tracecup.safeio import MIB
from tracecup.server import clock
from tracecup.server.web import arrivals
from tracecup.server.web.answering import ARRIVAL, RefusalTask, StampedTask
from tracecup.server.web.door import Away, Door, Known, Stranger, nobody
from tracecup.server.web.formfiles import FormSpool, boundary_of
from tracecup.server.web.incoming import Spool
from tracecup.server.web.turns import Lanes, Whose, is_file, unknown

if TYPE_CHECKING:
    from concurrent.futures import Future

    from django.http import HttpRequest

    from tracecup.server.models import Contest

UPLOAD_THREADS = 4
CONNECTIONS = 400
OPEN_FILES = 4096
SMALL_BODY = 2 * MIB
MAX_HEADER = 64 * 1024
MAX_CHUNK_LINE = 4096
RECEIVE_BLOCK = 64 * 1024
CONNECTIONS_OF_ADDRESS = 100  # a class behind one address has some browsers
SILENT_SECONDS = 10
IDLE_SECONDS = 30
HEADER_SECONDS = 10
BODY_SECONDS = 60
BODY_RATE = 1024  # bytes a second that a body must make on average after BODY_SECONDS
DRAIN_SECONDS = 10
CLEANUP_SECONDS = 5


def make_server(
    application: Any,
    host: str,
    port: int,
    threads: int = 8,
    max_body: int = 1024 * MIB,
    *,
    folder: Path,
    proxied: bool,
    arrived: Path | None = None,
    known: Known = nobody,
    whose: Whose = unknown,
) -> Server:
    """A server that listens; `run()` serves until SystemExit, `close()` ends it.

    `max_body` limits every body, chunked ones too. Bodies that are no files (forms, JSON) and
    those of strangers are held to `SMALL_BODY`: who sends more shows a token or a session that is
    `known`, which is looked up while the first part arrives. Bodies lie in `folder` while they
    arrive. `proxied` trusts the X-Forwarded headers of a reverse proxy. `arrived` is the folder of
    `arrivals`. `whose` tells the owner of a file from its headers and path: owners take turns.
    """
    # A busy upload lane is our intention and no news.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    _raise_file_limit()
    trusted: dict[str, Any] = {}
    if proxied:
        headers = {"x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"}
        trusted = {"trusted_proxy": "*", "trusted_proxy_headers": headers}
    adjustments = Adjustments(
        host=host,
        port=port,
        threads=threads,
        ident="tracecup",
        # Our own parser says no, earlier and in our words.
        max_request_body_size=sys.maxsize,
        max_request_header_size=MAX_HEADER,
        recv_bytes=RECEIVE_BLOCK,
        connection_limit=CONNECTIONS,
        cleanup_interval=CLEANUP_SECONDS,
        log_socket_errors=False,
        **trusted,
    )
    adjustments.max_body, adjustments.spool_folder = max_body, folder
    adjustments.arrived_folder = arrived
    adjustments.door = Door(known)
    lanes = Lanes(threads, UPLOAD_THREADS, whose)
    adjustments.per_address = 0 if proxied else CONNECTIONS_OF_ADDRESS
    sockets: dict[int, Any] = {}
    listening = [
        _Listener(application, sockets, dispatcher=lanes, adj=adjustments, sockinfo=address)
        for address in adjustments.listen
    ]
    at = [(one.effective_host, one.effective_port) for one in listening]
    made = Server(sockets, adjustments, at, lanes, listening[-1].log_info)
    adjustments.door.wake = made.wake
    return made


def arrived(request: HttpRequest, contest: Contest) -> datetime:
    """When the body of a request had fully arrived, on the contest's clock."""
    return clock.arrival(contest, request.META.get(ARRIVAL))


class Server(MultiSocketServer):
    """All sockets of one server, with one crew of workers."""

    _stopped = False

    def run(self) -> None:
        """Serve until `stop()` is called or the process is told to end."""
        try:
            while self.map and not self._stopped:
                wasyncore.loop(
                    timeout=self.adj.asyncore_loop_timeout, use_poll=True, map=self.map, count=1
                )
        except (SystemExit, KeyboardInterrupt):
            pass
        finally:
            self.close()

    def stop(self) -> None:
        """End `run()`, from another thread."""
        self._stopped = True
        self.wake()

    def wake(self) -> None:
        """Have the loop look at all connections, from another thread."""
        for one in self.listeners():
            one.pull_trigger()

    def close(self) -> None:
        """Hear nobody any more, let the workers finish as far as they do in time, hang up."""
        for one in self.listeners():
            one.close()
        self.adj.door.close()
        super().close()

    def listeners(self) -> list[_Listener]:
        """The sockets that hear new connections."""
        return [one for one in list(self.map.values()) if isinstance(one, _Listener)]

    @property
    def port(self) -> int:
        """The port it listens at; useful where port 0 asked for any."""
        return int(self.effective_listen[0][1])


class _DiskFull(Error):
    code, reason = 507, "Insufficient Storage"


class _Parser(HTTPRequestParser):
    """Collects a request; knows when it was complete, and stops early what is too much."""

    received_at: float | None = None
    noted: Path | None = None
    verdict: Future[bool] | None = None

    def __init__(self, adj: Any) -> None:
        super().__init__(adj)
        self.began = time.monotonic()

    def received(self, data: bytes) -> int:
        """Take what arrived; returns how much of it belongs to this request."""
        try:
            consumed: int = super().received(data)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            self._stop(_DiskFull("the disk is full"))
            return len(data)
        if self.error is None and self._too_much():
            return len(data)
        if self.completed and self.received_at is None:
            self.received_at = time.monotonic()
            if self.adj.arrived_folder is not None and is_file(self):
                self.noted = arrivals.note(self.adj.arrived_folder)
        return consumed

    def close(self) -> None:
        """The request is answered, or nobody wants an answer."""
        super().close()
        if self.noted is not None:
            with suppress(OSError):
                self.noted.unlink(missing_ok=True)

    def parse_header(self, header_plus: bytes) -> None:
        """As the parent does; then the body goes to our folder, and who sends a large one is asked.

        What is within the limit of strangers needs no question: the application asks anyway.
        """
        super().parse_header(header_plus)
        if self.body_rcv is None:
            return
        boundary, folder = boundary_of(self.headers.get("CONTENT_TYPE", "")), self.adj.spool_folder
        self.body_rcv.buf = FormSpool(folder, boundary) if boundary else Spool(folder)
        shown = self.headers.get("AUTHORIZATION", ""), self.headers.get("COOKIE", "")
        if any(shown) and is_file(self) and (self.chunked or self.content_length > SMALL_BODY):
            self.verdict = self.adj.door.ask(*shown)

    @property
    def limit(self) -> int:
        """The largest body of this request; a file's, until it is known that a stranger sends."""
        most: int = self.adj.max_body
        return most if self.verdict is not None else min(SMALL_BODY, most)

    @property
    def is_waiting(self) -> bool:
        """Whether nothing more is read before it is known who sends."""
        verdict, got = self.verdict, self.body_bytes_received
        return verdict is not None and got >= SMALL_BODY and not verdict.done()

    def is_slow(self, now: float) -> bool:
        """Whether the rest of this request is not worth waiting for."""
        waited = now - self.began
        if not self.headers_finished:
            return waited > HEADER_SECONDS
        too_slow = self.body_bytes_received < BODY_RATE * waited
        return waited > BODY_SECONDS and (too_slow or self.is_waiting)

    def _too_much(self) -> bool:
        body = self.body_rcv
        size = max(self.content_length, self.body_bytes_received)
        if size > self.limit:
            self._stop(RequestEntityTooLarge(str(self.limit)))
        elif size > SMALL_BODY and self.verdict is not None and self.verdict.done():
            if self.verdict.exception() is not None:
                self._stop(Away("nobody can be asked who this is"))
            elif not self.verdict.result():
                self._stop(Stranger("nobody knows this token or session"))
        elif self.chunked and body is not None and len(body.control_line) > MAX_CHUNK_LINE:
            self._stop(BadRequest("a line between chunks is too long"))
        elif self.chunked and body is not None and len(body.trailer) > MAX_HEADER:
            self._stop(BadRequest("the trailer is too long"))
        return self.error is not None

    def _stop(self, error: Error) -> None:
        # Without a word to go on: who asked for "100 Continue" gets the error instead.
        self.error, self.completed, self.expect_continue = error, True, False
        self.close()


class _Channel(HTTPChannel):
    """A connection; reads on for a while after a refusal, so that the client sees the answer."""

    task_class = StampedTask
    error_task_class = RefusalTask
    parser_class = _Parser
    close_when_flushed: bool = False
    refused = False
    spoke = False
    drain_until: float | None = None

    def received(self, data: bytes) -> bool:
        """Take what arrived."""
        self.spoke = True
        taken: bool = super().received(data)
        self.refused = self.refused or any(one.error for one in list(self.requests))
        return taken

    def readable(self) -> bool:
        """Whether something may come."""
        if self.request is not None and self.request.is_waiting:
            return False
        return self.drain_until is not None or bool(super().readable())

    def writable(self) -> bool:
        """Whether something is to be sent, or the connection to be closed."""
        return bool(self.will_close if self.drain_until is not None else super().writable())

    def handle_read(self) -> None:
        """Read what came; after a refusal it goes nowhere."""
        if self.drain_until is None:
            super().handle_read()
        elif time.monotonic() > self.drain_until:
            self.handle_close()
        else:
            with suppress(OSError):
                self.recv(4 * RECEIVE_BLOCK)

    def handle_write(self) -> None:
        """Send; a refusal is followed by the end of our side only."""
        if not (self.refused and self.close_when_flushed):
            super().handle_write()
            return
        self._flush_exception(self._flush_some)
        if self.will_close or not self.connected:
            self.handle_close()
        elif not self.total_outbufs_len:
            # Closing with unread data would throw our answer away on its way to the client.
            self.close_when_flushed, self.drain_until = False, time.monotonic() + DRAIN_SECONDS
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)

    @property
    def is_idle(self) -> bool:
        """Whether nothing of it is being received, worked on or sent."""
        return self.request is None and not self.requests and not self.total_outbufs_len

    def is_over(self, now: float) -> bool:
        """Whether nobody should wait for this connection any longer."""
        if self.drain_until is not None:
            return now > self.drain_until
        if self.is_idle:
            quiet = time.time() - self.last_activity
            return quiet > (IDLE_SECONDS if self.spoke else SILENT_SECONDS)
        return self.request is not None and not self.requests and self.request.is_slow(now)


class _Listener(TcpWSGIServer):
    """A listening socket; the pipe that wakes its loop is not written to once it is closed.

    Workers wake the loop from their own threads. A descriptor that was closed a moment ago may
    already be another file's.
    """

    channel_class = _Channel
    is_closed = False

    def __init__(self, *args: Any, **options: Any) -> None:
        self._waking = threading.Lock()
        super().__init__(*args, **options)

    def pull_trigger(self) -> None:
        """Wake the loop, where it still runs."""
        with self._waking:
            if not self.is_closed:
                super().pull_trigger()

    def close(self) -> None:
        """Close the socket and the pipe."""
        with self._waking:
            self.is_closed = True
            super().close()

    def handle_accept(self) -> None:
        """Take a connection; one too many of an address takes the place of its oldest idle one."""
        before = set(self.active_channels.values())
        super().handle_accept()
        for channel in set(self.active_channels.values()) - before:
            self._make_room(channel)

    def _make_room(self, new: _Channel) -> None:
        most: int = self.adj.per_address
        of_address = [
            one for one in list(self.active_channels.values()) if one.addr[0] == new.addr[0]
        ]
        if not most or len(of_address) <= most:
            return
        idle = [one for one in of_address if one is not new and one.is_idle]
        victim = min(idle, key=lambda one: one.last_activity) if idle else new
        victim.handle_close()

    def maintenance(self, now: float) -> None:
        """Close connections without activity and those that trickle."""
        super().maintenance(now)
        for channel in list(self.active_channels.values()):
            if channel.is_over(time.monotonic()):
                channel.will_close = True


def _raise_file_limit() -> None:
    """A connection may need three open files; the usual limit of 1024 is for few of them."""
    if os.name != "posix":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
