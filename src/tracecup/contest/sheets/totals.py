"""Published tables of totals (team no., SecI, SecT, Total, Remark) beside what sheets give.

One table, or several side by side with the name of a round above each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tracecup.contest.sheets.cells import Path, cell_name, read_cells
from tracecup.contest.sheets.reading import full_column_name, number_in
from tracecup.errors import InvalidFile, Problem
from tracecup.safeio import show

HEADER = ("team no.", "SecI", "SecT", "Total", "Remark")
VALUES = {"SecI": "reid", "SecT": "trace", "Total": "total"}
MAX_TOTAL = 1e6
_PLACE = re.compile(r"([0-9]+)(?:st|nd|rd|th)\b")


@dataclass(frozen=True)
class PublishedTotals:
    """One published table: its title, and column of a team -> values, remark and their cells."""

    title: str
    rows: Mapping[str, Mapping[str, Any]]
    cells: Mapping[tuple[str, str], str]


def read_totals(path: Path, sheet: str = "") -> tuple[PublishedTotals, ...]:
    """The tables of totals of a CSV or of a workbook's sheet, from left to right."""
    rows = list(read_cells(path, sheet))
    for k, (_, cells) in enumerate(rows):
        starts = [at for at in range(len(cells)) if tuple(cells[at : at + len(HEADER)]) == HEADER]
        if starts:
            above = rows[k - 1][1] if k else []
            return tuple(
                _table(path, above[at] if at < len(above) else "", at, rows[k + 1 :])
                for at in starts
            )
    found = show(",".join(rows[0][1]), 80) if rows else "an empty file"
    raise InvalidFile(path, [Problem(0, "", found, f"the header {','.join(HEADER)}")])


def differing(published: PublishedTotals, ours: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Every value and place that a published table states otherwise than `ours` (as floats).

    `ours` is what `totals_table` gives. A place is compared where the remark names one.
    """
    for team, row in published.rows.items():
        for heading, key in VALUES.items():
            found = ours[team][key] if team in ours else None
            if found != row[heading]:
                where = published.cells[team, heading]
                yield f"{where}: {heading} of {team} is {row[heading]!r}, the sheets give {found!r}"
        named = _PLACE.search(row["Remark"])
        place = ours[team]["place"] if team in ours else None
        if named and int(named[1]) != place:
            where = published.cells[team, "Remark"]
            yield f"{where}: remark of {team} is {row['Remark']!r}, the sheets give place {place}"


def _table(path: Path, title: str, at: int, rows: list[tuple[int, list[str]]]) -> PublishedTotals:
    found: dict[str, dict[str, Any]] = {}
    cells: dict[tuple[str, str], str] = {}
    for number, row in rows:
        held = dict(zip(HEADER, (row + [""] * len(HEADER))[at : at + len(HEADER)], strict=False))
        if not held.get(HEADER[0]):
            continue
        team = full_column_name(held[HEADER[0]])
        found[team] = {"Remark": held["Remark"]}
        for k, heading in enumerate(HEADER[1:], start=1):
            cells[team, heading] = cell_name(number, at + k + 1)
            if heading in VALUES:
                value = number_in(held[heading], MAX_TOTAL)
                if value is None:
                    problem = Problem(number, heading, show(held[heading]), "a number")
                    raise InvalidFile(path, [problem])
                found[team][heading] = value
    return PublishedTotals(title, found, cells)
