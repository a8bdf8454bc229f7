"""Score sheets: the published ones to the last byte, hand-made ones, and every way to be wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracecup.contest.sheets import (
    Sheet,
    column_of,
    read_sheet,
    read_utilities,
    team_of,
    write_sheet,
)
from tracecup.contest.standing.scoreboard import AttackBoard, BoardRow
from tracecup.errors import InvalidFile, InvalidParameter, TraceCupError

PUBLISHED = {"reid": "preliminary_reidentification.csv", "trace": "preliminary_traceinference.csv"}
SMALL = """pubtraces,team001,team002,I1,SecI
pubtraces_team000_data01_IDP.csv,0.5,1,0.9,0.5
pubtraces_team001_data02_TRP.csv,-,0.25,1,0.25
SUM,0.5,1.25,1.9,
"""


@pytest.fixture
def sheet_file(tmp_path):
    def write(text: str | bytes):
        path = tmp_path / "sheet.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


class TestRead:
    def test_by_hand(self, sheet_file):
        sheet = read_sheet(sheet_file(SMALL), "reid")
        assert sheet.attackers == ("team001", "team002")
        assert sheet.samples == ("I1",)
        assert np.isnan(sheet.scores[1, 0])
        assert sheet.minimum == (0.5, 0.25)
        assert sheet.sums == (0.5, 1.25, 1.9)

    def test_board(self, sheet_file):
        board = read_sheet(sheet_file(SMALL), "reid").board()
        assert board.releases == (
            BoardRow("pubtraces_team000_data01_IDP.csv", "000", "reid", benchmark=True),
            BoardRow("pubtraces_team001_data02_TRP.csv", "001", "trace"),
        )
        assert list(board.minimum().values()) == [0.5, 0.25]
        assert board.sums() == {"001": 0.5, "002": 1.25, "I1": 1.9}

    def test_board_with_an_invalid_file(self, sheet_file):
        sheet = read_sheet(sheet_file(SMALL), "reid")
        board = sheet.board({sheet.files[0]: True, sheet.files[1]: False})
        assert list(board.minimum().values()) == [0.5, 0.0]
        assert board.sums()["002"] == 1.0

    def test_line_ends_mark_and_missing_final_newline(self, sheet_file):
        plain = read_sheet(sheet_file(SMALL), "reid")
        odd = b"\xef\xbb\xbf" + SMALL.rstrip("\n").replace("\n", "\r\n").encode()
        other = read_sheet(sheet_file(odd), "reid")
        assert other.files == plain.files
        assert np.array_equal(other.scores, plain.scores, equal_nan=True)

    def test_minimum_and_sum_may_be_missing(self, sheet_file):
        text = "pubtraces,team001,T1\npubtraces_team001_data02_TRP.csv,-,0.5\n"
        sheet = read_sheet(sheet_file(text), "trace")
        assert (sheet.minimum, sheet.sums) == (None, None)
        assert sheet.samples == ("T1",)

    def test_other_file_names_belong_to_who_is_marked(self, sheet_file):
        text = "pubtraces,Red,Blue,SecT\nx,-,0.5,0.5\ny,0.25,-,0.25\nbench,1,0.125,0.125\n"
        board = read_sheet(sheet_file(text), "trace").board()
        assert [row.team for row in board.releases] == ["Red", "Blue", "bench"]
        assert [row.benchmark for row in board.releases] == [False, False, True]

    @pytest.mark.parametrize("kind", ["reid", "trace"])
    def test_published(self, data_dir, kind):
        sheet = read_sheet(data_dir / "results" / PUBLISHED[kind], kind)
        assert len(sheet.files) == 27
        assert len(sheet.attackers) == 21
        assert len(sheet.samples) == 3


class TestErrors:
    @pytest.mark.parametrize(
        ("old", "new", "line", "column", "expected"),
        [
            ("pubtraces,team", "files,team", 1, "", "the header pubtraces,team001"),
            ("SecI", "SecT", 1, "SecT", "SecI as the last column"),
            ("team002,I1", "team001,I1", 1, "team001", "each once"),
            ("team002,I1", ",I1", 1, "", "each once"),
            ("team001,team002,I1", "team001,I1,team002", 1, "team002", "behind all attackers"),
            (",0.9,", ",0.9,0.9,", 2, "", "5 fields"),
            (",0.9,", ",1.01,", 2, "I1", "a number from 0 to 1"),
            (",0.9,", ",nan,", 2, "I1", "a number from 0 to 1"),
            (",0.9,", ",0_9,", 2, "I1", "a number from 0 to 1"),
            (",0.9,", ",-0.9,", 2, "I1", "a number from 0 to 1"),
            (",0.9,", ",,", 2, "I1", "a number from 0 to 1"),
            (",0.9,", ",٠,", 2, "I1", "a number from 0 to 1"),
            (",0.9,", ",-,", 2, "I1", "a number from 0 to 1"),
            ("-,0.25,1,", "0.5,0.25,1,", 3, "team001", "-, it is the team's own file"),
            ("-,0.25,1,", "-,-,1,", 3, "team002", "it is a file of team001"),
            ("0.9,0.5", "0.9,x", 2, "SecI", "a number from 0 to 1"),
            ("team001_data02_TRP", "team000_data01_IDP", 3, "pubtraces", "each once"),
            ("team000_data01_IDP.csv", "team001_data02_TRP.gz", 2, "team001", "own file"),
            ("SUM,0.5", "SUM,x", 4, "team001", "the sum of the column"),
            ("1.9,\n", "1.9,x\n", 4, "SecI", "nothing, or the sum"),
            ("SUM", "\nSUM", 4, "", "5 fields"),
            ("1.9,\n", "1.9,\nx,1,1,1,1\n", 5, "", "nothing after SUM"),
        ],
    )
    def test_name_the_place(self, sheet_file, old, new, line, column, expected):
        assert SMALL.count(old) >= 1
        with pytest.raises(InvalidFile) as caught:
            read_sheet(sheet_file(SMALL.replace(old, new, 1)), "reid")
        first = caught.value.problems[0]
        assert (first.line, first.column) == (line, column)
        assert expected in first.expected

    def test_two_files_of_a_team_in_a_challenge(self, sheet_file):
        again = "pubtraces_team001_data02_TRP.csv.gz,-,0.25,1,0.25\nSUM"
        with pytest.raises(InvalidFile, match=r"line 4.*one file per team.*line 3"):
            read_sheet(sheet_file(SMALL.replace("SUM", again)), "reid")

    def test_lists_all_problems(self, sheet_file):
        with pytest.raises(InvalidFile) as caught:
            read_sheet(sheet_file(SMALL.replace("0.9", "x").replace("0.25", "y")), "reid")
        assert [problem.line for problem in caught.value.problems] == [2, 3, 3]

    @pytest.mark.parametrize("text", ["", "\n", "pubtraces,team001,SecI\n", "pubtraces\n"])
    def test_empty(self, sheet_file, text):
        with pytest.raises(InvalidFile):
            read_sheet(sheet_file(text), "reid")

    @settings(max_examples=150)
    @given(st.randoms(use_true_random=False), st.integers(1, 4))
    def test_damaged_sheets_give_our_errors_only(self, tmp_path_factory, rnd, damages):
        text = SMALL
        for _ in range(damages):
            at = rnd.randrange(len(text) + 1)
            bad = rnd.choice([",", "-", "\n", "SUM", "é", "\x00", "9", ".", "", "\r", "team001"])
            text = text[:at] + bad + text[at + rnd.randrange(3) :]
        path = tmp_path_factory.mktemp("sheet") / "sheet.csv"
        path.write_text(text)
        try:
            sheet = read_sheet(path, "reid")
        except TraceCupError:
            return
        assert len(sheet.board().minimum()) == len(sheet.files)


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


class TestUtilities:
    def test_published(self, data_dir):
        found = read_utilities(data_dir / "results" / "preliminary_utility.csv")
        assert len(found) == 27
        assert found["pubtraces_team003_data01_IDP.csv"] == 0.7

    @pytest.mark.parametrize(
        ("text", "line"),
        [
            ("", 0),
            ("file,utility\n", 1),
            ("pubtraces,utility\n", 0),
            ("pubtraces,utility\na,0.5\na,0.5\n", 3),
            ("pubtraces,utility\na,0.5,1\n", 2),
            ("pubtraces,utility\na,1.5\n", 2),
            ("pubtraces,utility\n,0.5\n", 2),
        ],
    )
    def test_errors(self, sheet_file, text, line):
        with pytest.raises(InvalidFile) as caught:
            read_utilities(sheet_file(text))
        assert caught.value.problems[0].line == line
