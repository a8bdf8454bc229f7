"""A study on a machine that shares nothing with ours: data and cells travel there, results back.

A long one comes back from time to time with the cells it has, so that little is lost with a worker.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tracecup.errors import InvalidParameter
from tracecup.safeio import atomic_write
from tracecup.study.context import FILES, Context
from tracecup.study.reproduce import Record, Study, run_study

SECONDS = 300.0
"""After so long a study comes back at its next step, to be sent again with its cells."""

MOST_BYTES = 512 << 20
CHECK_INS = ("fig16", "fig17")
"""The studies that read the raw check-ins, which are large; the others go without them."""

CELLS_OF = {"bounds": "strength"}
"""Whose cells a study works with, if not its own."""

Files = Mapping[str, bytes]


class _Enough(Exception):
    """The time of this stay is over."""


@dataclass(frozen=True, eq=False)
class Stay:
    """What comes back: the record where the study is done, its share done, new cells by name."""

    record: Record | None
    part: float
    cells: Files


def job_of(one: Study, context: Context, seconds: float = SECONDS) -> Callable[[], Stay]:
    """A study as a job that needs no folder of ours; its data must not exceed 512 MiB."""
    wanted = [name for need in FILES.values() for name in need]
    if one.id in CHECK_INS and context.foursquare and context.data:
        wanted += [path.relative_to(context.data).as_posix() for path in context.foursquare]
    data = None if context.data is None else _read(context.data, wanted, one.id)
    cells = {}
    if context.cells is not None:
        own = f"{CELLS_OF.get(one.id, one.id)}/"
        names = [name for name in _inside(context.cells) if name.startswith(own)]
        cells = _read(context.cells, names, one.id)
    bare = replace(context, data=None, cells=None, tell=None)
    return partial(stay, one, bare, data, cells, seconds)


def stay(
    one: Study, context: Context, data: Files | None, cells: Files, seconds: float = SECONDS
) -> Stay:
    """Run a study in a folder of its own until it is done or its time is over.

    It can only stop between two steps that it tells of, and has kept what came before them; the
    next stay begins with that, and so gets further by at least one step.
    """
    with TemporaryDirectory(prefix="tracecup-") as name:
        root, ends, part = Path(name), time.monotonic() + seconds, 0.0
        _write(root / "data", data or {})
        kept = root / "cells"
        _write(kept, cells)

        def tell(done: float, total: float) -> None:
            nonlocal part
            part = done / max(total, 1.0)
            if time.monotonic() > ends and _new(kept, cells):
                raise _Enough

        here = replace(context, data=None if data is None else root / "data", cells=kept, tell=tell)
        try:
            return Stay(run_study(one, here), 1.0, _new(kept, cells))
        except _Enough:
            return Stay(None, part, _new(kept, cells))


def unpack(back: Stay, folder: Path) -> None:
    """Keep the cells that came back in the folder of all cells."""
    _write(folder, back.cells)


def _new(folder: Path, known: Files) -> dict[str, bytes]:
    held = {name: (folder / name).read_bytes() for name in _inside(folder)}
    return {name: content for name, content in held.items() if known.get(name) != content}


def _inside(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def _read(folder: Path, names: list[str], study: str) -> dict[str, bytes]:
    there = [name for name in names if (folder / name).is_file()]
    size = sum((folder / name).stat().st_size for name in there)
    if size > MOST_BYTES:
        raise InvalidParameter(
            f"{study} would carry {size >> 20} MiB of {folder} to a worker, at most "
            f"{MOST_BYTES >> 20} travel; give --shared where workers reach the folder themselves"
        )
    return {name: (folder / name).read_bytes() for name in there}


def _write(folder: Path, files: Files) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(content)
