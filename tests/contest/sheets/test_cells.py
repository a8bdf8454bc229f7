"""Cells of CSV files and workbooks: values exactly, places by name, hostile files bounded."""

from __future__ import annotations

import csv
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracecup.contest.sheets import cells as module
from tracecup.contest.sheets import read_sheet, read_utilities
from tracecup.contest.sheets.cells import cell_name, read_cells, spelled
from tracecup.errors import InvalidFile, InvalidParameter, TraceCupError
from workbooks import write_workbook


def number(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text or None


class TestCsv:
    def test_quotes_and_blanks(self, sheet_file):
        rows = list(read_cells(sheet_file('a, b ,"c,d"\n\n1,2,3\n')))
        assert rows == [(1, ["a", "b", "c,d"]), (2, [""]), (3, ["1", "2", "3"])]

    def test_a_line_that_is_no_csv(self, sheet_file):
        with pytest.raises(InvalidFile, match="line 2"):
            list(read_cells(sheet_file('a,b\n1\r,"2"\n')))

    def test_has_no_sheets(self, sheet_file):
        path = sheet_file("a\n")
        with pytest.raises(InvalidParameter, match="no workbook"):
            list(read_cells(path, "Final"))


class TestWorkbook:
    def test_rows_are_padded_and_blank_ones_stay(self, workbook_file):
        path = workbook_file({"A": [["x", 0.1, None], [None], ["001", 1, "y"], [None]]})
        assert list(read_cells(path)) == [
            (1, ["x", "0.1", ""]),
            (2, ["", "", ""]),
            (3, ["001", "1", "y"]),
        ]

    def test_the_sheet_is_named(self, workbook_file):
        path = workbook_file({"A": [["x"]], "B": [["y"]]})
        assert list(read_cells(path, "B")) == [(1, ["y"])]
        with pytest.raises(InvalidParameter, match="name one of: A, B"):
            list(read_cells(path))
        with pytest.raises(InvalidParameter, match="no sheet 'C', only A, B"):
            list(read_cells(path, "C"))

    @settings(max_examples=20, deadline=None)
    @given(st.lists(st.floats(0, 1), min_size=1, max_size=5))
    def test_floats_are_exact(self, tmp_path_factory, values):
        pytest.importorskip("openpyxl")
        path = write_workbook(tmp_path_factory.mktemp("book") / "b.xlsx", {"A": {1: values}})
        (row,) = read_cells(path)
        assert [float(cell) for cell in row[1]] == values

    @pytest.mark.parametrize("name", ["final", "preliminary"])
    def test_published_sheets_as_a_workbook(self, data_dir, workbook_file, name):
        folder = data_dir / "results"
        stems = {"reid": "reidentification", "trace": "traceinference"}
        files = {kind: folder / f"{name}_{stem}.csv" for kind, stem in stems.items()}
        files["utility"] = folder / f"{name}_utility.csv"
        held = {}
        for kind, path in files.items():
            with path.open() as file:
                held[kind] = [[number(cell) for cell in row] for row in csv.reader(file)]
        book = workbook_file(held)
        for kind in stems:
            plain, packed = read_sheet(files[kind], kind), read_sheet(book, kind, kind)
            assert packed.files == plain.files
            assert packed.minimum == plain.minimum
            assert packed.sums == plain.sums
            assert packed.notes == plain.notes
        assert read_utilities(book, "utility") == read_utilities(files["utility"])

    def test_without_the_extra(self, workbook_file, monkeypatch):
        path = workbook_file({"A": [["x"]]})
        monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
        with pytest.raises(TraceCupError, match=r"tracecup\[sheets\]"):
            list(read_cells(path))

    def test_no_workbook_at_all(self, tmp_path):
        pytest.importorskip("openpyxl")
        path = tmp_path / "b.xlsx"
        path.write_bytes(b"PK\x03\x04 and nothing more")
        with pytest.raises(InvalidFile, match="a workbook"):
            list(read_cells(path))
        with zipfile.ZipFile(path, "w") as packed:
            packed.writestr("hello.txt", "hello")
        with pytest.raises(InvalidFile, match="a workbook"):
            list(read_cells(path))

    def test_what_unpacks_to_too_much(self, workbook_file, monkeypatch):
        path = workbook_file({"A": [["x"]]})
        monkeypatch.setattr(module, "MAX_UNPACKED", 100)
        with pytest.raises(InvalidFile, match="bytes unpacked"):
            list(read_cells(path))

    def test_a_cell_far_away_costs_nothing(self, tmp_path):
        pytest.importorskip("openpyxl")
        far = [None] * 16383 + ["y"]
        path = write_workbook(tmp_path / "b.xlsx", {"A": {1: ["x"], 1_048_576: far}})
        assert list(read_cells(path)) == [(1, ["x"])]

    def test_too_many_rows(self, workbook_file, monkeypatch):
        monkeypatch.setattr(module, "SHEET_LIMITS", module.Limits(max_rows=3))
        path = workbook_file({"A": [["x"]] * 4})
        with pytest.raises(InvalidFile, match="at most 3"):
            list(read_cells(path))


class TestNames:
    @pytest.mark.parametrize(
        ("column", "letters"), [(1, "A"), (26, "Z"), (27, "AA"), (702, "ZZ"), (703, "AAA")]
    )
    def test_columns_as_spreadsheets_count(self, column, letters):
        assert cell_name(7, column) == f"cell {letters}7"

    @given(st.floats(0, 1))
    def test_spelled_comes_back(self, value):
        assert float(spelled(value)) == value
