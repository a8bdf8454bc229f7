"""A score sheet in the form of 2019: released files against attackers, minima and sums.

Writing one gives the published bytes again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tracecup.contest.challenges import CHALLENGES, AttackKind
from tracecup.contest.filenames import BENCHMARK, parse_file_name
from tracecup.contest.sheets.cells import Note, Path, cell_name, spelled
from tracecup.contest.standing.scoreboard import AttackBoard, BoardRow, State
from tracecup.errors import InvalidParameter
from tracecup.safeio import atomic_write

FILE_COLUMN = "pubtraces"
MINIMUM_COLUMN = {kind: challenge.sheet_minimum for kind, challenge in CHALLENGES.items()}
SAMPLE_LETTER = {kind: challenge.letter for kind, challenge in CHALLENGES.items()}
SUM_ROW = "SUM"
OWN = "-"

_NUMBERED = re.compile(r"team([0-9]{3,9})", re.ASCII)


@dataclass(frozen=True)
class Where:
    """Where a sheet was read: its file, the line of each row and the column of each name."""

    path: str
    lines: Mapping[str, int]
    columns: Mapping[str, int]

    def cell(self, row: str, column: str) -> str:
        """The cell of a row (a file, or SUM) and a column (an attacker, or the minimum)."""
        return cell_name(self.lines[row], self.columns[column])


@dataclass(frozen=True, eq=False)
class Sheet:
    """A score sheet: `scores` (files, attackers + samples), NaN where there is no score.

    `minimum` and `sums` are what the sheet itself says, None where it has no such column or row,
    NaN where the cell is empty. Names of columns are kept as published (`team001`, `I1`).
    `owners` names each file's own column, "" for nobody's; without it that is the column which
    has no score. `invalid` are files that the sheet calls so, `notes` what was odd in it.
    """

    kind: AttackKind
    files: tuple[str, ...]
    attackers: tuple[str, ...]
    samples: tuple[str, ...]
    scores: NDArray[np.float64]
    minimum: tuple[float, ...] | None = None
    sums: tuple[float, ...] | None = None
    owners: tuple[str, ...] | None = None
    invalid: frozenset[str] = frozenset()
    notes: tuple[Note, ...] = ()
    where: Where | None = None

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
        attacker marked `-` and to the trace-inference challenge. What the sheet calls invalid
        is invalid; a cell without a score is a target that was not attacked.
        """
        releases = [
            self._release(i, name not in self.invalid and (valid is None or valid[name]))
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
        return replace(
            self,
            files=tuple(files),
            scores=self.scores[rows],
            minimum=None if self.minimum is None else tuple(self.minimum[i] for i in rows),
            sums=self.sums if len(rows) == len(self.files) else None,
            owners=None if self.owners is None else tuple(self.owners[i] for i in rows),
            invalid=self.invalid & set(files),
        )

    def owner(self, row: int) -> str:
        """The column of the team that a row's file belongs to; "" for nobody's."""
        if self.owners is not None:
            return self.owners[row]
        own = np.flatnonzero(np.isnan(self.scores[row]))
        return self.columns[own[0]] if len(own) else ""

    def _release(self, row: int, valid: bool) -> BoardRow:
        name, owner = self.files[row], self.owner(row)
        said = parse_file_name(name)
        if said is not None and said.attacker is None:
            return BoardRow(name, said.team, said.challenge, valid, said.team == BENCHMARK)
        if not owner:
            # A file that is nobody's and has no number: the judge's own data.
            return BoardRow(name, name, "trace", valid, benchmark=True)
        return BoardRow(name, team_of(owner), "trace", valid)


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


def write_sheet(path: Path, sheet: Sheet) -> None:
    """Write a score sheet with its minimum column and SUM row, in full float precision.

    A score that is missing in another's row is an empty cell.
    """
    board = sheet.board()
    minimum = sheet.minimum or tuple(board.minimum().values())
    sums = sheet.sums or tuple(board.sums().values())
    lines = [",".join([FILE_COLUMN, *sheet.columns, MINIMUM_COLUMN[sheet.kind]])]
    for i, (name, low) in enumerate(zip(sheet.files, minimum, strict=True)):
        owner = sheet.owner(i)
        cells = [
            _cell(float(score), OWN if column == owner else "")
            for column, score in zip(sheet.columns, sheet.scores[i], strict=True)
        ]
        lines.append(",".join([name, *cells, _cell(low)]))
    lines.append(",".join([SUM_ROW, *(_cell(value) for value in sums), ""]))
    for line in lines:
        if re.search(r"[\r\n]", line) or line.count(",") != len(sheet.columns) + 1:
            raise InvalidParameter(f"names in a sheet hold no comma and no line end: {line[:80]!r}")
    with atomic_write(path) as file:
        file.write(("\n".join(lines) + "\n").encode())


def _cell(value: float, without: str = "") -> str:
    return without if np.isnan(value) else spelled(value)
