"""Whole traces from Parquet files of any length: read once, row group by row group.

Where they are large they lie in files of this process; see `tracecup.scratch`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from tracecup import safeio, scratch
from tracecup.city import Clock
from tracecup.errors import InvalidFile, Problem
from tracecup.parquetfiles import Batches, decoded
from tracecup.safeio import LARGE_LIMITS
from tracecup.traces.parquet import parquet_layout
from tracecup.traces.rowgroups import Path, Rows, parquet_rows, read_rows
from tracecup.traces.settraces import SetTraces
from tracecup.traces.traces import Traces


def is_large(path: Path) -> bool:
    """Whether a file is Parquet with more rows than the usual readers take into memory."""
    parquet = safeio.magic_of(path) == safeio.PARQUET_MAGIC
    return parquet and parquet_rows(path) > safeio.DEFAULT_LIMITS.max_rows


def are_large(*paths: Path) -> bool:
    """Whether any of some files is large; all of them have to be Parquet then."""
    large = [path for path in paths if is_large(path)]
    for path in paths if large else ():
        if safeio.magic_of(path) != safeio.PARQUET_MAGIC:
            way = f"Parquet, since {large[0]} is read in parts: `tracecup convert IN OUT.parquet`"
            raise InvalidFile(path, [Problem(0, "", "text", way)])
    return bool(large)


def users_of(path: Path, clock: Clock) -> int:
    """The users of a Parquet file of cells, which has a row for every event of everybody."""
    return parquet_rows(path) // clock.times


def largest_cell(path: Path) -> int:
    """Regions in the largest cell of a Parquet file, 1 where it has no lists; O(rows)."""

    def look(file: Batches) -> int:
        import pyarrow.compute as pc

        lengths = (pc.max(pc.list_value_length(batch.column(-1))).as_py() for batch in file)
        return max((length or 0 for length in lengths), default=0)

    _, listed = parquet_layout(path, LARGE_LIMITS)
    return decoded(path, LARGE_LIMITS, look) if listed else 1


def read_large_traces(
    path: Path,
    kind: Literal["reference", "original"],
    *,
    n_regions: int,
    clock: Clock,
    users: int,
) -> Traces:
    """Reference or original traces of `users` users; rows may be missing, -1 is not observed.

    O(rows) time; memory for a batch, and 4 bytes an event in memory or in a file.
    """

    def fill(m: int, groups: Iterator[Rows]) -> Traces:
        regions = scratch.filled((m, clock.times), -1, np.int32)
        for rows in groups:
            regions[rows.user, rows.event] = rows.regions
        return Traces(regions, np.arange(1, m + 1), clock)

    return read_rows(path, kind, n_regions, clock, fill, users=users)


def read_large_cells(
    path: Path,
    kind: Literal["released", "obfuscated"],
    *,
    n_regions: int,
    clock: Clock,
    users: int | None = None,
) -> SetTraces:
    """Cells of any size, before or after the shuffle.

    The file is read twice, since the size of all cells is known only at its end. O(rows) time;
    8 bytes a cell and 4 a region in memory or in files.
    """

    def measure(m: int, groups: Iterator[Rows]) -> int:
        return sum(len(rows.regions) for rows in groups)

    def fill(m: int, groups: Iterator[Rows]) -> SetTraces:
        offsets = scratch.empty(m * clock.times + 1, np.int64)
        regions = scratch.empty(total, np.int32)
        offsets[0] = cell = at = 0
        for rows in groups:
            n = len(rows.sizes)
            offsets[cell + 1 : cell + n + 1] = at + np.cumsum(rows.sizes, dtype=np.int64)
            regions[at : at + len(rows.regions)] = rows.regions
            cell, at = cell + n, at + len(rows.regions)
        first = m + 1 if kind == "released" else 1
        return SetTraces(offsets, regions, np.arange(first, first + m), clock)

    total = read_rows(path, kind, n_regions, clock, measure, users=users, most=n_regions)
    return read_rows(path, kind, n_regions, clock, fill, users=users, most=n_regions)
