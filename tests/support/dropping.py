"""A way to a server that breaks: hands bytes on in both directions and hangs up where it is told.

Every request of the client has a connection of its own, so that its first bytes say what it is.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

BLOCK = 1024
ABORT = struct.pack("ii", 1, 0)  # linger for no time: the other side sees a reset


@dataclass
class Drop:
    """Hang up once when a request that begins so has passed this many bytes up or down."""

    begins: bytes
    direction: str
    after: int


@dataclass
class DroppingWay:
    """The proxy; `requests` are the first lines and `Range` headers of what came by."""

    port: int = 0
    drops: list[Drop] = field(default_factory=list)
    dropped: list[Drop] = field(default_factory=list)
    requests: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def drop(self, begins: str, *, up: int | None = None, down: int | None = None) -> None:
        """Plan a break: after `up` bytes of the request or `down` bytes of its answer."""
        direction, after = ("up", up) if up is not None else ("down", down)
        assert after is not None
        self.drops.append(Drop(begins.encode(), direction, after))


@contextlib.contextmanager
def dropping_way(to_port: int) -> Iterator[DroppingWay]:
    """A proxy on a port of its own to a port of this machine."""
    way, ended = DroppingWay(), threading.Event()
    listening = socket.create_server(("127.0.0.1", 0))
    way.port = listening.getsockname()[1]
    crew: list[threading.Thread] = []

    def accept() -> None:
        while True:
            near, _ = listening.accept()
            if ended.is_set():
                near.close()
                return
            carrying = threading.Thread(target=_carry, args=(way, near, to_port), daemon=True)
            crew.append(carrying)
            carrying.start()

    door = threading.Thread(target=accept, daemon=True)
    door.start()
    try:
        yield way
    finally:
        ended.set()
        socket.create_connection(("127.0.0.1", way.port)).close()
        for one in (door, *crew):
            one.join(60)
        listening.close()
    assert not any(one.is_alive() for one in crew), "a connection does not end"


def _carry(way: DroppingWay, near: socket.socket, to_port: int) -> None:
    far = socket.create_connection(("127.0.0.1", to_port))
    first = near.recv(BLOCK)
    way.requests.append(first.partition(b"\r\n\r\n")[0])
    planned = next((one for one in way.drops if first.startswith(one.begins)), None)
    if planned:
        way.drops.remove(planned)
    back = threading.Thread(target=_pump, args=(way, far, near, planned, "down", b""), daemon=True)
    back.start()
    _pump(way, near, far, planned, "up", first)
    back.join()
    for one in (near, far):
        one.close()


def _pump(
    way: DroppingWay,
    source: socket.socket,
    sink: socket.socket,
    planned: Drop | None,
    direction: str,
    block: bytes,
) -> None:
    """Hand on until the end, or until what was planned for this direction has passed."""
    left = planned.after if planned and planned.direction == direction else None
    with contextlib.suppress(OSError):
        while block := block or source.recv(BLOCK):
            if left is not None and len(block) >= left:
                sink.sendall(block[:left])
                way.dropped.append(planned)
                for one in (source, sink):
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
                    one.shutdown(socket.SHUT_RDWR)
                return
            sink.sendall(block)
            left = None if left is None else left - len(block)
            block = b""
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)
