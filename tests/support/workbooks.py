"""The smallest workbook that spreadsheet programs open, with numbers to the last digit.

Libraries that write workbooks round to 16 digits, which is one too few for exact tests.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from tracecup.contest.sheets.cells import cell_name

HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
FORMAT = "application/vnd.openxmlformats-officedocument.spreadsheetml"

Cell = str | float | None


def write_workbook(path: Path, sheets: Mapping[str, Mapping[int, Sequence[Cell]]]) -> Path:
    """Name of a sheet -> line, from 1 -> its cells; None is an empty cell."""
    numbers = range(1, len(sheets) + 1)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        parts = "".join(
            f'<Override PartName="/xl/worksheets/sheet{k}.xml" '
            f'ContentType="{FORMAT}.worksheet+xml"/>'
            for k in numbers
        )
        packed.writestr(
            "[Content_Types].xml",
            f'{HEAD}<Types xmlns="{TYPES}"><Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{FORMAT}.sheet.main+xml"/>'
            f"{parts}</Types>",
        )
        packed.writestr(
            "_rels/.rels",
            f'{HEAD}<Relationships xmlns="{RELATIONS}"><Relationship Id="rId1" '
            f'Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        listed = "".join(
            f'<sheet name={quoteattr(name)} sheetId="{k}" r:id="rId{k}"/>'
            for k, name in zip(numbers, sheets, strict=True)
        )
        packed.writestr(
            "xl/workbook.xml",
            f'{HEAD}<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets>'
            "</workbook>",
        )
        links = "".join(
            f'<Relationship Id="rId{k}" Type="{OFFICE}/worksheet" '
            f'Target="worksheets/sheet{k}.xml"/>'
            for k in numbers
        )
        packed.writestr(
            "xl/_rels/workbook.xml.rels",
            f'{HEAD}<Relationships xmlns="{RELATIONS}">{links}</Relationships>',
        )
        for k, rows in zip(numbers, sheets.values(), strict=True):
            body = "".join(_row(line, cells) for line, cells in rows.items())
            packed.writestr(
                f"xl/worksheets/sheet{k}.xml",
                f'{HEAD}<worksheet xmlns="{MAIN}"><sheetData>{body}</sheetData></worksheet>',
            )
    return path


def _row(line: int, cells: Sequence[Cell]) -> str:
    held = "".join(
        _cell(cell_name(line, column).removeprefix("cell "), cell)
        for column, cell in enumerate(cells, start=1)
        if cell is not None
    )
    return f'<row r="{line}">{held}</row>'


def _cell(place: str, cell: str | float) -> str:
    if isinstance(cell, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
    return f'<c r="{place}"><v>{cell!r}</v></c>'
