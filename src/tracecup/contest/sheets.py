"""Score sheets in the format of 2019: released files against attackers, as CSV.

Reading names the line and column of what is wrong; writing gives the published bytes again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from tracecup.contest.filenames import BENCHMARK, parse_file_name
from tracecup.contest.rules import AttackKind
from tracecup.contest.standing.scoreboard import AttackBoard, BoardRow, State
from tracecup.errors import InvalidFile, InvalidParameter, Problem
from tracecup.safeio import MIB, Limits, atomic_write, read_lines, show

Path = str | PathLike[str]

FILE_COLUMN = "pubtraces"
MINIMUM_COLUMN: dict[AttackKind, str] = {"reid": "SecI", "trace": "SecT"}
SAMPLE_LETTER: dict[AttackKind, str] = {"reid": "I", "trace": "T"}
SUM_ROW = "SUM"
OWN = "-"
UTILITY_HEADER = (FILE_COLUMN, "utility")
SHEET_LIMITS = Limits(max_bytes=16 * MIB, max_line=64 * 1024, max_rows=20_000)
MAX_SUM = 1e6

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
_NUMBERED = re.compile(r"team([0-9]{3,9})", re.ASCII)


@dataclass(frozen=True, eq=False)
class Sheet:
    """A score sheet: `scores` (files, attackers + samples), NaN where the file is the attacker's.

    `minimum` and `sums` are what the sheet itself says, None where it has no such column or row.
    Names of columns are kept as written (`team001`, `I1`).
    """

    kind: AttackKind
    files: tuple[str, ...]
    attackers: tuple[str, ...]
    samples: tuple[str, ...]
    scores: NDArray[np.float64]
    minimum: tuple[float, ...] | None = None
    sums: tuple[float, ...] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Attackers, then sample attacks."""
        return self.attackers + self.samples

    @classmethod
    def of(cls, board: AttackBoard) -> Sheet:
        """The sheet of a board: missing cells are 1, those of invalid releases 0."""
        scores = np.where(board.states == State.OWN, np.nan, board.values)
        return cls(
            board.kind,
            tuple(row.name for row in board.releases),
            tuple(column_of(team) for team in board.attackers),
            board.samples,
            scores,
            tuple(board.minimum().values()),
            tuple(board.sums().values()),
        )

    def board(self, valid: Mapping[str, bool] | None = None) -> AttackBoard:
        """The board of a sheet; `valid` says which files reached the floor (all, without).

        Team and challenge come from the file name; a file of another name belongs to the
        attacker marked `-` and to the trace-inference challenge.
        """
        releases = [
            _release(self, i, valid[name] if valid is not None else True)
            for i, name in enumerate(self.files)
        ]
        teams = [team_of(column) for column in self.attackers]
        tries = {
            (name, attacker): [float(self.scores[i, j])]
            for i, name in enumerate(self.files)
            for j, attacker in enumerate([*teams, *self.samples])
            if not np.isnan(self.scores[i, j])
        }
        return AttackBoard.of(self.kind, releases, teams, self.samples, tries)

    def take(self, files: Sequence[str]) -> Sheet:
        """The rows of these files, in this order; a part of the rows has no stated sums."""
        position = {name: i for i, name in enumerate(self.files)}
        rows = [position[name] for name in files]
        return Sheet(
            self.kind,
            tuple(files),
            self.attackers,
            self.samples,
            self.scores[rows],
            None if self.minimum is None else tuple(self.minimum[i] for i in rows),
            self.sums if len(rows) == len(self.files) else None,
        )


def column_of(team: str) -> str:
    """The column of a team: `team003` for 003, other names as they are.

    >>> column_of("003"), column_of("Blue")
    ('team003', 'Blue')
    """
    return f"team{team}" if _NUMBERED.fullmatch(f"team{team}") else team


def team_of(column: str) -> str:
    """The team of a column.

    >>> team_of("team003"), team_of("Blue")
    ('003', 'Blue')
    """
    found = _NUMBERED.fullmatch(column)
    return found[1] if found else column


def read_sheet(path: Path, kind: AttackKind) -> Sheet:
    """Read a score sheet. The minimum column and the SUM row may be missing.

    Columns I1, I2, ... (trace inference: T1, T2, ...) are sample attacks, all others attackers.
    """
    reader = _SheetReader(path, kind)
    for number, line in enumerate(read_lines(path, SHEET_LIMITS), start=1):
        reader.line(number, line.split(","))
    return reader.sheet()


def write_sheet(path: Path, sheet: Sheet) -> None:
    """Write a score sheet with its minimum column and SUM row, in full float precision."""
    board = sheet.board()
    minimum = sheet.minimum or tuple(board.minimum().values())
    sums = sheet.sums or tuple(board.sums().values())
    lines = [",".join([FILE_COLUMN, *sheet.columns, MINIMUM_COLUMN[sheet.kind]])]
    for name, row, low in zip(sheet.files, sheet.scores, minimum, strict=True):
        cells = [OWN if np.isnan(score) else spelled(float(score)) for score in row]
        lines.append(",".join([name, *cells, spelled(low)]))
    lines.append(",".join([SUM_ROW, *(spelled(value) for value in sums), ""]))
    for line in lines:
        if re.search(r"[\r\n]", line) or line.count(",") != len(sheet.columns) + 1:
            raise InvalidParameter(f"names in a sheet hold no comma and no line end: {line[:80]!r}")
    with atomic_write(path) as file:
        file.write(("\n".join(lines) + "\n").encode())


def read_utilities(path: Path) -> dict[str, float]:
    """Released file -> utility, from a table with the header `pubtraces,utility`."""
    found: dict[str, float] = {}
    for number, line in enumerate(read_lines(path, SHEET_LIMITS), start=1):
        fields = line.split(",")
        if number == 1:
            if tuple(fields) != UTILITY_HEADER:
                expected = f"the header {','.join(UTILITY_HEADER)}"
                raise InvalidFile(path, [Problem(1, "", show(line, 80), expected)])
        elif len(fields) != 2 or not fields[0] or fields[0] in found:
            expected = "a file, each once, and its utility"
            raise InvalidFile(path, [Problem(number, FILE_COLUMN, show(line, 80), expected)])
        else:
            value = _number(fields[1], 1.0)
            if value is None:
                problem = Problem(number, "utility", show(fields[1]), "a number from 0 to 1")
                raise InvalidFile(path, [problem])
            found[fields[0]] = value
    if not found:
        raise InvalidFile(path, [Problem(0, "", "no rows", "one row for every released file")])
    return found


def spelled(value: float) -> str:
    """A score as the sheets write it: shortest digits that give it back, whole numbers plain.

    >>> spelled(1.0), spelled(0.9175)
    ('1', '0.9175')
    """
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _number(text: str, high: float) -> float | None:
    """A plain decimal number from 0 to `high`."""
    value = float(text) if len(text) <= 60 and _NUMBER.fullmatch(text) else -1.0
    return value if 0 <= value <= high else None


def _release(sheet: Sheet, row: int, valid: bool) -> BoardRow:
    name = sheet.files[row]
    said = parse_file_name(name)
    if said is not None and said.attacker is None:
        return BoardRow(name, said.team, said.challenge, valid, said.team == BENCHMARK)
    own = np.flatnonzero(np.isnan(sheet.scores[row]))
    if len(own) == 0:
        # A file that is nobody's and has no number: the judge's own data.
        return BoardRow(name, name, "trace", valid, benchmark=True)
    return BoardRow(name, team_of(sheet.columns[own[0]]), "trace", valid)


class _SheetReader:
    """Checks a sheet line by line and collects the problems."""

    def __init__(self, path: Path, kind: AttackKind) -> None:
        self.path, self.kind = path, kind
        self.problems: list[Problem] = []
        self.header: list[str] = []
        self.columns: list[str] = []
        self.has_minimum = False
        self.files: list[str] = []
        self.owners: dict[tuple[str, str], int] = {}
        self.rows: list[list[float]] = []
        self.lowest: list[float] = []
        self.sums: tuple[float, ...] | None = None
        self.sum_line = 0

    def line(self, number: int, fields: list[str]) -> None:
        if number == 1:
            self.read_header(fields)
        elif self.sum_line:
            self.bad(number, "", show(",".join(fields)), f"nothing after {SUM_ROW}")
        elif len(fields) != len(self.header):
            found = f"{len(fields)} fields ({show(','.join(fields))})"
            self.bad(number, "", found, f"{len(self.header)} fields")
        elif fields[0] == SUM_ROW:
            self.sum_line = number
            self.read_sums(number, fields)
        else:
            self.read_row(number, fields)

    def read_header(self, fields: list[str]) -> None:
        last = MINIMUM_COLUMN[self.kind]
        others = [name for kind, name in MINIMUM_COLUMN.items() if kind != self.kind]
        self.header = fields
        self.has_minimum = fields[-1] == last
        self.columns = fields[1:-1] if self.has_minimum else fields[1:]
        if fields[0] != FILE_COLUMN or not self.columns:
            wanted = f"the header {FILE_COLUMN},team001,...,{SAMPLE_LETTER[self.kind]}1,...,{last}"
            self.stop(1, "", show(",".join(fields), 80), wanted)
        if others[0] in self.columns:
            self.stop(1, others[0], "a sheet of the other attack", f"{last} as the last column")
        for k, name in enumerate(self.columns):
            if not name or name == last or name in self.columns[:k]:
                self.stop(1, name, show(name), "names of attackers, each once")
            if k and self.is_sample(self.columns[k - 1]) and not self.is_sample(name):
                self.stop(1, name, show(name), "sample attacks behind all attackers")

    def read_row(self, number: int, fields: list[str]) -> None:
        name = fields[0]
        if not name or name in self.files:
            self.bad(number, FILE_COLUMN, show(name), "the name of a released file, each once")
            return
        self.files.append(name)
        said = parse_file_name(name)
        owner = column_of(said.team) if said and said.attacker is None else None
        row: list[float] = []
        owned: str | None = None
        for column, text in zip(self.columns, fields[1:], strict=False):
            value = _number(text, 1.0)
            if text == OWN and not self.is_sample(column) and owner in (None, column) and not owned:
                owned = column
            elif text == OWN:
                whose = f"it is a file of {owner or owned}" if owner or owned else "sample attack"
                self.bad(number, column, show(text), f"a number from 0 to 1 ({whose})")
            elif column == owner:
                self.bad(number, column, show(text), f"{OWN}, it is the team's own file")
            elif value is None:
                self.bad(number, column, show(text), f"a number from 0 to 1, or {OWN} if own")
            row.append(np.nan if value is None else value)
        self.rows.append(row)
        if owner or owned:
            one = (owner or owned or "", said.challenge if said else "trace")
            if one in self.owners:
                expected = f"one file per team and challenge (see line {self.owners[one]})"
                self.bad(number, FILE_COLUMN, show(name, 80), expected)
            self.owners[one] = number
        if self.has_minimum:
            low = _number(fields[-1], 1.0)
            if low is None:
                self.bad(number, self.header[-1], show(fields[-1]), "a number from 0 to 1")
            self.lowest.append(np.nan if low is None else low)

    def read_sums(self, number: int, fields: list[str]) -> None:
        sums: list[float] = []
        for column, text in zip(self.columns, fields[1:], strict=False):
            value = _number(text, MAX_SUM)
            if value is None:
                self.bad(number, column, show(text), "the sum of the column")
            sums.append(np.nan if value is None else value)
        if self.has_minimum and fields[-1] and _number(fields[-1], MAX_SUM) is None:
            self.bad(number, self.header[-1], show(fields[-1]), "nothing, or the sum")
        self.sums = tuple(sums)

    def sheet(self) -> Sheet:
        if not self.header:
            self.bad(0, "", "an empty file", f"a score sheet ({FILE_COLUMN},...)")
        elif not self.rows and not self.problems:
            self.bad(0, "", "no rows", "one row for every released file")
        if self.problems:
            raise InvalidFile(self.path, self.problems)
        return Sheet(
            self.kind,
            tuple(self.files),
            tuple(name for name in self.columns if not self.is_sample(name)),
            tuple(name for name in self.columns if self.is_sample(name)),
            np.array(self.rows, dtype=np.float64),
            tuple(self.lowest) if self.has_minimum else None,
            self.sums,
        )

    def is_sample(self, column: str) -> bool:
        return re.fullmatch(f"{SAMPLE_LETTER[self.kind]}[0-9]+", column, re.ASCII) is not None

    def bad(self, line: int, column: str, found: str, expected: str) -> None:
        self.problems.append(Problem(line, column, found, expected))

    def stop(self, line: int, column: str, found: str, expected: str) -> None:
        self.bad(line, column, found, expected)
        raise InvalidFile(self.path, self.problems)
