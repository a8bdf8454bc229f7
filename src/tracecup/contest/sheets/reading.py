"""Reading a score sheet as organisers publish it: slips become notes, contradictions errors.

Every note and every problem names the cell and what was found in it.
"""

from __future__ import annotations

import re
from os import fspath
from typing import NoReturn

import numpy as np

from tracecup.contest.challenges import ATTACK_KINDS, CHALLENGES, AttackKind
from tracecup.contest.filenames import parse_file_name
from tracecup.contest.sheets.attackkind import kind_of_values
from tracecup.contest.sheets.cells import Note, Path, read_cells
from tracecup.contest.sheets.sheet import (
    FILE_COLUMN,
    MINIMUM_COLUMN,
    OWN,
    SAMPLE_LETTER,
    SUM_ROW,
    Sheet,
    Where,
    column_of,
)
from tracecup.errors import InvalidFile, Problem
from tracecup.safeio import show

MAX_SUM = 1e6
INVALID = "invalid"
ATTACK_WORDS = {kind: challenge.title for kind, challenge in CHALLENGES.items()}
TITLE_ROWS = 5
_SUM_NAMES = frozenset({"sum", "total"})
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
_TEAM_HEADING = re.compile(r"(?:team[ _]?)?([0-9]{1,9})", re.ASCII | re.IGNORECASE)
_TEAM_IN_FILE = re.compile(r"(pubtraces_team)([0-9]{1,2})(_data0[12]_(?:IDP|TRP).*)", re.ASCII)


def read_sheet(path: Path, kind: AttackKind, sheet: str = "") -> Sheet:
    """Read a score sheet, from CSV or from the sheet of this name in a workbook.

    Columns I1, I2, ... (trace inference: T1, T2, ...) are sample attacks, all others attackers.
    The minimum column and the SUM row may be missing. What a reader can put right without
    guessing is a note: a heading of the other attack where the values say which attack it is,
    columns or rows out of order, blank rows, numbers of teams without zeros. An empty cell or
    `-` in another's row is a target that was not attacked, and so is `invalid` (an answer that
    did not count); a row in which every score or the minimum is `invalid` is a release that did
    not count.
    """
    reader = _SheetReader(path, kind)
    for number, cells in read_cells(path, sheet):
        reader.line(number, cells)
    return reader.sheet()


def number_in(text: str, high: float) -> float | None:
    """A plain decimal number from 0 to `high`."""
    value = float(text) if len(text) <= 60 and _NUMBER.fullmatch(text) else -1.0
    return value if 0 <= value <= high else None


def full_file_name(name: str) -> str:
    """A released file's name with the team's number in three digits.

    >>> full_file_name("pubtraces_team3_data02_TRP.csv")
    'pubtraces_team003_data02_TRP.csv'
    """
    found = _TEAM_IN_FILE.fullmatch(name)
    return f"{found[1]}{int(found[2]):03d}{found[3]}" if found else name


def full_column_name(name: str) -> str:
    """A team's column with the number in three digits or more, other names as they are.

    >>> full_column_name("team3"), full_column_name("12"), full_column_name("I1")
    ('team003', 'team012', 'I1')
    """
    found = _TEAM_HEADING.fullmatch(name)
    return f"team{found[1]:>03}" if found else name


class _SheetReader:
    """Checks a sheet line by line and collects notes and problems."""

    def __init__(self, path: Path, kind: AttackKind) -> None:
        self.path, self.kind = path, kind
        self.problems: list[Problem] = []
        self.notes: list[Note] = []
        self.header: list[str] = []
        self.header_line = 0
        self.minimum_at: int | None = None
        self.columns: dict[str, int] = {}
        self.lines: dict[str, int] = {}
        self.owners: dict[str, str] = {}
        self.entered: dict[tuple[str, str], int] = {}
        self.rows: list[list[float]] = []
        self.lowest: list[float] = []
        self.invalid: set[str] = set()
        self.sums: tuple[float, ...] | None = None

    def line(self, number: int, cells: list[str]) -> None:
        if not any(cells):
            self.note(number, 0, "a blank line", "left out")
        elif not self.header:
            self.find_header(number, cells)
        else:
            self.read_line(number, cells)

    def find_header(self, number: int, cells: list[str]) -> None:
        if cells[0] != FILE_COLUMN and number < TITLE_ROWS and not any(cells[1:]):
            self.note(number, 1, show(cells[0]), "a title above the table, left out")
            return
        while cells and not cells[-1]:
            self.note(number, len(cells), "''", "a column without a name, left out if blank")
            cells = cells[:-1]
        self.header, self.header_line = cells, number
        self.read_header(number, cells)

    def read_header(self, number: int, cells: list[str]) -> None:
        last = MINIMUM_COLUMN[self.kind]
        if cells[0] != FILE_COLUMN or len(cells) < 2:
            wanted = f"the header {FILE_COLUMN},team001,...,{SAMPLE_LETTER[self.kind]}1,...,{last}"
            self.stop(number, "", show(",".join(cells), 80), wanted)
        minima = [at for at, name in enumerate(cells) if name in MINIMUM_COLUMN.values()]
        if len(minima) > 1:
            self.stop(number, cells[minima[1]], show(cells[minima[1]]), "one minimum column")
        self.minimum_at = minima[0] if minima else None
        if self.minimum_at is not None and self.minimum_at != len(cells) - 1:
            found = show(cells[self.minimum_at])
            self.note(number, self.minimum_at + 1, found, "the minimum, though not the last column")
        names = {at: cells[at] for at in range(1, len(cells)) if at != self.minimum_at}
        if not names:
            self.stop(number, "", show(",".join(cells), 80), "at least one attacker")
        for at, name in names.items():
            if not name or full_column_name(name) in self.columns:
                self.stop(number, name, show(name), "names of attackers, each once")
            self.columns[full_column_name(name)] = at
        short = [(at, name) for at, name in names.items() if full_column_name(name) != name]
        if short:
            at, name = short[0]
            more = f" (and {len(short) - 1} more like it)" if len(short) > 1 else ""
            self.note(number, at + 1, show(name), f"read as {full_column_name(name)}{more}")
        self.note_order(number, names)

    def note_order(self, number: int, names: dict[int, str]) -> None:
        sampled = [at for at, name in names.items() if _sample_kind(name)]
        for at, name in names.items():
            if sampled and at > sampled[0] and not _sample_kind(name):
                self.note(number, at + 1, show(name), "an attacker behind the sample attacks")
                return

    def read_line(self, number: int, cells: list[str]) -> None:
        if len(cells) > len(self.header) and not any(cells[len(self.header) :]):
            cells = cells[: len(self.header)]
        if len(cells) != len(self.header):
            found = f"{len(cells)} fields ({show(','.join(cells))})"
            self.bad(number, "", found, f"{len(self.header)} fields")
        elif cells[0].lower() in _SUM_NAMES:
            self.read_sums(number, cells)
        else:
            self.read_row(number, cells)

    def read_row(self, number: int, cells: list[str]) -> None:
        name = full_file_name(cells[0])
        if not name or name in self.lines:
            self.bad(number, FILE_COLUMN, show(name), "the name of a released file, each once")
            return
        if name != cells[0]:
            self.note(number, 1, show(cells[0], 80), f"read as {name}")
        before = next(reversed(self.lines), "")
        if before == SUM_ROW:
            self.note(number, 1, show(name, 80), f"a file below {SUM_ROW}")
        elif name < before and parse_file_name(name) and parse_file_name(before):
            self.note(number, 1, show(name, 80), f"out of order, behind {before}")
        self.lines[name] = number
        self.owners[name] = self.owner(number, name, cells)
        self.rows.append(self.scores(number, name, cells))
        self.enter(number, name)
        if self.minimum_at is not None:
            self.read_minimum(number, name, cells[self.minimum_at])

    def owner(self, number: int, name: str, cells: list[str]) -> str:
        """The column that a file belongs to: by its name, else the first that is marked."""
        said = parse_file_name(name)
        if said is not None and said.attacker is None:
            own = column_of(said.team)
            if own in self.columns and cells[self.columns[own]] != OWN:
                found = show(cells[self.columns[own]])
                self.bad(number, own, found, f"{OWN}, it is the team's own file")
            return own if own in self.columns else ""
        marked = [c for c, at in self.columns.items() if cells[at] == OWN and not _sample_kind(c)]
        return marked[0] if marked else ""

    def scores(self, number: int, name: str, cells: list[str]) -> list[float]:
        row: list[float] = []
        words: list[tuple[str, int]] = []
        for column, at in self.columns.items():
            text, value = cells[at], number_in(cells[at], 1.0)
            if column == self.owners[name]:
                value = None
            elif text.lower() in ("", OWN, INVALID):
                words.append((text, at))
            elif value is None:
                self.bad(number, column, show(text), f"a number from 0 to 1, or {OWN} if own")
            row.append(np.nan if value is None else value)
        said = [text for text, _ in words if text.lower() == INVALID]
        others = len(self.columns) - (self.owners[name] != "")
        if said and len(said) == others:
            self.invalid.add(name)
            self.note(number, words[0][1] + 1, show(said[0]), "a release that does not count")
            return row
        for text, at in words:
            read = "an answer that did not count" if text.lower() == INVALID else "not attacked"
            self.note(number, at + 1, show(text), read)
        return row

    def enter(self, number: int, name: str) -> None:
        """One file per team and challenge."""
        said = parse_file_name(name)
        team = column_of(said.team) if said and said.attacker is None else self.owners[name]
        if not team:
            return
        one = (team, said.challenge if said else "trace")
        if one in self.entered:
            expected = f"one file per team and challenge (see line {self.entered[one]})"
            self.bad(number, FILE_COLUMN, show(name, 80), expected)
        self.entered[one] = number

    def read_minimum(self, number: int, name: str, text: str) -> None:
        at, low = self.minimum_at or 0, number_in(text, 1.0)
        if text.lower() == INVALID:
            if name not in self.invalid:
                self.note(number, at + 1, show(text), "a release that does not count")
            self.invalid.add(name)
        elif text in ("", OWN):
            self.note(number, at + 1, show(text), "no minimum stated")
        elif low is None:
            self.bad(number, self.header[at], show(text), "a number from 0 to 1")
        self.lowest.append(np.nan if low is None else low)

    def read_sums(self, number: int, cells: list[str]) -> None:
        if self.sums is not None:
            self.bad(number, FILE_COLUMN, show(cells[0]), f"{SUM_ROW} once")
        if cells[0] != SUM_ROW:
            self.note(number, 1, show(cells[0]), f"read as {SUM_ROW}")
        sums: list[float] = []
        for column, at in self.columns.items():
            value = number_in(cells[at], MAX_SUM)
            if cells[at] in ("", OWN):
                self.note(number, at + 1, show(cells[at]), "no sum stated")
            elif value is None:
                self.bad(number, column, show(cells[at]), "the sum of the column")
            sums.append(np.nan if value is None else value)
        if self.minimum_at is not None:
            text = cells[self.minimum_at]
            if text not in ("", OWN) and number_in(text, MAX_SUM) is None:
                self.bad(number, self.header[self.minimum_at], show(text), "nothing, or the sum")
        self.lines[SUM_ROW] = number
        self.sums = tuple(sums)

    def check_kind(self) -> None:
        """Headings and values against the attack that was asked for; the values decide."""
        told = kind_of_values(value for row in self.rows for value in row)
        if told is not None and told != self.kind:
            line, column, value = self.telling_value()
            found = f"{value}, a score of {ATTACK_WORDS[told]}"
            expected = (
                f"scores of {ATTACK_WORDS[self.kind]} (shares of users are re-identification)"
            )
            self.stop(line, column, found, expected)
        headings = [(name, at, _sample_kind(name)) for name, at in self.columns.items()]
        if self.minimum_at is not None:
            kinds = {name: kind for kind, name in MINIMUM_COLUMN.items()}
            name = self.header[self.minimum_at]
            headings.append((name, self.minimum_at, kinds[name]))
        for name, at, said in headings:
            if said is None or said == self.kind:
                continue
            if told is None:
                last = MINIMUM_COLUMN[self.kind]
                found = f"{show(name)}, a heading of {ATTACK_WORDS[said]}"
                expected = f"{last} as the last column (the values do not tell which attack it is)"
                self.stop(self.header_line, name, found, expected)
            right = _heading(self.kind, name)
            words = f"read as {right}: the values are {ATTACK_WORDS[self.kind]} scores"
            self.note(self.header_line, at + 1, show(name), words)

    def telling_value(self) -> tuple[int, str, str]:
        """Line, column and text of the score that shows the attack best: the longest one."""
        best = (self.header_line, "", "")
        for name, row in zip(self.files, self.rows, strict=True):
            for column, value in zip(self.columns, row, strict=True):
                if 0 < value < 1 and len(repr(value)) > len(best[2]):
                    best = (self.lines[name], column, repr(value))
        return best

    @property
    def files(self) -> list[str]:
        return [name for name in self.lines if name != SUM_ROW]

    def sheet(self) -> Sheet:
        if not self.header:
            self.bad(0, "", "an empty file", f"a score sheet ({FILE_COLUMN},...)")
        elif not self.rows and not self.problems:
            self.bad(0, "", "no rows", "one row for every released file")
        if self.problems:
            raise InvalidFile(self.path, self.problems)
        self.check_kind()
        samples = [name for name in self.columns if _sample_kind(name)]
        attackers = [name for name in self.columns if not _sample_kind(name)]
        held = list(self.columns)
        order = [held.index(name) for name in (*attackers, *samples)]
        at = {_heading(self.kind, name): place + 1 for name, place in self.columns.items()}
        if self.minimum_at is not None:
            at[MINIMUM_COLUMN[self.kind]] = self.minimum_at + 1
        return Sheet(
            self.kind,
            tuple(self.files),
            tuple(attackers),
            tuple(_heading(self.kind, name) for name in samples),
            np.array(self.rows, dtype=np.float64)[:, order],
            tuple(self.lowest) if self.minimum_at is not None else None,
            None if self.sums is None else tuple(self.sums[k] for k in order),
            tuple(self.owners[name] for name in self.files),
            frozenset(self.invalid),
            tuple(sorted(self.notes, key=lambda note: (note.line, note.column))),
            Where(fspath(self.path), self.lines, at),
        )

    def note(self, line: int, column: int, found: str, read: str) -> None:
        self.notes.append(Note(line, column, found, read))

    def bad(self, line: int, column: str, found: str, expected: str) -> None:
        self.problems.append(Problem(line, column, found, expected))

    def stop(self, line: int, column: str, found: str, expected: str) -> NoReturn:
        self.bad(line, column, found, expected)
        raise InvalidFile(self.path, self.problems)


def _sample_kind(column: str) -> AttackKind | None:
    """The attack whose sample a column is, None for an attacker."""
    for kind in ATTACK_KINDS:
        if re.fullmatch(f"{SAMPLE_LETTER[kind]}[0-9]+", column, re.ASCII):
            return kind
    return None


def _heading(kind: AttackKind, name: str) -> str:
    """A heading as it should be in a sheet of this kind."""
    if name in MINIMUM_COLUMN.values():
        return MINIMUM_COLUMN[kind]
    return f"{SAMPLE_LETTER[kind]}{name[1:]}" if _sample_kind(name) else name
