"""The table of utilities beside the score sheets: released file and its utility.

"invalid" is read as utility 0, which no floor lets pass.
"""

from __future__ import annotations

from collections.abc import Callable

from tracecup.contest.sheets.cells import Note, Path, read_cells
from tracecup.contest.sheets.reading import INVALID, full_file_name, number_in
from tracecup.contest.sheets.sheet import FILE_COLUMN
from tracecup.errors import InvalidFile, Problem
from tracecup.safeio import show

UTILITY_HEADER = (FILE_COLUMN, "utility")


def read_utilities(
    path: Path, sheet: str = "", told: Callable[[Note], None] | None = None
) -> dict[str, float]:
    """Released file -> utility, from a table with the header `pubtraces,utility`.

    `told` is called with a note on everything odd: a blank line, a team's number without zeros,
    a file called invalid.
    """
    say = told or _quiet
    found: dict[str, float] = {}
    header = False
    for number, cells in read_cells(path, sheet):
        if header and not any(cells):
            say(Note(number, 0, "a blank line", "left out"))
        elif header:
            name, value = _row(path, number, cells, say)
            if name in found:
                raise InvalidFile(
                    path, [Problem(number, FILE_COLUMN, show(name), "each file once")]
                )
            found[name] = value
        elif tuple(cells) == UTILITY_HEADER:
            header = True
        else:
            expected = f"the header {','.join(UTILITY_HEADER)}"
            raise InvalidFile(path, [Problem(number, "", show(",".join(cells), 80), expected)])
    if not found:
        raise InvalidFile(path, [Problem(0, "", "no rows", "one row for every released file")])
    return found


def _row(
    path: Path, number: int, cells: list[str], say: Callable[[Note], None]
) -> tuple[str, float]:
    if len(cells) != 2 or not cells[0]:
        found = show(",".join(cells), 80)
        raise InvalidFile(path, [Problem(number, FILE_COLUMN, found, "a file and its utility")])
    name, value = full_file_name(cells[0]), number_in(cells[1], 1.0)
    if name != cells[0]:
        say(Note(number, 1, show(cells[0], 80), f"read as {name}"))
    if cells[1].lower() == INVALID:
        say(Note(number, 2, show(cells[1]), "read as utility 0"))
        value = 0.0
    if value is None:
        raise InvalidFile(
            path, [Problem(number, "utility", show(cells[1]), "a number from 0 to 1")]
        )
    return name, value


def _quiet(_note: Note) -> None:
    """For who does not want to know."""
