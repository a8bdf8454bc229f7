"""A folder of published sheets: which file, or which sheet of a workbook, belongs to which round.

CSV: `final_reidentification.csv`, `final_traceinference.csv`, `final_utility.csv`. Workbooks:
sheets called `Final(ID Disclosure)`, `Final(Trace Inference)`, `Final(Utility)`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tracecup.contest.rules import ROUND_WEIGHTS
from tracecup.contest.sheets.cells import Note, sheet_names
from tracecup.contest.sheets.reading import read_sheet
from tracecup.contest.sheets.rounds import Round
from tracecup.contest.sheets.standings import standings
from tracecup.contest.sheets.utilities import read_utilities
from tracecup.errors import InvalidTraces
from tracecup.safeio import TEXT_SUFFIXES
from tracecup.score import FLOOR

Part = Literal["reid", "trace", "utility"]
Places = dict[str, dict[Part, "SheetPlace"]]

_PARTS: dict[str, Part] = {
    "reidentification": "reid",
    "iddisclosure": "reid",
    "traceinference": "trace",
    "utility": "utility",
}
_FILE = re.compile(
    rf"([A-Za-z0-9-]+)_([a-z]+)(?:{'|'.join(map(re.escape, TEXT_SUFFIXES))})", re.ASCII
)
_SHEET = re.compile(r"(.*?)\s*\((.*)\)")
ONLY_ROUND = "final"
# Sheets of a workbook that add rounds up or draw them.
_NO_ROUND = ("total", "figure")


@dataclass(frozen=True)
class SheetPlace:
    """A file, and of a workbook the sheet in it."""

    path: Path
    sheet: str = ""


def find_sheets(root: Path) -> Places:
    """Round -> its sheets, in the order in which rounds are played; {} if there are none."""
    found: Places = {}
    for path in sorted(root.iterdir()) if root.is_dir() else []:
        if path.suffix == ".xlsx" and path.is_file():
            for name in sheet_names(path):
                said = _SHEET.fullmatch(name)
                words = said.groups() if said else ("", name)
                _keep(found, words[0], words[1], SheetPlace(path, name))
        elif (named := _FILE.fullmatch(path.name)) and path.is_file():
            _keep(found, named[1], named[2], SheetPlace(path))
    whole = {name: held for name, held in found.items() if {"reid", "trace"} <= set(held)}
    usual = list(ROUND_WEIGHTS)
    return dict(
        sorted(whole.items(), key=lambda item: usual.index(item[0]) if item[0] in usual else -1)
    )


def read_rounds(places: Places, floor: float = FLOOR) -> tuple[list[Round], list[str]]:
    """The standings of every round, with weights as in 2019, and what was odd in the sheets."""
    rounds, said = [], list[str]()
    for name, held in places.items():
        odd: list[Note] = []
        utility = held.get("utility")
        found = standings(
            read_sheet(held["reid"].path, "reid", held["reid"].sheet),
            read_sheet(held["trace"].path, "trace", held["trace"].sheet),
            read_utilities(utility.path, utility.sheet, odd.append) if utility else None,
            floor=floor,
        )
        notes = (*(f"utility: {note}" for note in odd), *found.notes, *found.differences)
        said += [f"{name}: {text}" for text in notes]
        rounds.append(Round(name, ROUND_WEIGHTS.get(name, 1.0), found))
    return rounds, said


def _keep(found: Places, name: str, what: str, place: SheetPlace) -> None:
    part = _PARTS.get(re.sub(r"[^a-z]", "", what.lower()))
    if part is None or name.lower() in _NO_ROUND:
        return
    held = found.setdefault(name.lower() or ONLY_ROUND, {})
    if part in held:
        raise InvalidTraces(f"{place.path}: the round {name} has this sheet in {held[part].path}")
    held[part] = place
