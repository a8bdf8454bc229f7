"""What a child process sets for itself before it begins: limits, and an end with its parent.

Limits are those of the operating system on who reads strangers' files, where there are such.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path
from threading import Thread

WAITS_ONLY = "waits-only"
"""Name of threads that hold no lock ever: a process in which all others are such can be forked."""


def limit_process(memory: int, seconds: int) -> None:
    """Let this process take `memory` bytes beside what it has, and `seconds` of processor time.

    It leaves no core file. Systems without such limits (Windows) have none.
    """
    try:
        import resource
    except ImportError:
        return
    for what, most in (
        (resource.RLIMIT_AS, address_space() + memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        # At the first limit of time comes SIGXCPU, which tells why; a little later the end.
        end = most + 5 if what == resource.RLIMIT_CPU else most
        with suppress(OSError, ValueError):  # who started it may have set a lower one
            resource.setrlimit(what, (most, end))


def address_space() -> int:
    """Bytes of address space that this process has already."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 1 << 30


def end_with_parent() -> None:
    """Kill this process as soon as the one that started it is gone, in whichever way it went.

    A parent that is killed tells nobody, and a pool's process would finish its job and then wait
    for the next one for ever.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)

    Thread(target=watch, name=WAITS_ONLY, daemon=True).start()
