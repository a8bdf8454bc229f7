"""Jobs for the tests of engines: they answer, refuse, or end the process that runs them."""

from __future__ import annotations

import os
import signal

from tracecup.errors import InvalidParameter


def dies_once(marker: str) -> int:
    """Ends its process the first time."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return os.getpid()
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def always_dies() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def refuses(what: str) -> None:
    raise InvalidParameter(what)
