"""Standings from score sheets: minima, sums, awards and the correlation of the two minima.

What the organisers of 2019 did with a spreadsheet, and a check of what a sheet says itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from tracecup.contest.correlation import Correlation
from tracecup.contest.rules import ATTACK_KINDS, AwardRules
from tracecup.contest.sheets import Sheet, column_of
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

    `differences` names each minimum and sum that a sheet states otherwise than its cells say.
    """

    board: Scoreboard
    awards: Mapping[str, Award]
    correlation: Correlation
    utility: Mapping[str, float] | None
    differences: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """One JSON object; files and attackers are named as in the sheets."""
        boards = {kind: self.board.board(kind) for kind in ATTACK_KINDS}
        payload: dict[str, Any] = {
            "minimum": {kind: board.minimum() for kind, board in boards.items()},
            "sums": {
                kind: {column_of(name): value for name, value in board.sums().items()}
                for kind, board in boards.items()
            },
            "total": {
                column_of(team): {"reid": pair[0], "trace": pair[1], "total": sum(pair)}
                for team, pair in self.board.total().items()
            },
            "awards": {key: _award(award) for key, award in self.awards.items()},
            "correlation": self.correlation.value,
            "correlation_detail": vars(self.correlation),
            "invalid": [row.name for row in self.board.releases if not row.valid],
            "differences": list(self.differences),
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
    below `floor` are invalid: their minimum is 0, and so is what they add to a sum.
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
    valid: dict[str, bool] | None = None
    if utility is not None:
        known = _utilities(utility, files, reid.files, floor)
        valid = {name: is_valid(value, floor) for name, value in known.items()}
    sheets = [reid.take(files), trace.take(files)]
    board = Scoreboard(sheets[0].board(valid), sheets[1].board(valid))
    return Standings(
        board,
        give_awards(board, AwardRules("all", winner_excluded)),
        board.correlation("all", confidence),
        known,
        tuple(text for sheet in sheets for text in _differences(sheet)),
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


def _differences(sheet: Sheet) -> Iterator[str]:
    """What a sheet states otherwise than its own cells say."""
    board = sheet.board()
    for name, low, stated in zip(
        sheet.files, board.minimum().values(), sheet.minimum or (), strict=False
    ):
        if abs(low - stated) > AGREES:
            yield f"{sheet.kind}: minimum of {name} is {low!r}, the sheet says {stated!r}"
    for column, total, stated in zip(
        sheet.columns, board.sums().values(), sheet.sums or (), strict=False
    ):
        if abs(total - stated) > AGREES:
            yield f"{sheet.kind}: sum of {column} is {total!r}, the sheet says {stated!r}"


def _award(award: Award) -> dict[str, Any]:
    return {
        "title": award.title,
        "winners": [column_of(team) for team in award.winners],
        "value": award.places[0].value if award.places else None,
        "tie": award.tied,
        "better": award.better,
        "ranking": [
            {"rank": place.rank, "team": column_of(place.team), "value": place.value}
            for place in award.places
        ],
        "excluded": {column_of(team): reason for team, reason in award.excluded.items()},
    }
