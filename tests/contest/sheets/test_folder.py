"""A folder of sheets: names of files and of sheets say which round is which."""

from __future__ import annotations

import shutil

import pytest

from tracecup.contest.sheets.folder import find_sheets, read_rounds
from tracecup.errors import InvalidTraces
from workbooks import write_workbook

PARTS = ("reidentification", "traceinference", "utility")


class TestFindSheets:
    def test_files_by_round_in_the_order_of_play(self, tmp_path):
        for name in ("final", "preliminary"):
            for part in PARTS:
                (tmp_path / f"{name}_{part}.csv").touch()
        (tmp_path / "preliminary_total.csv").touch()
        (tmp_path / "alone_utility.csv").touch()
        found = find_sheets(tmp_path)
        assert list(found) == ["preliminary", "final"]
        assert set(found["final"]) == {"reid", "trace", "utility"}

    def test_sheets_of_a_workbook(self, tmp_path):
        pytest.importorskip("openpyxl")
        names = ["Total(ID Disclosure)", "Final(ID Disclosure)", "Final (Trace Inference)", "Other"]
        write_workbook(tmp_path / "r.xlsx", {name: {1: ["x"]} for name in names})
        found = find_sheets(tmp_path)
        assert list(found) == ["final"]
        assert found["final"]["trace"].sheet == "Final (Trace Inference)"

    def test_sheets_without_a_round_are_the_final(self, tmp_path):
        pytest.importorskip("openpyxl")
        names = ["Total", "ID Disclosure", "Trace Inference", "Utility"]
        write_workbook(tmp_path / "r.xlsx", {name: {1: ["x"]} for name in names})
        assert list(find_sheets(tmp_path)) == ["final"]

    def test_nothing(self, tmp_path):
        assert find_sheets(tmp_path) == {}
        assert find_sheets(tmp_path / "no") == {}

    def test_twice(self, tmp_path):
        (tmp_path / "final_utility.csv").touch()
        (tmp_path / "final_utility.csv.gz").touch()
        with pytest.raises(InvalidTraces, match="has this sheet in"):
            find_sheets(tmp_path)


class TestReadRounds:
    def test_published(self, data_dir, tmp_path):
        for part in PARTS:
            shutil.copy(data_dir / "results" / f"final_{part}.csv", tmp_path)
        (one,), said = read_rounds(find_sheets(tmp_path))
        assert (one.name, one.weight) == ("final", 9.0)
        assert len(said) == 1
        assert one.standings.correlation.pairs == 34
