"""What the studies of races share: a folder of cells, and teams made by an engine.

What is trained is kept beside what it scored; a file is used again for the same run only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from tracecup import __version__
from tracecup.jobs import all_done
from tracecup.safeio import atomic_write
from tracecup.study.context import Context, Team

Cell = dict[str, Any]
SECONDS = ("what", "seconds")
"""Columns of what a run took, cell by cell."""


class Folder:
    """Where a run keeps its cells: small JSON files, and models beside them."""

    def __init__(self, context: Context, study: str, size: object) -> None:
        """Without a folder of the context everything goes to a temporary one."""
        depends = [__version__, context.seed, repr(size)]
        digest = hashlib.sha256(json.dumps(depends).encode()).hexdigest()[:16]
        root = Path(mkdtemp(prefix=study)) if context.cells is None else context.cells / study
        self.path = root / digest
        self.path.mkdir(parents=True, exist_ok=True)

    def cell(self, name: str, make: Callable[[], Cell]) -> Cell:
        """The cell of that name, read or made."""
        path = self.path / f"{name}.json"
        with suppress(OSError, ValueError):
            held = json.loads(path.read_text("utf-8"))
            if isinstance(held, dict):
                return held
        return self.write(name, make())

    def has(self, name: str) -> bool:
        """Whether a cell of that name is there."""
        return (self.path / f"{name}.json").exists()

    def read(self, name: str) -> Cell:
        """A cell that is there."""
        found: Cell = json.loads((self.path / f"{name}.json").read_text("utf-8"))
        return found

    def write(self, name: str, cell: Cell) -> Cell:
        """Keep a cell; what comes back is what would be read."""
        with atomic_write(self.path / f"{name}.json") as file:
            file.write(json.dumps(cell).encode())
        return self.read(name)


def teams_from(context: Context, first: int, count: int, users: int) -> list[Team]:
    """Teams of the built-in city by number, made by the workers where there is an engine."""
    bare = context.travelling
    numbers = range(first, first + count)
    return all_done(
        context.executor, [partial(Context.long_team, bare, number, users) for number in numbers]
    )
