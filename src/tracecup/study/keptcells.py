"""What a study keeps of a cell, one JSON file each: a run that was stopped goes on from there.

A file is named after a digest of all that it depends on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tracecup.safeio import atomic_write


def key_of(depends: Sequence[Any]) -> str:
    """A short key of what a cell depends on."""
    return hashlib.sha256(json.dumps(depends).encode()).hexdigest()[:16]


def read_cell(path: Path | None, part: str) -> dict[str, Any] | None:
    """What was kept, if it has that part; None where there is nothing or something else."""
    if path is not None:
        with suppress(OSError, ValueError):
            held = json.loads(path.read_text("utf-8"))
            if isinstance(held, dict) and isinstance(held.get(part), dict):
                return held
    return None


def write_cell(path: Path | None, held: object) -> None:
    """Keep a cell; without a path nothing is kept."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(json.dumps(held).encode())
