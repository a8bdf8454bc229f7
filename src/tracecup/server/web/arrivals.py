"""Files that have fully arrived and are not yet decided on: no phase is closed over them.

Notes are empty files in the server's folder, so that workers in other processes see them. A note
counts as long as the server that wrote it lives, however slow checks are; that of a server on
another machine, of which nobody knows, for a quarter of an hour.
"""

from __future__ import annotations

import os
import secrets
import time
from contextlib import suppress
from pathlib import Path

from tracecup.server.jobs.processes import is_alive

FOLDER = "arrived"
LONGEST_SECONDS = 900


def note(folder: Path) -> Path | None:
    """Note that a file has arrived now; None where that cannot be written. Remove it afterwards."""
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / f"{os.getpid()}-{secrets.token_hex(8)}@{os.uname().nodename}"
        path.touch(mode=0o600)
        return path
    return None


def is_awaited(folder: Path, seconds: float) -> bool:
    """Whether a file that arrived more than so many seconds ago is still to be decided on."""
    now = time.time()
    for path in folder.glob("*"):
        try:
            age = now - path.stat().st_mtime
        except FileNotFoundError:
            continue
        if not _lives(path.name, age):
            path.unlink(missing_ok=True)
        elif age > seconds:
            return True
    return False


def _lives(name: str, age: float) -> bool:
    """Whether the server that wrote a note runs; of another machine nobody knows."""
    told, _, machine = name.partition("@")
    pid = told.partition("-")[0]
    if machine != os.uname().nodename or not pid.isdigit():
        return bool(machine) and age <= LONGEST_SECONDS
    return is_alive(int(pid))
