"""Every error that tracecup raises on purpose, and how it is worded.

A message says what was wrong, where (file, line, column or user, time) and what is accepted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import ClassVar, NoReturn

MAX_LISTED = 10
MAX_LISTED_OF_A_FOLDER = 40


class TraceCupError(Exception):
    """Base of all errors of this package; anything else that escapes is a bug."""


class InvalidParameter(TraceCupError, ValueError):
    """A parameter is outside its declared range."""


class UnknownMethod(TraceCupError, LookupError):
    """A method name that no registry knows."""


class InvalidTraces(TraceCupError, ValueError):
    """Traces, tables or cities that do not fit together."""


class MissingPackage(TraceCupError, ImportError):
    """An optional package that this work needs is not installed."""


class UnreadableFile(TraceCupError, OSError):
    """A path that cannot be read or written at all: missing, a directory, a pipe, no permission."""

    def __init__(self, path: str | PathLike[str], reason: str) -> None:
        self.path = fspath(path)
        self.reason = reason
        super().__init__(f"{self.path}: {reason}")

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        """Errors travel between processes by their parts, since the message is not an argument."""
        return type(self), (self.path, self.reason)


@dataclass(frozen=True)
class Problem:
    """One thing wrong in a file: where it is, what was found, what is accepted.

    `line` counts from 1 with the header as line 1 (in Parquet files: the row, from 1); 0 means
    the file as a whole. `column` is the column's name, or "" for the whole line.
    """

    line: int
    column: str
    found: str
    expected: str
    part: ClassVar[str] = "column"

    def as_dict(self) -> dict[str, int | str]:
        """As JSON: how pages, the API and the client say what is wrong and where.

        >>> Problem(3, "reg_id", "0", "1 to 5").as_dict()
        {'line': 3, 'field': 'reg_id', 'found': '0', 'expected': '1 to 5'}
        """
        return {
            "line": self.line,
            "field": self.column,
            "found": self.found,
            "expected": self.expected,
        }

    def __str__(self) -> str:
        where = f"line {self.line}" if self.line else "file"
        if self.column:
            where += f", {self.part} {self.column}"
        return f"{where}: found {self.found}, expected {self.expected}"


class BrokenFolder(TraceCupError, ValueError):
    """A folder that cannot be imported; says all that is wrong with it, line by line."""

    def __init__(self, folder: str | PathLike[str], problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        shown = list(self.problems[:MAX_LISTED_OF_A_FOLDER])
        more = len(self.problems) - len(shown)
        shown += [f"and {more} more"] if more else []
        super().__init__("\n".join([f"{fspath(folder)}: nothing was imported", *shown]))


class InvalidFile(TraceCupError, ValueError):
    """A file whose content is not what its kind demands.

    Lists the first problems (at most ten) and says how many more there are.
    """

    def __init__(
        self, path: str | PathLike[str], problems: Sequence[Problem], total: int | None = None
    ) -> None:
        self.path = fspath(path)
        self.problems = tuple(problems[:MAX_LISTED])
        self.total = max(len(problems), total or 0)
        lines = [f"{self.path}: {problem}" for problem in self.problems]
        if self.total > len(self.problems):
            lines.append(f"{self.path}: and {self.total - len(self.problems)} more")
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.path, self.problems, self.total)


def fail(path: str | PathLike[str], line: int, column: str, found: str, expected: str) -> NoReturn:
    """Refuse a file for one thing."""
    raise InvalidFile(path, [Problem(line, column, found, expected)])


class TooLarge(InvalidFile):
    """A file with more bytes, rows or ids than its reader may take."""
