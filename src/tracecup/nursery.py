"""A small process that forks others on request: what it loaded, each of them has at once.

A copy of a process that has grown costs time and memory, one of a process with threads may hang;
a copy of this one costs a millisecond, whoever asks.
"""

from __future__ import annotations

import atexit
import faulthandler
import gc
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, NoReturn

BLOCK = 65_536
GONE = -signal.SIGKILL if hasattr(signal, "SIGKILL") else -9
"""How a child ended of which nobody can tell any more."""


@dataclass(frozen=True)
class Child:
    """A child at work: `data` is what it writes to descriptor 1, `words` what to 2."""

    data: IO[bytes]
    words: IO[bytes]
    wait: Callable[[], int]
    """Its exit code, as `os.waitstatus_to_exitcode` tells it, once it has ended."""


@contextmanager
def forked(work: Callable[[], int]) -> Iterator[Child]:
    """A copy of this very process that works and exits with what comes back; gone afterwards.

    No other thread may hold a lock: the copy would wait for it forever.
    """
    data, data_there = os.pipe()
    words, words_there = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(data_there, words_there, work)
    os.close(data_there)
    os.close(words_there)
    left = [pid]

    def wait() -> int:
        _, status = os.waitpid(left.pop(), 0)
        return os.waitstatus_to_exitcode(status)

    with os.fdopen(data, "rb") as batches, os.fdopen(words, "rb") as said:
        try:
            yield Child(batches, said, wait)
        finally:
            if left:
                os.kill(pid, signal.SIGKILL)
                wait()


def _become(data: int, words: int, work: Callable[[], int]) -> NoReturn:
    """What a child does after the fork."""
    faulthandler.disable()  # nobody is to read where a hostile file ended it
    os.dup2(data, 1)
    os.dup2(words, 2)
    os._exit(work())


class Nursery:
    """Children that do what `python -m module` says (see `serve`); started with the first of them.

    It ends with the process that asked first. A copy of that process has a nursery of its own.
    """

    def __init__(self, module: str) -> None:
        self._module = module
        self._lock = threading.Lock()
        self._owner = 0
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @contextmanager
    def child(self, asked: str) -> Iterator[Child]:
        """A child that was asked for something, in one line; it is gone afterwards."""
        data, data_there = os.pipe()
        words, words_there = os.pipe()
        here, there = socket.socketpair()
        with here, os.fdopen(data, "rb") as batches, os.fdopen(words, "rb") as said:
            try:
                self._send(asked, here, [data_there, words_there, there.fileno()])
            finally:
                os.close(data_there)
                os.close(words_there)
                there.close()
            yield Child(batches, said, lambda: _code(here))

    def end(self) -> None:
        """End it; the next child starts it again."""
        with self._lock:
            self._end()

    def _send(self, asked: str, here: socket.socket, ends: list[int]) -> None:
        here.sendall(asked.encode() + b"\n")
        with self._lock:
            for again in (True, False):
                try:
                    socket.send_fds(self._running(), [b"x"], ends)
                except OSError:  # somebody killed it
                    self._end()
                    if not again:
                        raise
                else:
                    return

    def _running(self) -> socket.socket:
        if self._control is None or self._owner != os.getpid():
            here, there = socket.socketpair()
            with there:
                command = [sys.executable, "-m", self._module, "--nursery", str(there.fileno())]
                self._process = subprocess.Popen(
                    command,
                    pass_fds=[there.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                )
            self._control, self._owner = here, os.getpid()
            atexit.register(self.end)
        return self._control

    def _end(self) -> None:
        control, process = self._control, self._process
        self._control = self._process = None
        if control is not None:
            control.close()
        if process is not None and self._owner == os.getpid():
            process.wait()
        atexit.unregister(self.end)


def serve(control: int, work: Callable[[str], int]) -> None:
    """Be a nursery until nobody holds the other end of `control`.

    Every message on it is one byte with three descriptors: where a child's 1 and 2 go, and a socket
    on which it is asked and its exit code is told. `work` is what a child does; it exits with the
    number that comes back. A child whose socket is closed is killed.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asked is interrupted, and ends us
    gc.freeze()
    held = _Held(socket.socket(fileno=control), work)
    while held.step():
        pass


class _Held:
    """A nursery from within: what it listens to, and the children that it has."""

    def __init__(self, control: socket.socket, work: Callable[[str], int]) -> None:
        self._control, self._work = control, work
        self._selector = selectors.DefaultSelector()
        self._selector.register(control, selectors.EVENT_READ, None)

    def step(self) -> bool:
        """Wait for something and do it; whether there is more to come."""
        for key, _ in self._selector.select():
            if key.data is None:
                if not self._new():
                    return False
            elif self._selector.get_map().get(key.fd) == key:  # neither gone nor a later child's
                key.data.end(self._selector)
        return True

    def _new(self) -> bool:
        ends: list[int] = []
        with suppress(ConnectionError):
            ends = socket.recv_fds(self._control, 1, 3)[1]
        if not ends:
            for key in [one for one in self._selector.get_map().values() if one.data is not None]:
                with suppress(ProcessLookupError):
                    os.kill(key.data.pid, signal.SIGKILL)
            return False
        data, words, line = ends
        told = socket.socket(fileno=line)
        asked = bytearray()
        while not asked.endswith(b"\n"):
            asked += told.recv(BLOCK) or b"\n"
        alive, alive_there = os.pipe()
        pid = os.fork()
        if pid == 0:
            for key in self._selector.get_map().values():
                os.close(key.fd)  # the lines of others are theirs
            _become(data, words, lambda: self._work(asked.decode()))
        for end in (data, words, alive_there):
            os.close(end)
        one = _Raised(pid, told, alive)
        self._selector.register(told, selectors.EVENT_READ, one)
        self._selector.register(alive, selectors.EVENT_READ, one)
        return True


@dataclass(frozen=True)
class _Raised:
    """A child: `alive` ends when it does, `told` when nobody wants it any more."""

    pid: int
    told: socket.socket
    alive: int

    def end(self, selector: selectors.BaseSelector) -> None:
        """Tell how it ended; one that nobody wants is killed, of one that is dead nothing is."""
        selector.unregister(self.told)
        selector.unregister(self.alive)
        if _is_over(self.told):
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        with self.told, suppress(OSError):
            self.told.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
        os.close(self.alive)


def _is_over(line: socket.socket) -> bool:
    try:
        return line.recv(1, socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def _code(line: socket.socket) -> int:
    found = b""
    with suppress(OSError):
        while not found.endswith(b"\n") and (part := line.recv(BLOCK)):
            found += part
    return int(found) if found else GONE
