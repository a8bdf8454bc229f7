"""Limits of the operating system on a process that reads strangers' files, where there are such.

To be called in the child itself, before it begins.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


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
