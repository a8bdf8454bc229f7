"""The one reader of delimited text: block by block, bounded memory, exact line numbers.

A block of a few megabytes is cut into fields by compiled scanners, in a thread of its own while
the block before is being read column by column; the rest of the file waits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tracecup.engine import ahead
from tracecup.errors import MAX_LISTED, InvalidFile, Problem
from tracecup.records import scanners
from tracecup.records.pointtext import point_fields
from tracecup.safeio import BOM, Limits, long_line, read_blocks, show

Path = str | PathLike[str]
BadLines = Literal["raise", "skip"]

BLOCK_BYTES = 4 << 20
# Data sets may be huge; memory stays at a few blocks all the same.
DATASET_LIMITS = Limits(max_bytes=1 << 42, max_line=64 * 1024, max_rows=1 << 40)
# The times of the years 1 to 9999 lie within this many seconds of 1970.
MAX_SECONDS = 253_402_300_800.0
DECIMAL = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?")
# Numbers that are times: seconds, milliseconds, or whichever of both each looks like.
NUMBERS = ("unix", "milliseconds", "number")
# Seconds of this size lie in the year 5138.
LEAST_MILLISECONDS = 1e11
TIMES = {
    "iso": ("a time YYYY-MM-DD HH:MM:SS", scanners.scan_iso_time),
    "day-first": ("a time DD/MM/YYYY HH:MM:SS", scanners.scan_day_first),
    "tweet": ("a time like Tue Apr 03 18:00:06 +0000 2012", scanners.scan_tweet_time),
}


@dataclass(frozen=True)
class TextLayout:
    """How a text file is laid out.

    `columns` names the columns in order; a line has at least `fewest` fields (default: all of
    them), further ones are ignored. `skip` lines at the top are passed over. With `header` the
    first line behind them names the columns, and `columns` lists the ones that are wanted;
    `hint` is added to the error for a column that is missing.
    """

    columns: tuple[str, ...]
    delimiter: str = ","
    quoted: bool = False
    skip: int = 0
    header: bool = False
    fewest: int | None = None
    hint: str = ""


@dataclass
class Block:
    """Some whole lines of a file, cut into fields; columns are read one at a time.

    Reading marks bad lines; `settle` then raises an `InvalidFile` that names them, or with
    `bad_lines="skip"` leaves them out: `rows` are the good ones.
    """

    path: Path
    first_line: int
    columns: tuple[str, ...]
    text: NDArray[np.uint8]
    begin: NDArray[np.int32]
    end: NDArray[np.int32]
    good: NDArray[np.bool_]
    quoted: bool = False
    problems: list[tuple[int, Problem]] = field(default_factory=list)
    total: int = 0

    def __len__(self) -> int:
        return len(self.good)

    def whole(self, column: str, most: int | None = None) -> NDArray[np.int64]:
        """A column of whole numbers; with `most` of those from 0 to `most`."""
        expected, bounds = "a whole number", (-scanners.MOST_WHOLE, scanners.MOST_WHOLE)
        if most is not None:
            expected += f" 0 to {most}" if most < 2**31 - 1 else " from 0"
            bounds = (0, most)
        values, marks = scanners.scan_whole(self.text, *self._field(column), *bounds)
        self.expect(marks == scanners.GOOD, column, expected)
        return values

    def decimal(self, column: str, where: NDArray[np.bool_] | bool = True) -> NDArray[np.float64]:
        """A column of finite decimal numbers; only the lines `where` must hold one."""
        values, fine = decimals(self.text, *self._field(column))
        self.expect(fine | np.logical_not(where), column, "a decimal number")
        return values

    def points(self, column: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A column of points `POINT (x y)`: (x, y); also with Z or M, or `SRID=n;` before it."""
        left, right, fine = point_fields(self.text, *self._field(column))
        x, good_x = decimals(self.text, left[0], left[1])
        y, good_y = decimals(self.text, right[0], right[1])
        self.expect(fine & good_x & good_y, column, "a point like POINT (8.54 47.37)")
        return x, y

    def time(self, column: str, kind: str) -> NDArray[np.float64]:
        """A column of times as seconds since 1970; `kind` is one of `TIMES` or `NUMBERS`."""
        if kind in NUMBERS:
            seconds = self.decimal(column)
            if kind != "unix":
                seconds = in_seconds(seconds) if kind == "number" else seconds / 1e3
            self.expect(np.abs(seconds) <= MAX_SECONDS, column, "seconds of the years 1 to 9999")
            return seconds
        expected, scan = TIMES[kind]
        values, marks = scan(self.text, *self._field(column))
        self.expect(marks == scanners.GOOD, column, expected)
        return values

    def words(self, column: str) -> pa.Array:
        """A column of text as an Arrow array of bytes (quotes undone, not decoded)."""
        return self._words(*self._field(column))

    def runs(self, column: str) -> tuple[pa.Array, NDArray[np.int32]]:
        """The same with words that repeat line by line named once: (words, which each line has)."""
        begin, end = self._field(column)
        number, first = scanners.runs(self.text, begin, end)
        return self._words(begin[first], end[first]), number

    def _words(self, begin: NDArray[np.int32], end: NDArray[np.int32]) -> pa.Array:
        offsets, packed = scanners.pack(self.text, begin, end)
        array = pa.Array.from_buffers(
            pa.binary(), len(begin), [None, pa.py_buffer(offsets), pa.py_buffer(packed)]
        )
        if self.quoted and b'""' in packed.tobytes():
            array = pa.array([v.as_py().replace(b'""', b'"') for v in array], pa.binary())
        return array

    def raw(self, row: int, column: str) -> bytes:
        """The bytes of one field."""
        begin, end = self._field(column)
        return self.text[max(begin[row], 0) : max(end[row], 0)].tobytes()

    def filled(self, *columns: str) -> NDArray[np.bool_]:
        """Which lines have something in any of the columns."""
        found = np.zeros(len(self), dtype=np.bool_)
        for column in columns:
            begin, end = self._field(column)
            found |= end > begin
        return found

    def expect(self, fine: NDArray[np.bool_], column: str, expected: str) -> None:
        """Mark lines where `column` is not what it should be."""
        if fine.all():
            return
        bad = np.flatnonzero(self.good & ~fine)
        self.total += len(bad)
        self.good &= fine
        for row in bad[:MAX_LISTED]:
            content = self.raw(int(row), column)
            found = show(content) if content else "nothing"
            self.problems.append(
                (int(row), Problem(self.first_line + int(row), column, found, expected))
            )

    def settle(self, bad_lines: BadLines = "raise") -> NDArray[np.int64]:
        """The good rows; raises for bad ones unless they are to be skipped."""
        if self.problems and bad_lines == "raise":
            ordered = [problem for _, problem in sorted(self.problems, key=lambda pair: pair[0])]
            raise InvalidFile(self.path, ordered, self.total)
        return np.flatnonzero(self.good)

    def _field(self, column: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        k = self.columns.index(column)
        return self.begin[k], self.end[k]


def read_text(
    path: Path,
    layout: TextLayout,
    limits: Limits = DATASET_LIMITS,
    block_bytes: int = BLOCK_BYTES,
) -> Iterator[Block]:
    """The blocks of a delimited text file (plain, gzip, zstd, xz or zip), in order.

    Memory is a few times `block_bytes`, whatever the size of the file. A line over
    `limits.max_line` bytes or more than `limits.max_rows` rows are an error.
    """
    yield from ahead(_Cut.fields, _tasks(path, layout, limits, block_bytes), 1)


def header_of(path: Path) -> tuple[str, ...]:
    """The names in the first line of a text file."""
    return _names(first_lines(path, 1)[0], ",")


def first_lines(path: Path, count: int, limits: Limits = DATASET_LIMITS) -> list[bytes]:
    """The first lines of a text file, without line ends; one empty line if it has none."""
    for text, _ in _whole_lines(path, limits, BLOCK_BYTES):
        return [line.removesuffix(b"\r") for line in text.split(b"\n", count)[:count]]
    return [b""]


@dataclass(frozen=True)
class _Cut:
    """A block that waits to be cut into fields."""

    path: Path
    text: bytes
    start: int
    lines: int
    first_line: int
    layout: TextLayout
    places: tuple[int, ...]
    limits: Limits

    def fields(self) -> Block:
        """The block with its fields, from byte `start` of the text."""
        layout, places = self.layout, self.places
        text = self.text if self.text.endswith(b"\n") else self.text + b"\n"
        lines = self.lines
        buffer = np.frombuffer(text, dtype=np.uint8, offset=self.start)
        rows = np.full(max(places) + 1, -1, dtype=np.int64)
        rows[list(places)] = np.arange(len(places))
        begin, end, fields, lengths = scanners.split_lines(
            buffer, ord(layout.delimiter), layout.quoted, rows, len(places), lines
        )
        if int(lengths.max()) > self.limits.max_line:
            row = int(np.argmax(lengths > self.limits.max_line))
            raise long_line(self.path, self.first_line + row, self.limits)
        fewest = max(places) + 1 if layout.fewest is None else layout.fewest
        good = fields >= fewest
        block = Block(
            self.path, self.first_line, layout.columns, buffer, begin, end, good, layout.quoted
        )
        short = np.flatnonzero(~good)
        block.total = len(short)
        for row in short[:MAX_LISTED]:
            line = text[self.start :].split(b"\n", int(row) + 1)[int(row)].removesuffix(b"\r")
            found = f"{abs(int(fields[row]))} columns in {show(line)}" if line else "an empty line"
            if fields[row] < 0:
                found = f"an unclosed quote in {show(line)}"
            wanted = Problem(self.first_line + int(row), "", found, f"at least {fewest} columns")
            block.problems.append((int(row), wanted))
        return block


def _tasks(path: Path, layout: TextLayout, limits: Limits, block_bytes: int) -> Iterator[_Cut]:
    """Blocks of whole lines behind the header, with the number of their first line."""
    number, names = 1, layout.columns
    to_skip, header = layout.skip, layout.header
    top = limits.max_rows + to_skip + header
    for block, lines in _whole_lines(path, limits, block_bytes):
        start, count = 0, lines
        while start < len(block) and (to_skip or header):
            after = block.find(b"\n", start) + 1 or len(block)
            if to_skip:
                to_skip -= 1
            else:
                line = block[start:after].removesuffix(b"\n")
                names, header = _header(path, line, number, layout), False
            start = after
            number += 1
            count -= 1
        if start < len(block):
            places = tuple(names.index(column) for column in layout.columns)
            yield _Cut(path, block, start, count, number, layout, places, limits)
            number += count
            if number - 1 > top:
                most = f"at most {limits.max_rows}"
                raise InvalidFile(path, [Problem(top + 1, "", "more rows", most)])
    if header:
        expected = f"a header that names {', '.join(layout.columns)}"
        raise InvalidFile(path, [Problem(number, "", "no header", expected)])


def _whole_lines(path: Path, limits: Limits, block_bytes: int) -> Iterator[tuple[bytes, int]]:
    """Blocks that end at a line end, only the last may lack it, and the number of their lines.

    The byte order mark is cut.
    """
    rest, lines_done, first = b"", 0, True
    for some in read_blocks(path, limits, block_bytes, foreign=True):
        block = some.removeprefix(BOM) if first else some
        first = False
        cut = block.rfind(b"\n") + 1
        if not cut:
            rest += block
            if len(rest) > limits.max_line:
                raise long_line(path, lines_done + 1, limits)
            continue
        whole = b"".join((rest, memoryview(block)[:cut])) if rest or cut < len(block) else block
        rest = block[cut:]
        lines = scanners.line_ends(np.frombuffer(whole, dtype=np.uint8))
        lines_done += lines
        if len(rest) > limits.max_line:
            raise long_line(path, lines_done + 1, limits)
        yield whole, lines
    if rest:
        yield rest, 1


def _header(path: Path, line: bytes, number: int, layout: TextLayout) -> tuple[str, ...]:
    """The column names of the file; every wanted one must be among them, once."""
    names = _names(line, layout.delimiter)
    shown = show(line.removesuffix(b"\r"), 80)
    expected = "; ".join(["this column once", *filter(None, [layout.hint])])
    problems = [
        Problem(number, wanted, f"{names.count(wanted)} times in {shown}", expected)
        for wanted in layout.columns
        if names.count(wanted) != 1
    ]
    if problems:
        raise InvalidFile(path, problems)
    return names


def _names(line: bytes, delimiter: str) -> tuple[str, ...]:
    text = line.removesuffix(b"\r").decode("utf-8", "replace")
    return tuple(name.strip().strip('"') for name in text.split(delimiter))


def in_seconds(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Seconds since 1970 from numbers that are seconds or milliseconds, each by its size."""
    return np.where(np.abs(times) >= LEAST_MILLISECONDS, times / 1e3, times)


def decimals(
    text: NDArray[np.uint8], begin: NDArray[np.int32], end: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """(finite decimal numbers of some fields, which fields hold one), rounded as Python does."""
    values, marks = scanners.scan_decimal(text, begin, end)
    long = np.flatnonzero(marks == scanners.LONG)
    if len(long):
        offsets, packed = scanners.pack(text, begin[long], end[long])
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(packed)]
        try:
            # The scanner has seen to it that these are digits with at most one dot.
            fields = pa.Array.from_buffers(pa.string(), len(long), buffers)
            values[long] = pc.cast(fields, pa.float64()).to_numpy(zero_copy_only=False)
            marks[long] = np.where(np.isfinite(values[long]), scanners.GOOD, scanners.BAD)
        except pa.ArrowInvalid:  # a plus sign before one of them
            marks[long] = scanners.HARD
    for row in np.flatnonzero(marks == scanners.HARD):
        content = text[begin[row] : end[row]].tobytes()
        # Python reads more than decimal numbers ("1_0", "nan"), so the form is checked too.
        if DECIMAL.fullmatch(content) and np.isfinite(float(content)):
            values[row], marks[row] = float(content), scanners.GOOD
    return values, marks == scanners.GOOD


def text_of(value: Any) -> str:
    """Bytes of a data set as text: UTF-8, else Latin-1 (the check-in files use both)."""
    try:
        return bytes(value).decode("utf-8")
    except UnicodeDecodeError:
        return bytes(value).decode("latin-1")


def texts_of(values: list[bytes]) -> list[str]:
    r"""The same for many at once.

    >>> texts_of([b"caf\xc3\xa9", b"caf\xe9"])
    ['café', 'café']
    """
    try:
        return [value.decode() for value in values]
    except UnicodeDecodeError:
        return [text_of(value) for value in values]
