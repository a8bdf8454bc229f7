"""How much memory a piece of work takes at its peak, above what was in use before it.

Read from the operating system while the work runs; nothing where the system does not tell.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

STATM = Path("/proc/self/statm")
EVERY_SECONDS = 0.02
MEGABYTE = 1e6


@dataclass
class Peak:
    """`megabytes` is None where the system does not tell."""

    megabytes: float | None = None


@contextmanager
def watched() -> Iterator[Peak]:
    """Look at the memory of this process every 20 ms until the block ends.

    >>> with watched() as peak:
    ...     held = bytearray(10)
    >>> peak.megabytes is None or peak.megabytes >= 0
    True
    """
    peak, before = Peak(), _resident()
    if before is None:
        yield peak
        return
    done, highest = threading.Event(), [before]

    def look() -> None:
        while not done.wait(EVERY_SECONDS):
            highest[0] = max(highest[0], _resident() or 0)

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        done.set()
        watcher.join()
        highest[0] = max(highest[0], _resident() or 0)
        peak.megabytes = (highest[0] - before) / MEGABYTE


def _resident() -> int | None:
    """Bytes of this process in memory."""
    try:
        return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None
