"""Standings from score sheets: minima, sums, awards and the correlation of the two minima.

What the organisers of 2019 did with a spreadsheet, and a check of what a sheet says itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from tracecup.contest.challenges import ATTACK_KINDS, AttackKind
from tracecup.contest.correlation import Correlation
from tracecup.contest.rules import AwardRules
from tracecup.contest.sheets.places import attackers_table, award_table, totals_table
from tracecup.contest.sheets.sheet import MINIMUM_COLUMN, SUM_ROW, Sheet, column_of
from tracecup.contest.standing.awards import Award, give_awards
from tracecup.contest.standing.scoreboard import Scoreboard
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.score import FLOOR, is_valid
from tracecup.score.intervals import CONFIDENCE

# Published sheets carry 15 digits.
AGREES = 1e-9


@dataclass(frozen=True, eq=False)
class Standings:
    """Everything that follows from a pair of score sheets.

    `differences` names each minimum and sum that a sheet states otherwise than its cells say,
    `notes` what was odd in the sheets and how it was read.
    """

    board: Scoreboard
    awards: Mapping[str, Award]
    correlation: Correlation
    utility: Mapping[str, float] | None
    differences: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> dict[str, tuple[float, float]]:
        """Team -> the two minima that make its total."""
        return self.board.total()

    @property
    def sums(self) -> dict[AttackKind, dict[str, float]]:
        """Attack -> attacker or sample attack -> sum."""
        return {kind: self.board.board(kind).sums() for kind in ATTACK_KINDS}

    def as_dict(self) -> dict[str, Any]:
        """One JSON object; files and attackers are named as in the sheets."""
        boards = {kind: self.board.board(kind) for kind in ATTACK_KINDS}
        payload: dict[str, Any] = {
            "minimum": {kind: board.minimum() for kind, board in boards.items()},
            "sums": {
                kind: {column_of(name): value for name, value in sums.items()}
                for kind, sums in self.sums.items()
            },
            "total": totals_table(self.total, self.awards),
            "attackers": attackers_table(self.awards),
            "awards": {key: award_table(award) for key, award in self.awards.items()},
            "correlation": self.correlation.value,
            "correlation_detail": vars(self.correlation),
            "invalid": [row.name for row in self.board.releases if not row.valid],
            "differences": list(self.differences),
            "notes": list(self.notes),
        }
        if self.utility is not None:
            payload["utility"] = dict(self.utility)
        return payload


def standings(
    reid: Sheet,
    trace: Sheet,
    utility: Mapping[str, float] | None = None,
    *,
    only: Sequence[str] = (),
    floor: float = FLOOR,
    winner_excluded: bool = False,
    confidence: float = CONFIDENCE,
) -> Standings:
    """Minima, sums, awards and correlation over the rows of two sheets.

    `only` chooses rows whose file name matches one of its patterns (`*_TRP.csv`), for sums and
    awards too; the paper uses the trace-inference files and the benchmark. With `utility`, files
    below `floor` are invalid, as are those that a sheet calls so: their minimum is 0, and so is
    what they add to a sum.
    """
    _same_files(reid, trace)
    files = [
        name
        for name in reid.files
        if not only or any(fnmatchcase(name, pattern) for pattern in only)
    ]
    if not files:
        raise InvalidParameter(f"no file of the sheets matches {', '.join(only)}")
    known: dict[str, float] | None = None
    valid = {name: name not in reid.invalid | trace.invalid for name in files}
    if utility is not None:
        known = _utilities(utility, files, reid.files, floor)
        valid = {name: valid[name] and is_valid(known[name], floor) for name in files}
    sheets = [reid.take(files), trace.take(files)]
    board = Scoreboard(tuple(sheet.board(valid) for sheet in sheets))
    return Standings(
        board,
        give_awards(board, AwardRules("all", winner_excluded)),
        board.correlation("all", confidence),
        known,
        tuple(text for sheet in sheets for text in _differences(sheet, valid)),
        tuple(f"{sheet.kind}: {note}" for sheet in sheets for note in sheet.notes),
    )


def _same_files(reid: Sheet, trace: Sheet) -> None:
    for here, there, name in ((reid, trace, "trace"), (trace, reid, "reid")):
        missing = [file for file in here.files if file not in set(there.files)]
        if missing:
            raise InvalidTraces(
                f"the {name} sheet has no row for {missing[0]} (and {len(missing) - 1} more that "
                "the other one has)"
                if len(missing) > 1
                else f"the {name} sheet has no row for {missing[0]}, which the other one has"
            )


def _utilities(
    utility: Mapping[str, float], files: Sequence[str], listed: Sequence[str], floor: float
) -> dict[str, float]:
    """The utility of each chosen file; a file below the floor need not be in the sheets."""
    for name in files:
        if name not in utility:
            raise InvalidTraces(f"{name} has scores but no utility")
    for name, value in utility.items():
        if name not in set(listed) and is_valid(value, floor):
            raise InvalidTraces(f"{name} has a valid utility ({value}) but no scores")
    return {name: utility[name] for name in files}


def _differences(sheet: Sheet, valid: Mapping[str, bool]) -> Iterator[str]:
    """What a sheet states otherwise than its own cells say, with the cell where it is known."""
    board = sheet.board(valid)
    for name, low, stated in zip(
        sheet.files, board.minimum().values(), sheet.minimum or (), strict=False
    ):
        if abs(low - stated) > AGREES:
            where = _cell(sheet, name, MINIMUM_COLUMN[sheet.kind])
            yield f"{sheet.kind}: minimum of {name} is {low!r}, the sheet says {stated!r}{where}"
    for column, total, stated in zip(
        sheet.columns, board.sums().values(), sheet.sums or (), strict=False
    ):
        if abs(total - stated) > AGREES:
            where = _cell(sheet, SUM_ROW, column)
            yield f"{sheet.kind}: sum of {column} is {total!r}, the sheet says {stated!r}{where}"


def _cell(sheet: Sheet, row: str, column: str) -> str:
    return f" ({sheet.where.cell(row, column)})" if sheet.where else ""
