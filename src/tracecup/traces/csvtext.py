"""Contest CSV files to columns and back, fast and bounded: the bytes, not their meaning.

Blocks of text are parsed by a compiled scanner in threads while the next ones are read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from os import PathLike
from typing import IO

import numpy as np
from numpy.typing import NDArray

from tracecup.engine import thread_count, threads
from tracecup.errors import MAX_LISTED, InvalidFile, Problem, TooLarge
from tracecup.kernels import inlined, kernel
from tracecup.safeio import BOM, Limits, long_line, read_blocks, show
from tracecup.traces.columns import Columns, Layout

Path = str | PathLike[str]
Parsed = tuple[int, int, NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]

MAX_ID = 2**31 - 1
LF, CR, SPACE, STAR, COMMA, ZERO, NINE = 10, 13, 32, 42, 44, 48, 57
# A line end for a last line without one, and bytes that are no digit for the scanner to run into.
PADDING = b"\n" + bytes(15)
WRITE_ROWS = 100_000


def read_csv(
    path: Path, layout: Layout, max_id: int, rows: int | None, max_set: int, limits: Limits
) -> Columns:
    """Read a contest CSV into columns; every cell checked, the first ten problems reported.

    `max_id` is the largest id allowed in the last column, `max_set` the largest number of ids in
    a cell, `rows` the number of rows if known. Time and memory are bounded by `limits`.
    """
    return _joined(list(_pieces(path, layout, max_id, rows, max_set, limits)), layout)


def csv_parts(
    path: Path, layout: Layout, max_id: int, max_set: int, limits: Limits, rows: int
) -> Iterator[Columns]:
    """The same in parts of `rows` rows, the last one with what is left; one part is held.

    A problem is only raised at the end of the file, when all problems are counted.
    """
    held: list[Parsed] = []
    for piece in _pieces(path, layout, max_id, None, max_set, limits):
        held.append(piece)
        if sum(count for count, *_ in held) < rows:
            continue
        whole = _joined(held, layout)
        for low in range(0, whole.rows - rows + 1, rows):
            yield whole.part(low, low + rows)
        rest = whole.part(whole.rows - whole.rows % rows, whole.rows)
        held = [_piece(rest)]
    left = _joined(held, layout)
    if left.rows:
        yield left


def _piece(columns: Columns) -> Parsed:
    """Rows that wait for those after them."""
    lead = np.array(columns.lead, dtype=np.int32).reshape(len(columns.lead), columns.rows)
    sizes = np.diff(columns.offsets).astype(np.int32)
    return columns.rows, 0, lead, sizes, columns.ids, np.empty((0, 2), dtype=np.int64)


def _pieces(
    path: Path, layout: Layout, max_id: int, rows: int | None, max_set: int, limits: Limits
) -> Iterator[Parsed]:
    """Blocks of a file as they are read, up to the first problem; the file is read to its end."""
    problems: list[Problem] = []
    total_problems, row, ids = 0, 0, 0
    for text, parsed in _parsed_blocks(path, layout, max_id, max_set, limits):
        count, bad, _, _, block_ids, errors = parsed
        for line, start in errors[: MAX_LISTED - len(problems)]:
            problems.append(
                _explain(text, int(start), row + int(line) + 2, layout, max_id, max_set)
            )
        total_problems += bad
        row += count
        ids += len(block_ids)
        if rows is not None and row > rows:
            problems.insert(0, Problem(rows + 2, "", "more rows", f"exactly {rows} rows"))
            raise InvalidFile(path, problems, total_problems + 1)
        for found, most, what in ((row, limits.max_rows, "rows"), (ids, limits.max_ids, "ids")):
            if found > most:
                raise TooLarge(path, [Problem(0, "", f"over {most} {what}", f"at most {most}")])
        if not total_problems:
            yield parsed
    if rows is not None and row != rows:
        problems.insert(0, Problem(0, "", f"{row} rows", f"exactly {rows} rows"))
        total_problems += 1
    if problems:
        raise InvalidFile(path, problems, total_problems)


def write_csv(file: IO[bytes], layout: Layout, columns: Columns) -> None:
    """Write columns as contest CSV: LF, a final newline, no byte order mark."""
    file.write((",".join(layout.header) + "\n").encode())
    lead = np.array(columns.lead, dtype=np.int32).reshape(len(layout.lead), columns.rows)
    for low in range(0, columns.rows, WRITE_ROWS):
        high = min(low + WRITE_ROWS, columns.rows)
        offsets = columns.offsets[low : high + 1]
        # Ten digits and a separator each is the longest an int32 gets.
        longest = 11 * ((high - low) * (len(lead) + 1) + int(offsets[-1] - offsets[0]))
        buffer = np.empty(longest, dtype=np.uint8)
        used = _format_rows(np.ascontiguousarray(lead[:, low:high]), offsets, columns.ids, buffer)
        file.write(buffer[:used].data)


def _parsed_blocks(
    path: Path, layout: Layout, max_id: int, max_set: int, limits: Limits
) -> Iterator[tuple[NDArray[np.uint8], Parsed]]:
    """Blocks of whole lines with what the scanner found in them, in file order."""
    waiting: deque[tuple[NDArray[np.uint8], Future[Parsed]]] = deque()
    workers = thread_count()
    with threads(workers) as pool:
        for block in _line_blocks(path, layout, limits):
            text = np.frombuffer(block, dtype=np.uint8)
            job = pool.submit(scan_block, text, len(layout.lead), layout.sets, max_id, max_set)
            waiting.append((text, job))
            while len(waiting) > workers + 1:
                done, first = waiting.popleft()
                yield done, first.result()
        for done, first in waiting:
            yield done, first.result()


def _line_blocks(path: Path, layout: Layout, limits: Limits) -> Iterator[bytes]:
    """The lines behind the header, in padded blocks that end at a line end, but for the last."""
    rest, header_seen = b"", False
    for block in read_blocks(path, limits):
        cut = block.rfind(b"\n") + 1
        if not cut:
            rest += block
            if len(rest) > limits.max_line:
                _check_header(path, rest[: limits.max_line], layout, header_seen)
                raise _first_long_line(path, limits)
            continue
        start = 0
        if not header_seen:
            start = block.find(b"\n") + 1
            _check_header(path, rest + block[: start - 1], layout, False)
            rest, header_seen = b"", True
        whole = memoryview(block)
        if rest or cut > start:
            yield b"".join((rest, whole[start:cut], PADDING))
        rest = block[cut:]
    if not header_seen:
        _check_header(path, rest, layout, False)
    if len(rest) > limits.max_line:
        raise _first_long_line(path, limits)
    if header_seen and rest:
        yield rest + PADDING


def _first_long_line(path: Path, limits: Limits) -> InvalidFile:
    """The error for the first line over the limit; lines are counted only here, on the way out."""
    number, length = 1, 0
    for block in read_blocks(path, limits):
        for line in block.splitlines(keepends=True):
            length += len(line)
            if length > limits.max_line:
                return long_line(path, number, limits)
            if line.endswith(b"\n"):
                number, length = number + 1, 0
    return long_line(path, number, limits)


def _check_header(path: Path, line: bytes, layout: Layout, seen: bool) -> None:
    if seen:
        return
    wanted = ",".join(layout.header)
    line = line.removeprefix(BOM).removesuffix(b"\r")
    if line == wanted.encode():
        return
    found = show(line, 80) if line else "an empty line"
    if line[:2] in (b"\xff\xfe", b"\xfe\xff"):
        found = "UTF-16 text"
    raise InvalidFile(path, [Problem(1, "", found, f"the header {wanted} (UTF-8)")])


def _joined(pieces: list[Parsed], layout: Layout) -> Columns:
    """One array for each column; pieces are freed as they are copied."""
    rows, ids = sum(piece[0] for piece in pieces), sum(len(piece[4]) for piece in pieces)
    lead = np.empty((len(layout.lead), rows), dtype=np.int32)
    offsets, flat = np.zeros(rows + 1, dtype=np.int64), np.empty(ids, dtype=np.int32)
    row = start = 0
    pieces.reverse()
    while pieces:
        count, _, some_lead, sizes, some_ids, _ = pieces.pop()
        lead[:, row : row + count] = some_lead
        # Sums of the sizes from where the piece before ended.
        np.cumsum(sizes, out=offsets[row + 1 : row + 1 + count])
        offsets[row + 1 : row + 1 + count] += start
        flat[start : start + len(some_ids)] = some_ids
        row += count
        start += len(some_ids)
    return Columns(tuple(lead), offsets, flat)


def _explain(
    text: NDArray[np.uint8], start: int, line: int, layout: Layout, max_id: int, max_set: int
) -> Problem:
    """Look at a bad line again, slowly, and say what is wrong with it."""
    raw = text[start : start + 1_000_000].tobytes()
    content = raw[: raw.find(b"\n")] if b"\n" in raw else raw
    content = content.removesuffix(b"\r")
    fields = content.split(b",")
    if len(fields) != len(layout.header):
        wanted = f"{_columns(len(layout.header))} ({','.join(layout.header)})"
        return Problem(line, "", f"{_columns(len(fields))} in {show(content)}", wanted)
    for name, field in zip(layout.lead, fields, strict=False):
        if not _is_id(field, MAX_ID):
            return Problem(line, name, show(field), "a whole number from 1, no leading zero")
    most = f"1 to {max_id}" if max_id < MAX_ID else "from 1"
    one = f"one whole number {most}, no leading zero"
    cell = fields[-1]
    if not layout.sets:
        return Problem(line, layout.last, show(cell), one)
    tokens = cell.split(b" ")
    if len(tokens) > max_set:
        return Problem(line, layout.last, f"{len(tokens)} ids in a cell", f"at most {max_set}")
    if len(tokens) > 1 and b"*" in tokens:
        return Problem(line, layout.last, show(cell), "either ids or a single *, not both")
    bad = next((token for token in tokens if not _is_id(token, max_id)), cell)
    found = show(cell) if bad == cell else f"{show(bad)} in {show(cell)}"
    wanted = f"region ids {most} separated by single spaces, without leading zeros, or *"
    return Problem(line, layout.last, found if cell else "an empty cell", wanted)


def _columns(count: int) -> str:
    return "1 column" if count == 1 else f"{count} columns"


def _is_id(token: bytes, most: int) -> bool:
    plain = token.isdigit() and len(token) <= 10 and not token.startswith(b"0")
    return plain and int(token) <= most


@inlined
def _scan_id(text: NDArray[np.uint8], at: np.uint64) -> tuple[np.int64, np.uint64]:
    """The id that starts at `at` (0 if there is none) and the place behind it.

    Up to four digits by arithmetic instead of jumps (`two` is 1 if there is a second digit, and
    so on): a branch on random lengths would be mispredicted for every other id. Unsigned places
    spare the check for negative ones.
    """
    first = np.int64(text[at]) - ZERO
    second = np.int64(text[at + np.uint64(1)]) - ZERO
    third = np.int64(text[at + np.uint64(2)]) - ZERO
    fourth = np.int64(text[at + np.uint64(3)]) - ZERO
    two = np.int64(np.uint64(second) <= np.uint64(9))
    three = two & np.int64(np.uint64(third) <= np.uint64(9))
    four = three & np.int64(np.uint64(fourth) <= np.uint64(9))
    value = first * (1 + 9 * two) + second * two
    value = value * (1 + 9 * three) + third * three
    value = value * (1 + 9 * four) + fourth * four
    at += np.uint64(1 + two + three + four)
    if four:
        digits = 4
        while np.uint64(np.int64(text[at]) - ZERO) <= np.uint64(9) and digits < 11:
            value = value * 10 + np.int64(text[at]) - ZERO
            at += np.uint64(1)
            digits += 1
        value *= np.int64(digits <= 10) & np.int64(value <= MAX_ID)
    value *= np.int64(np.uint64(first - 1) <= np.uint64(8))
    return value, at


@kernel
def scan_block(
    text: NDArray[np.uint8], n_lead: int, sets: bool, max_id: int, max_set: int
) -> Parsed:
    """Scan whole lines: (rows, bad lines, lead ids, sizes, ids, first bad lines and starts).

    `text` ends with PADDING. A bad line counts as a row of size 0 and is reported with the byte
    at which it starts. O(bytes).
    """
    n = np.uint64(len(text) - len(PADDING))
    one = np.uint64(1)
    rows = 0
    for k in range(n):
        rows += int(text[k] == LF)
    if n > 0 and text[n - one] != LF:
        rows += 1
    lead = np.empty((n_lead, rows), dtype=np.int32)
    sizes = np.empty(rows, dtype=np.int32)
    ids = np.empty(n // 2 + 8, dtype=np.int32)
    errors = np.empty((10, 2), dtype=np.int64)
    used, at = np.uint64(0), np.uint64(0)
    bad = 0
    for row in range(rows):
        start, first, good = at, used, True
        for column in range(n_lead):
            value, at = _scan_id(text, at)
            good &= bool((value > 0) & (text[at] == COMMA))
            lead[column, row] = value
            at += np.uint64(good)
        if sets and text[at] == STAR:
            at += one
        else:
            while True:
                value, at = _scan_id(text, at)
                good &= bool((value > 0) & (value <= max_id))
                ids[used] = value - 1
                used += one
                if not sets or text[at] != SPACE:
                    break
                at += one
        at += np.uint64(text[at] == CR)
        if not good or text[at] != LF or used - first > max_set:
            if bad < 10:
                errors[bad, 0] = row
                errors[bad, 1] = start
            bad += 1
            used, at = first, start
            while text[at] != LF:
                at += one
        at += one
        sizes[row] = used - first
    return rows, bad, lead, sizes, ids[:used].copy(), errors[: min(bad, 10)].copy()


@inlined
def _put(number: int, buffer: NDArray[np.uint8], at: int) -> int:
    """Write a positive number as decimal digits at `at`; the place behind it."""
    size = 1
    left = number // 10
    while left:
        size += 1
        left //= 10
    for k in range(size):
        buffer[at + size - 1 - k] = 48 + number % 10
        number //= 10
    return at + size


@kernel
def _format_rows(
    lead: NDArray[np.int32],
    offsets: NDArray[np.int64],
    ids: NDArray[np.int32],
    buffer: NDArray[np.uint8],
) -> int:
    at = 0
    for row in range(len(offsets) - 1):
        for column in range(lead.shape[0]):
            at = _put(lead[column, row], buffer, at)
            buffer[at] = COMMA
            at += 1
        low, high = offsets[row], offsets[row + 1]
        if low == high:
            buffer[at] = STAR
            at += 1
        for k in range(low, high):
            if k > low:
                buffer[at] = SPACE
                at += 1
            at = _put(ids[k] + 1, buffer, at)
        buffer[at] = LF
        at += 1
    return at
