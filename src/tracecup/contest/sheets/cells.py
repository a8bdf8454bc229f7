"""The cells of a table as text, from CSV or from a sheet of a workbook (.xlsx).

Bounded in time and memory whatever the file holds; a workbook needs the extra `sheets`.
"""

from __future__ import annotations

import csv
import io
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from typing import Any

from tracecup.errors import InvalidFile, InvalidParameter, MissingPackage, Problem, TraceCupError
from tracecup.safeio import MIB, Limits, magic_of, read_blocks, read_lines, show

Path = str | PathLike[str]
Row = tuple[int, list[str]]

SHEET_LIMITS = Limits(max_bytes=16 * MIB, max_line=64 * 1024, max_rows=20_000)
# A workbook is a ZIP of XML, which packs well; this bounds what it unpacks to.
MAX_UNPACKED, MAX_PARTS, MAX_COLUMNS = 128 * MIB, 2000, 1000
WORKBOOK_MAGIC = b"PK\x03\x04"


@dataclass(frozen=True)
class Note:
    """Something odd in a sheet that did not keep it from being read.

    >>> print(Note(1, 26, "'SecI'", "read as SecT"))
    cell Z1: found 'SecI', read as SecT
    """

    line: int
    column: int
    found: str
    read: str

    def __str__(self) -> str:
        return f"{cell_name(self.line, self.column)}: found {self.found}, {self.read}"


def cell_name(line: int, column: int) -> str:
    """A place as spreadsheets name it, both counted from 1; column 0 is the whole line.

    >>> cell_name(3, 28), cell_name(3, 0)
    ('cell AB3', 'line 3')
    """
    if column == 0:
        return f"line {line}"
    letters = ""
    while column:
        column, digit = divmod(column - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return f"cell {letters}{line}"


def read_cells(path: Path, sheet: str = "") -> Iterator[Row]:
    """(line, cells) of every row of a table, cells without blanks around them.

    A workbook is told by its content. Of several sheets `sheet` names the one; in a CSV there
    is nothing to name.
    """
    if magic_of(path) == WORKBOOK_MAGIC:
        yield from _workbook_rows(path, sheet)
        return
    if sheet:
        raise InvalidParameter(f"{path} is no workbook (.xlsx) and has no sheet {sheet!r}")
    for number, line in enumerate(read_lines(path, SHEET_LIMITS), start=1):
        yield number, [cell.strip() for cell in _fields(path, number, line)]


def sheet_names(path: Path) -> tuple[str, ...]:
    """The names of a workbook's sheets; one without a name for a CSV."""
    return tuple(_opened(path).sheetnames) if magic_of(path) == WORKBOOK_MAGIC else ("",)


def spelled(value: float) -> str:
    """A score as the sheets write it: shortest digits that give it back, whole numbers plain.

    >>> spelled(1.0), spelled(0.9175)
    ('1', '0.9175')
    """
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _fields(path: Path, number: int, line: str) -> list[str]:
    """The fields of a line of CSV; quotes as spreadsheets write them."""
    if '"' not in line:
        return line.split(",")
    try:
        return next(csv.reader([line]), [""])
    except csv.Error as error:
        told = Problem(number, "", show(line), f"a line of a table ({error})")
        raise InvalidFile(path, [told]) from error


def _workbook_rows(path: Path, sheet: str) -> Iterator[Row]:
    book = _opened(path)
    names = book.sheetnames
    if not sheet and len(names) > 1:
        raise InvalidParameter(f"{path} has several sheets, name one of: {', '.join(names)}")
    if sheet and sheet not in names:
        raise InvalidParameter(f"{path} has no sheet {sheet!r}, only {', '.join(names)}")
    try:
        rows = list(_filled(path, book[sheet or names[0]]))
    except TraceCupError:
        raise
    except Exception as error:
        raise _broken(path, error) from error
    width = max((len(cells) for _, cells in rows), default=0)
    for number, cells in rows:
        yield number, cells + [""] * (width - len(cells))


def _filled(path: Path, table: Any) -> Iterator[Row]:
    """The rows down to the last one with a cell, each without its empty end."""
    last, blank = SHEET_LIMITS.max_rows + 1, 0
    rows = table.iter_rows(max_row=last, max_col=MAX_COLUMNS, values_only=True)
    for number, row in enumerate(rows, start=1):
        # Counting first: rows far below the table are wide and empty.
        cells = [_text(value) for value in row] if row.count(None) < len(row) else []
        while cells and not cells[-1]:
            cells.pop()
        if not cells:
            blank += 1
            continue
        if number == last:
            raise InvalidFile(path, [Problem(number, "", "another row", f"at most {last - 1}")])
        yield from ((number - k, []) for k in range(blank, 0, -1))
        blank = 0
        yield number, cells


def _opened(path: Path) -> Any:
    """The workbook, for reading its values row by row."""
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise MissingPackage(
            'workbooks (.xlsx) need openpyxl: install it with pip install "tracecup[sheets]"'
        ) from error
    content = io.BytesIO(b"".join(read_blocks(path, SHEET_LIMITS)))
    try:
        with zipfile.ZipFile(content) as packed:
            parts = packed.infolist()
        if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED:
            found = f"{len(parts)} parts, {sum(part.file_size for part in parts)} bytes unpacked"
            expected = f"at most {MAX_PARTS} parts and {MAX_UNPACKED} bytes"
            raise InvalidFile(path, [Problem(0, "", found, expected)])
        with warnings.catch_warnings():
            # Extensions of other programs that it cannot read hold no cells.
            warnings.simplefilter("ignore")
            return load_workbook(content, read_only=True, data_only=True, keep_links=False)
    except TraceCupError:
        raise
    except Exception as error:
        raise _broken(path, error) from error


def _broken(path: Path, error: Exception) -> InvalidFile:
    """A damaged workbook can fail in any way inside the library that reads it."""
    found = f"{type(error).__name__}: {show(str(error), 80)}"
    return InvalidFile(path, [Problem(0, "", found, "a workbook (.xlsx)")])


def _text(value: Any) -> str:
    """A cell as a CSV would hold it."""
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return spelled(value) if abs(value) < 1e300 else repr(value)
    return str(value).strip()
