"""Reading big delimited text files block by block: bounded memory, exact line numbers.

A block of a few megabytes is cut into fields by compiled scanners; the rest of the file waits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tracecup.datasets import fieldscan
from tracecup.errors import MAX_LISTED, InvalidFile, Problem
from tracecup.safeio import BOM, Limits, long_line, read_blocks, show

Path = str | PathLike[str]
BadLines = Literal["raise", "skip"]

BLOCK_BYTES = 4 << 20
# Data sets may be huge; memory stays at a few blocks all the same.
DATASET_LIMITS = Limits(max_bytes=1 << 42, max_line=64 * 1024)
# The times of the years 1 to 9999 lie within this many seconds of 1970.
MAX_SECONDS = 253_402_300_800.0
DECIMAL = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?")
TIMES = {
    "iso": ("a time YYYY-MM-DD HH:MM:SS", fieldscan.scan_iso_time),
    "tweet": ("a time like Tue Apr 03 18:00:06 +0000 2012", fieldscan.scan_tweet_time),
}


@dataclass(frozen=True)
class Layout:
    """How a text file is laid out.

    `columns` names the columns in order; a line has at least `fewest` fields (default: all of
    them), further ones are ignored. `skip` lines at the top are passed over. With `header` the
    first line behind them names the columns, and `columns` lists the ones that are wanted.
    """

    columns: tuple[str, ...]
    delimiter: str = ","
    quoted: bool = False
    skip: int = 0
    header: bool = False
    fewest: int | None = None


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
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    good: NDArray[np.bool_]
    quoted: bool = False
    problems: list[tuple[int, Problem]] = field(default_factory=list)
    total: int = 0

    def __len__(self) -> int:
        return len(self.good)

    def whole(self, column: str) -> NDArray[np.int64]:
        """A column of whole numbers."""
        values, marks = fieldscan.scan_whole(self.text, *self._field(column))
        self.expect(marks == fieldscan.GOOD, column, "a whole number")
        return values

    def decimal(self, column: str) -> NDArray[np.float64]:
        """A column of finite decimal numbers."""
        values, marks = fieldscan.scan_decimal(self.text, *self._field(column))
        for row in np.flatnonzero(marks == fieldscan.HARD):
            content = self.raw(int(row), column)
            # Python reads more than decimal numbers ("1_0", "nan"), so the form is checked too.
            if DECIMAL.fullmatch(content) and np.isfinite(float(content)):
                values[row], marks[row] = float(content), fieldscan.GOOD
        self.expect(marks == fieldscan.GOOD, column, "a decimal number")
        return values

    def time(self, column: str, kind: str) -> NDArray[np.float64]:
        """A column of times as seconds since 1970; `kind` is iso, tweet or unix."""
        if kind == "unix":
            seconds = self.decimal(column)
            self.expect(np.abs(seconds) <= MAX_SECONDS, column, "seconds of the years 1 to 9999")
            return seconds
        expected, scan = TIMES[kind]
        values, marks = scan(self.text, *self._field(column))
        self.expect(marks == fieldscan.GOOD, column, expected)
        return values

    def words(self, column: str) -> pa.Array:
        """A column of text as an Arrow array of bytes (quotes undone, not decoded)."""
        offsets, packed = fieldscan.pack(self.text, *self._field(column))
        array = pa.Array.from_buffers(
            pa.binary(), len(self), [None, pa.py_buffer(offsets), pa.py_buffer(packed)]
        )
        if self.quoted and b'""' in packed.tobytes():
            array = pa.array([v.as_py().replace(b'""', b'"') for v in array], pa.binary())
        return array

    def raw(self, row: int, column: str) -> bytes:
        """The bytes of one field."""
        begin, end = self._field(column)
        return self.text[max(begin[row], 0) : max(end[row], 0)].tobytes()

    def expect(self, fine: NDArray[np.bool_], column: str, expected: str) -> None:
        """Mark lines where `column` is not what it should be."""
        bad = np.flatnonzero(self.good & ~fine)
        self.total += len(bad)
        self.good &= fine
        for row in bad[:MAX_LISTED]:
            content = self.raw(int(row), column)
            found = show(content) if content else "nothing"
            self.problems.append(
                (int(row), Problem(self.first_line + int(row), column, found, expected))
            )

    def settle(self, bad_lines: BadLines) -> NDArray[np.int64]:
        """The good rows; raises for bad ones unless they are to be skipped."""
        if self.problems and bad_lines == "raise":
            ordered = [problem for _, problem in sorted(self.problems, key=lambda pair: pair[0])]
            raise InvalidFile(self.path, ordered, self.total)
        return np.flatnonzero(self.good)

    def _field(self, column: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        k = self.columns.index(column)
        return np.ascontiguousarray(self.begin[:, k]), np.ascontiguousarray(self.end[:, k])


def read_text(
    path: Path, layout: Layout, limits: Limits = DATASET_LIMITS, block_bytes: int = BLOCK_BYTES
) -> Iterator[Block]:
    """The blocks of a delimited text file (plain, gzip or zstd), in order.

    Memory is a few times `block_bytes`, whatever the size of the file. A line over
    `limits.max_line` bytes is an error.
    """
    number, names, wanted = 1, layout.columns, layout.columns
    to_skip, header = layout.skip, layout.header
    for lines in _whole_lines(path, limits, block_bytes):
        text = lines
        while text and (to_skip or header):
            line, _, text = text.partition(b"\n")
            if to_skip:
                to_skip -= 1
            else:
                names, header = _header(path, line, number, layout), False
            number += 1
        if text:
            block = _cut(path, text, number, layout, names, wanted)
            _check_lengths(block, limits)
            number += len(block)
            yield block
    if header:
        expected = f"a header that names {', '.join(layout.columns)}"
        raise InvalidFile(path, [Problem(number, "", "no header", expected)])


def _whole_lines(path: Path, limits: Limits, block_bytes: int) -> Iterator[bytes]:
    """Blocks that end at a line end; only the last may lack it. The byte order mark is cut."""
    rest, lines_done, first = b"", 0, True
    for some in read_blocks(path, limits, block_bytes):
        block = some.removeprefix(BOM) if first else some
        first = False
        cut = block.rfind(b"\n") + 1
        if not cut:
            rest += block
            if len(rest) > limits.max_line:
                raise long_line(path, lines_done + 1, limits)
            continue
        whole, rest = rest + block[:cut], block[cut:]
        lines_done += whole.count(b"\n")
        if len(rest) > limits.max_line:
            raise long_line(path, lines_done + 1, limits)
        yield whole
    if rest:
        yield rest


def _header(path: Path, line: bytes, number: int, layout: Layout) -> tuple[str, ...]:
    """The column names of the file; every wanted one must be among them, once."""
    text = line.removesuffix(b"\r").decode("utf-8", "replace")
    names = tuple(name.strip().strip('"') for name in text.split(layout.delimiter))
    for wanted in layout.columns:
        if names.count(wanted) != 1:
            found = f"{names.count(wanted)} times in {show(text, 80)}"
            raise InvalidFile(path, [Problem(number, wanted, found, "this column once")])
    return names


def _cut(
    path: Path,
    text: bytes,
    first_line: int,
    layout: Layout,
    names: Sequence[str],
    wanted: tuple[str, ...],
) -> Block:
    lines = text.count(b"\n") + (not text.endswith(b"\n"))
    buffer = np.frombuffer(text, dtype=np.uint8)
    places = [names.index(column) for column in wanted]
    begin, end, fields = fieldscan.split_lines(
        buffer, ord(layout.delimiter), layout.quoted, max(places) + 1, lines
    )
    good = np.ones(lines, dtype=np.bool_)
    block = Block(
        path, first_line, wanted, buffer, begin[:, places], end[:, places], good, layout.quoted
    )
    fewest = max(places) + 1 if layout.fewest is None else layout.fewest
    short = np.flatnonzero(fields < fewest)
    block.good[short] = False
    block.total = len(short)
    for row in short[:MAX_LISTED]:
        found = "an unclosed quote" if fields[row] < 0 else f"{fields[row]} columns"
        problem = Problem(first_line + int(row), "", found, f"at least {fewest} columns")
        block.problems.append((int(row), problem))
    return block


def _check_lengths(block: Block, limits: Limits) -> None:
    """Lines inside a block may be longer than allowed too."""
    ends = np.flatnonzero(block.text == fieldscan.LF)
    lengths = np.diff(np.concatenate([[-1], ends, [len(block.text)]])) - 1
    if int(lengths.max()) > limits.max_line:
        raise long_line(block.path, block.first_line + int(lengths.argmax()), limits)


def text_of(value: Any) -> str:
    """Bytes of a data set as text: UTF-8, else Latin-1 (the check-in files use both)."""
    try:
        return bytes(value).decode("utf-8")
    except UnicodeDecodeError:
        return bytes(value).decode("latin-1")
