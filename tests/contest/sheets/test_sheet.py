"""Score sheets as values: writing the published bytes again, rows, names."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracecup.contest.sheets import Sheet, column_of, read_sheet, team_of, write_sheet
from tracecup.contest.standing.scoreboard import AttackBoard, BoardRow
from tracecup.errors import InvalidParameter

PUBLISHED = {"reid": "preliminary_reidentification.csv", "trace": "preliminary_traceinference.csv"}
SMALL = """pubtraces,team001,team002,I1,SecI
pubtraces_team000_data01_IDP.csv,0.5,1,0.9,0.5
pubtraces_team001_data02_TRP.csv,-,0.25,1,0.25
SUM,0.5,1.25,1.9,
"""


class TestWrite:
    @pytest.mark.parametrize("kind", ["reid", "trace"])
    def test_published_bytes_again(self, data_dir, tmp_path, kind):
        source = data_dir / "results" / PUBLISHED[kind]
        write_sheet(tmp_path / "again.csv", read_sheet(source, kind))
        assert (tmp_path / "again.csv").read_bytes() == source.read_bytes()

    @pytest.mark.parametrize("kind", ["reid", "trace"])
    def test_published_bytes_from_the_cells_alone(self, data_dir, tmp_path, kind):
        source = data_dir / "results" / PUBLISHED[kind]
        sheet = read_sheet(source, kind)
        write_sheet(tmp_path / "again.csv", Sheet.of(sheet.board()))
        assert (tmp_path / "again.csv").read_bytes() == source.read_bytes()

    def test_the_final_round_with_its_heading_put_right(self, data_dir, tmp_path):
        source = data_dir / "results" / "final_traceinference.csv"
        write_sheet(tmp_path / "again.csv", read_sheet(source, "trace"))
        right = source.read_bytes().replace(b"SecI", b"SecT")
        assert (tmp_path / "again.csv").read_bytes() == right

    def test_missing_cells_stay_empty(self, sheet_file, tmp_path):
        text = SMALL.replace("0.5,1,0.9", "0.5,,0.9")
        write_sheet(tmp_path / "again.csv", read_sheet(sheet_file(text), "reid"))
        assert (tmp_path / "again.csv").read_text() == text

    def test_of_a_board(self, tmp_path):
        rows = [BoardRow("a", "001"), BoardRow("b", "002", valid=False)]
        board = AttackBoard.of("trace", rows, ["001", "002"], ["T1"], {("a", "T1"): [0.5]})
        write_sheet(tmp_path / "s.csv", Sheet.of(board))
        assert (tmp_path / "s.csv").read_text() == (
            "pubtraces,team001,team002,T1,SecT\na,-,1,0.5,0.5\nb,0,0,0,0\nSUM,0,1,0.5,\n"
        )

    @pytest.mark.parametrize("name", ["a,b", "a\nb"])
    def test_refuses_names_that_break_the_table(self, tmp_path, name):
        board = AttackBoard.of("trace", [BoardRow(name, "001")], ["001"], [], {})
        with pytest.raises(InvalidParameter, match="no comma"):
            write_sheet(tmp_path / "s.csv", Sheet.of(board))
        assert list(tmp_path.iterdir()) == []

    @settings(max_examples=40)
    @given(st.lists(st.floats(0, 1), min_size=6, max_size=6))
    def test_scores_come_back_exactly(self, tmp_path_factory, scores):
        path = tmp_path_factory.mktemp("sheet") / "s.csv"
        sheet = Sheet("reid", ("x", "y"), ("A", "B"), ("I1",), np.reshape(scores, (2, 3)))
        write_sheet(path, sheet)
        assert np.array_equal(read_sheet(path, "reid").scores, sheet.scores)


class TestTake:
    def test_rows_in_the_wanted_order(self, sheet_file):
        sheet = read_sheet(sheet_file(SMALL), "reid")
        turned = sheet.take(sheet.files[::-1])
        assert turned.minimum == (0.25, 0.5)
        assert turned.sums == sheet.sums
        assert sheet.take(sheet.files[1:]).sums is None


class TestNames:
    @pytest.mark.parametrize("team", ["003", "1234", "Blue", "3", "team"])
    def test_come_back(self, team):
        assert team_of(column_of(team)) == team
