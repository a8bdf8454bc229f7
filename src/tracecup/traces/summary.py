"""Checking a trace file and telling in a few numbers what is in it.

What `tracecup validate` prints.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike

import numpy as np

from tracecup.city.clock import Clock
from tracecup.errors import InvalidFile, InvalidParameter, Problem
from tracecup.safeio import DEFAULT_LIMITS, Limits
from tracecup.traces.files import (
    Kind,
    cell_columns,
    read_id_table,
    read_inferred_table,
    read_released,
    read_traces,
)


@dataclass(frozen=True)
class Summary:
    """What a valid file holds; `users` and `times` are None where the file cannot tell."""

    kind: str
    rows: int
    users: int | None
    times: int | None
    single: int
    generalised: int
    deleted: int
    regions: int


def summarise(
    path: str | PathLike[str],
    kind: Kind,
    *,
    n_regions: int | None = None,
    users: int | None = None,
    times: int | None = None,
    clock: Clock | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Summary:
    """Read a file as `kind` with all its checks; raises `InvalidFile` if it is not valid.

    `users`, `times` and `clock` are what the caller knows of the sizes. One-column files carry no
    sizes: without both `users` and `times` only their cells are checked.
    """
    for name, given in (("users", users), ("times", times), ("regions", n_regions)):
        if given is not None and given < 1:
            raise InvalidParameter(f"{name} must be at least 1, got {given}")
    if clock and times and clock.times != times:
        raise InvalidParameter(f"the clock has {clock.times} times, not {times}")
    times = clock.times if clock else times
    if kind == "reference" or kind == "original":  # noqa: PLR1714  # narrows the type
        traces = read_traces(
            path, kind, n_regions=n_regions, clock=clock, users=users, limits=limits
        )
        _check_times(path, traces.times, times)
        seen = len(np.unique(traces.regions))
        return Summary(kind, traces.regions.size, *traces.shape, traces.regions.size, 0, 0, seen)
    if kind == "released":
        released = read_released(path, n_regions=n_regions, clock=clock, users=users, limits=limits)
        _check_times(path, released.times, times)
        return _cells(kind, *released.shape, released.sizes.ravel(), released.regions)
    if kind in ("id-table", "inferred-table"):
        if kind == "id-table":
            m = len(read_id_table(path, users=users, limits=limits))
        else:
            m = users or cell_columns(path, kind, limits=limits).rows
            read_inferred_table(path, users=m, limits=limits)
        return Summary(kind, m, m, None, m, 0, 0, 0)
    rows = users * times if users and times else None
    columns = cell_columns(path, kind, n_regions=n_regions, rows=rows, limits=limits)
    if columns.rows == 0:
        raise InvalidFile(path, [Problem(0, "", "no rows", "one row for every user and time")])
    return _cells(kind, users, times, np.diff(columns.offsets), columns.ids, columns.rows)


def _cells(
    kind: str,
    users: int | None,
    times: int | None,
    sizes: np.ndarray[tuple[int, ...], np.dtype[np.signedinteger]],
    regions: np.ndarray[tuple[int, ...], np.dtype[np.int32]],
    rows: int | None = None,
) -> Summary:
    single, deleted = int((sizes == 1).sum()), int((sizes == 0).sum())
    count = len(sizes) if rows is None else rows
    more = count - single - deleted
    return Summary(kind, count, users, times, single, more, deleted, len(np.unique(regions)))


def _check_times(path: str | PathLike[str], found: int, wanted: int | None) -> None:
    if wanted is not None and found != wanted:
        raise InvalidFile(path, [Problem(0, "time_id", f"{found} times a user", f"{wanted}")])
