"""Sheets on disk, as text or as workbooks."""

from __future__ import annotations

import pytest

from workbooks import write_workbook


@pytest.fixture
def sheet_file(tmp_path):
    """Writes a sheet and gives its path."""

    def write(text: str | bytes):
        path = tmp_path / "sheet.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.fixture
def workbook_file(tmp_path):
    """Writes a workbook, name of a sheet -> rows, and gives its path."""
    pytest.importorskip("openpyxl")

    def write(sheets):
        numbered = {name: dict(enumerate(rows, start=1)) for name, rows in sheets.items()}
        return write_workbook(tmp_path / "book.xlsx", numbered)

    return write
