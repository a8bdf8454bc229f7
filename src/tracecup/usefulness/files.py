"""Reading the published synthesizer evaluation's own files: records and synthetic days.

Columns are found by name, further columns are ignored; a bad line is reported by its number.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from tracecup.errors import MAX_LISTED, InvalidFile, Problem
from tracecup.kernels import kernel
from tracecup.safeio import BOM, DEFAULT_LIMITS, Limits, long_line, read_blocks, show
from tracecup.usefulness.events import DayTraces, Records

Path = str | PathLike[str]

MAX_WHOLE = 2**31 - 1
LF, CR, QUOTE, COMMA, MINUS, DOT, ZERO = 10, 13, 34, 44, 45, 46, 48
SKIP, NUMBER = -1, -2
WHOLE = re.compile(r"[0-9]{1,18}")
DECIMAL = re.compile(r"-?[0-9]{1,18}(\.[0-9]*)?")


@dataclass(frozen=True)
class Timetable:
    """How a data set cuts the day: instants of `minutes` minutes from minute `start`.

    `instants_per_slot` instants make one of the `slots` slots; two records more than `max_gap`
    seconds apart make no transition.
    """

    start: int
    minutes: int
    slots: int
    instants_per_slot: int = 1
    max_gap: float = math.inf

    @property
    def instants(self) -> int:
        """Instants in a day."""
        return self.slots * self.instants_per_slot

    def __str__(self) -> str:
        end = self.start + self.minutes * self.instants - 1
        return f"{_clock(self.start)} to {_clock(end)}"


PEOPLE_FLOW = Timetable(9 * 60, 20, 30)
CHECK_INS = Timetable(0, 60, 12, 2, 7200.0)


def read_records(
    path: Path,
    n_locations: int,
    timetable: Timetable = PEOPLE_FLOW,
    limits: Limits = DEFAULT_LIMITS,
) -> Records:
    """Training or testing traces with the columns `user_index,poi_index,unixtime,hour,min`.

    The instant is floor((60 hour + min - start) / minutes) of the timetable: the slot number of
    people-flow files, the hour of check-in files. Plain, gzip or zstd.
    """
    most = {
        "user_index": MAX_WHOLE,
        "poi_index": n_locations - 1,
        "hour": 23,
        "min": 59,
    }
    table = _read_columns(path, most, "unixtime", limits)
    user, place, hour, minute = table.whole
    instant = (60 * hour + minute - timetable.start) // timetable.minutes
    outside = np.flatnonzero((instant < 0) | (instant >= timetable.instants))
    if outside.size:
        problems = [
            Problem(int(k) + 2, "hour", f"{hour[k]}:{minute[k]:02d}", f"a time {timetable}")
            for k in outside[:MAX_LISTED]
        ]
        raise InvalidFile(path, problems, len(outside))
    return Records.of(
        user,
        place,
        instant,
        n_locations=n_locations,
        slots=timetable.slots,
        instants_per_slot=timetable.instants_per_slot,
        seconds=table.number,
        max_gap=timetable.max_gap,
    )


def read_day_traces(
    path: Path,
    n_locations: int,
    timetable: Timetable = PEOPLE_FLOW,
    limits: Limits = DEFAULT_LIMITS,
) -> DayTraces:
    """Synthetic traces with the columns `user,trace_no,time_slot,time_instant,poi_index`.

    Rows in any order; every user needs every trace number with every instant exactly once.
    """
    most = {
        "user": MAX_WHOLE,
        "trace_no": MAX_WHOLE,
        "time_slot": timetable.slots - 1,
        "time_instant": timetable.instants_per_slot - 1,
        "poi_index": n_locations - 1,
    }
    user, trace, slot, instant, place = _read_columns(path, most, "", limits).whole
    users, user = _positions(user)
    days, trace = _positions(trace)
    shape = (len(users), len(days), timetable.instants)
    at = slot.astype(np.int64) * timetable.instants_per_slot + instant
    key = (user * shape[1] + trace) * shape[2] + at
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
    index, x, y = _read_columns(path, most, "", limits).whole
    order = np.argsort(index, kind="stable")
    wrong = np.flatnonzero(index[order] != np.arange(len(index)))
    if wrong.size:
        row = int(order[wrong[0]])
        expected = f"every index from 0 to {len(index) - 1} once"
        raise InvalidFile(path, [Problem(row + 2, "poi_index", str(index[row]), expected)])
    return np.column_stack([x, y])[order].astype(np.float64)


def _positions(ids: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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


@dataclass(frozen=True, eq=False)
class _Table:
    """The wanted columns: whole numbers (columns, rows) and, if asked for, one of numbers."""

    whole: NDArray[np.int32]
    number: NDArray[np.float64]


def _read_columns(path: Path, most: dict[str, int], number: str, limits: Limits) -> _Table:
    """Whole-number columns 0..most[name] and the number column, every row checked."""
    names = [*most, number] if number else list(most)
    tops = np.array(list(most.values()), dtype=np.int64)
    roles: NDArray[np.int64] | None = None
    header: list[str] = []
    whole: list[NDArray[np.int32]] = []
    numbers: list[NDArray[np.float64]] = []
    problems: list[Problem] = []
    total = rows = 0
    for block in _line_blocks(path, limits):
        if roles is None:
            header = _header(path, block, names)
            roles = _roles(header, list(most), number)
            continue
        text = np.frombuffer(block, dtype=np.uint8)
        some, real, bad, errors = _scan(text, roles, tops)
        for row, start in errors[: MAX_LISTED - len(problems)]:
            line = block[start : start + limits.max_line].partition(b"\n")[0]
            problems.append(_explain(line, rows + int(row) + 2, header, most, number))
        total += bad
        rows += some.shape[1]
        if rows > limits.max_rows:
            raise InvalidFile(
                path, [Problem(limits.max_rows + 2, "", "more rows", f"at most {limits.max_rows}")]
            )
        whole.append(some)
        numbers.append(real)
    if problems:
        raise InvalidFile(path, problems, total)
    if not rows:
        raise InvalidFile(path, [Problem(0, "", "no rows", "a header and at least one row")])
    return _Table(np.concatenate(whole, axis=1), np.concatenate(numbers))


def _line_blocks(path: Path, limits: Limits) -> Iterator[bytes]:
    """The header line alone, then blocks of whole lines."""
    rest, header_seen = b"", False
    for block in read_blocks(path, limits):
        rest += block
        if not header_seen:
            header, found, rest = rest.partition(b"\n")
            if not found:
                rest = header
            else:
                yield header
                header_seen = True
        cut = rest.rfind(b"\n") + 1 if header_seen else 0
        if len(rest) - cut > limits.max_line:
            raise long_line(path, 0 if header_seen else 1, limits)
        if cut:
            yield rest[:cut]
            rest = rest[cut:]
    if rest or not header_seen:
        yield rest


def _header(path: Path, line: bytes, names: list[str]) -> list[str]:
    text = line.removeprefix(BOM).removesuffix(b"\r").decode("utf-8", "backslashreplace")
    header = [name.strip().strip('"') for name in text.split(",")]
    problems = [
        Problem(1, name, f"the header {show(text, 80)}", f"a column named {name}")
        for name in names
        if header.count(name) != 1
    ]
    if problems:
        raise InvalidFile(path, problems)
    return header


def _roles(header: list[str], whole: list[str], number: str) -> NDArray[np.int64]:
    """For each column up to the last wanted one: its row in the result, NUMBER or SKIP."""
    roles = [whole.index(n) if n in whole else NUMBER if n == number else SKIP for n in header]
    last = max(k for k, role in enumerate(roles) if role != SKIP)
    return np.array(roles[: last + 1], dtype=np.int64)


def _explain(
    line: bytes, number: int, header: list[str], most: dict[str, int], real: str
) -> Problem:
    """Look at a bad line again, slowly, and say what is wrong with it."""
    text = line.removesuffix(b"\r").decode("utf-8", "backslashreplace")
    # Control characters are shown, not obeyed: csv refuses some of them.
    text = text.replace("\0", "\\0").replace("\r", "\\r")
    fields = next(csv.reader([text]), [])
    if len(fields) < len(header):
        found = f"{len(fields)} columns in {show(text)}" if text else "an empty line"
        return Problem(number, "", found, f"{len(header)} columns ({','.join(header)})")
    for name, field in zip(header, fields, strict=False):
        if name in most and not (WHOLE.fullmatch(field) and int(field) <= most[name]):
            top = f"0 to {most[name]}" if most[name] < MAX_WHOLE else "from 0"
            return Problem(number, name, show(field), f"a whole number {top}")
        if name == real and not DECIMAL.fullmatch(field):
            return Problem(number, name, show(field), "a plain decimal number")
    return Problem(number, "", show(text), "plain values without quotes in these columns")


def _clock(minute: int) -> str:
    return f"{minute // 60}:{minute % 60:02d}"


@kernel
def _skip_field(text: NDArray[np.uint8], at: int) -> int:
    """The place of the comma or line end behind the field at `at`; quotes protect commas."""
    if at < len(text) and text[at] == QUOTE:
        at += 1
        while at < len(text) and text[at] != QUOTE and text[at] != LF:
            at += 1
    while at < len(text) and text[at] != COMMA and text[at] != LF and text[at] != CR:
        at += 1
    return at


@kernel
def _scan_whole(text: NDArray[np.uint8], at: int) -> tuple[int, int]:
    """The whole number at `at` (-1 if there is none, at most 18 digits) and the place behind."""
    start, value = at, 0
    while at < len(text) and at - start < 18:
        digit = np.uint8(text[at] - ZERO)
        if digit > 9:
            break
        value = value * 10 + int(digit)
        at += 1
    return (value if at > start else -1), at


@kernel
def _scan_number(text: NDArray[np.uint8], at: int) -> tuple[float, int]:
    """The decimal number at `at` (nan if there is none) and the place behind it."""
    negative = at < len(text) and text[at] == MINUS
    whole, at = _scan_whole(text, at + 1 if negative else at)
    value = float(whole) if whole >= 0 else np.nan
    if at < len(text) and text[at] == DOT:
        start = at + 1
        part, at = _scan_whole(text, start)
        if part > 0:
            value += part / 10.0 ** (at - start)
        while at < len(text) and np.uint8(text[at] - ZERO) <= 9:
            at += 1
    return (-value if negative else value), at


@kernel
def _scan_line(
    text: NDArray[np.uint8],
    at: int,
    roles: NDArray[np.int64],
    most: NDArray[np.int64],
    row: int,
    whole: NDArray[np.int32],
    numbers: NDArray[np.float64],
) -> int:
    """Read the wanted columns of one line; the place behind them, -1 for a bad line."""
    for column in range(len(roles)):
        role = roles[column]
        if column:
            if at >= len(text) or text[at] != COMMA:
                return -1
            at += 1
        if role == SKIP:
            at = _skip_field(text, at)
        elif role == NUMBER:
            numbers[row], at = _scan_number(text, at)
            if np.isnan(numbers[row]):
                return -1
        else:
            value, at = _scan_whole(text, at)
            if value < 0 or value > most[role]:
                return -1
            whole[role, row] = value
    ended = at == len(text) or text[at] == COMMA or text[at] == CR or text[at] == LF
    return at if ended else -1


@kernel
def _scan(
    text: NDArray[np.uint8], roles: NDArray[np.int64], most: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.float64], int, NDArray[np.int64]]:
    """Scan whole lines: (whole columns, number column, bad lines, first bad rows and starts)."""
    n = len(text)
    rows = 0
    for at in range(n):
        rows += text[at] == LF
    rows += n > 0 and text[n - 1] != LF
    whole = np.zeros((len(most), rows), dtype=np.int32)
    numbers = np.zeros(rows if (roles == NUMBER).any() else 0, dtype=np.float64)
    errors = np.empty((10, 2), dtype=np.int64)
    bad = at = 0
    for row in range(rows):
        start = at
        at = _scan_line(text, at, roles, most, row, whole, numbers)
        if at < 0:
            if bad < 10:
                errors[bad, 0] = row
                errors[bad, 1] = start
            bad += 1
            at = start
        while at < n and text[at] != LF:
            at += 1
        at += 1
    return whole, numbers, bad, errors[: min(bad, 10)].copy()
