"""Files of the published synthesizer evaluation: one-day traces and the cells of places.

Columns are found by name, further columns are ignored; a bad line is reported by its number.
"""

from __future__ import annotations

from os import PathLike

import numpy as np
from numpy.typing import NDArray

from tracecup.errors import MAX_LISTED, InvalidFile, InvalidTraces, Problem
from tracecup.records import PEOPLE_FLOW, Timetable
from tracecup.records.delimited import TextLayout, read_text
from tracecup.safeio import DEFAULT_LIMITS, Limits, atomic_write
from tracecup.usefulness.daytraces import DayTraces

Path = str | PathLike[str]
MAX_WHOLE = 2**31 - 1
COLUMNS = ("user", "trace_no", "time_slot", "time_instant", "poi_index")
BLOCK_ROWS = 1 << 20


def read_day_traces(
    path: Path,
    n_locations: int,
    timetable: Timetable = PEOPLE_FLOW,
    limits: Limits = DEFAULT_LIMITS,
) -> DayTraces:
    """Synthetic traces with the columns `user,trace_no,time_slot,time_instant,poi_index`.

    Rows in any order; every user needs every trace number with every instant exactly once.
    """
    most = (
        MAX_WHOLE,
        MAX_WHOLE,
        timetable.slots - 1,
        timetable.instants_per_slot - 1,
        n_locations - 1,
    )
    columns = _read_columns(path, dict(zip(COLUMNS, most, strict=True)), limits)
    user, trace, slot, instant, place = columns
    users, user = _positions(user)
    days, trace = _positions(trace)
    shape = (len(users), len(days), timetable.instants)
    key = (user * shape[1] + trace) * shape[2] + slot * timetable.instants_per_slot + instant
    _check_complete(path, key, users, days, timetable)
    locations = np.empty(len(key), dtype=np.int32)
    locations[key] = place
    return DayTraces.of(
        locations.reshape(shape), n_locations=n_locations, slots=timetable.slots, user_ids=users
    )


def read_cells(path: Path, limits: Limits = DEFAULT_LIMITS) -> NDArray[np.float64]:
    """Grid cells of locations with the columns `poi_index,x_id,y_id`, shape (N, 2).

    Every index from 0 to N - 1 stands exactly once, in any order.
    """
    most = {"poi_index": MAX_WHOLE, "x_id": MAX_WHOLE, "y_id": MAX_WHOLE}
    index, x, y = _read_columns(path, most, limits)
    order = np.argsort(index, kind="stable")
    wrong = np.flatnonzero(index[order] != np.arange(len(index)))
    if wrong.size:
        row = int(order[wrong[0]])
        expected = f"every index from 0 to {len(index) - 1} once"
        raise InvalidFile(path, [Problem(row + 2, "poi_index", str(index[row]), expected)])
    return np.column_stack([x, y])[order].astype(np.float64)


def write_day_traces(path: str | PathLike[str], days: NDArray[np.int32], slots: int) -> None:
    """Write traces of shape (users, days, instants) as
    `user,trace_no,time_slot,time_instant,poi_index`, all from 0; `slots` divide the instants.
    """
    import pyarrow as pa
    from pyarrow import csv

    if days.ndim != 3 or slots < 1 or days.shape[2] % slots:
        raise InvalidTraces(
            f"one-day traces need shape (users, days, instants) and slots that divide the "
            f"instants, got {days.shape} and {slots}"
        )
    _, n_days, instants = days.shape
    per_slot = instants // slots
    flat = days.reshape(-1)
    options = csv.WriteOptions(include_header=False)
    with atomic_write(path) as file:
        file.write((",".join(COLUMNS) + "\n").encode())
        for low in range(0, max(1, len(flat)), BLOCK_ROWS):
            row = np.arange(low, min(low + BLOCK_ROWS, len(flat)))
            instant = row % instants
            columns = (
                row // (n_days * instants),
                row // instants % n_days,
                instant // per_slot,
                instant % per_slot,
                flat[row],
            )
            csv.write_csv(pa.table(dict(zip(COLUMNS, columns, strict=True))), file, options)


def _positions(ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The different ids in ascending order, and which of them stands in every row."""
    if int(ids.max()) <= 4 * len(ids):
        present = np.zeros(int(ids.max()) + 1, dtype=np.bool_)
        present[ids] = True
        return np.flatnonzero(present), (np.cumsum(present) - 1)[ids]
    different, position = np.unique(ids, return_inverse=True)
    return different.astype(np.int64), position.astype(np.int64)


def _check_complete(
    path: Path,
    key: NDArray[np.int64],
    users: NDArray[np.int64],
    days: NDArray[np.int64],
    timetable: Timetable,
) -> None:
    """Every (user, trace, instant) exactly once; otherwise the first one that is not."""

    def spelled(cell: int) -> str:
        who, at = divmod(cell, len(days) * timetable.instants)
        day, instant = divmod(at, timetable.instants)
        slot, part = divmod(instant, timetable.instants_per_slot)
        return f"user {users[who]}, trace {days[day]}, slot {slot}, instant {part}"

    cells = len(users) * len(days) * timetable.instants
    if len(key) == cells and bool((np.bincount(key, minlength=cells) == 1).all()):
        return
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    again = np.flatnonzero(ordered[1:] == ordered[:-1])
    if again.size:
        repeats = np.sort(order[again + 1])
        problems = [
            Problem(int(row) + 2, "", f"{spelled(int(key[row]))} again", "each of them once")
            for row in repeats[:MAX_LISTED]
        ]
        raise InvalidFile(path, problems, len(repeats))
    gap = np.flatnonzero(ordered != np.arange(len(ordered)))
    missing = int(gap[0]) if gap.size else len(ordered)
    found = f"no row for {spelled(missing)}"
    expected = f"{cells} rows: every user, trace, slot and instant once"
    raise InvalidFile(path, [Problem(0, "", found, expected)], cells - len(key))


def _read_columns(path: Path, most: dict[str, int], limits: Limits) -> list[NDArray[np.int64]]:
    """Columns of whole numbers 0..most[name], every row checked."""
    layout = TextLayout(tuple(most), quoted=True, header=True)
    parts: list[list[NDArray[np.int64]]] = []
    for block in read_text(path, layout, limits):
        parts.append([block.whole(name, high) for name, high in most.items()])
        block.settle()
    if not parts:
        raise InvalidFile(path, [Problem(0, "", "no rows", "a header and at least one row")])
    return [
        part[0] if len(part) == 1 else np.concatenate(part) for part in zip(*parts, strict=True)
    ]
