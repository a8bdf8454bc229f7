"""Reading score sheets: the published ones, hand-made ones, slips, and every way to be wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracecup.contest.sheets import read_sheet
from tracecup.contest.standing.scoreboard import BoardRow, State
from tracecup.errors import InvalidFile, TraceCupError

PUBLISHED = {"reid": "preliminary_reidentification.csv", "trace": "preliminary_traceinference.csv"}
SMALL = """pubtraces,team001,team002,I1,SecI
pubtraces_team000_data01_IDP.csv,0.5,1,0.9,0.5
pubtraces_team001_data02_TRP.csv,-,0.25,1,0.25
SUM,0.5,1.25,1.9,
"""


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
            (",0.9,", ",0.9,0.9,", 2, "", "5 fields"),
            (",0.9,0.5", "", 2, "", "5 fields"),
            ("SecI", "I2,SecI,SecT", 1, "SecT", "one minimum column"),
            ("1.9,\n", "1.9,\nSUM,1,1,1,\n", 5, "pubtraces", "SUM once"),
            (",0.9,", ",1.01,", 2, "I1", "a number from 0 to 1"),
            (",0.9,", ",nan,", 2, "I1", "a number from 0 to 1"),
            (",0.9,", ",0_9,", 2, "I1", "a number from 0 to 1"),
            (",0.9,", ",-0.9,", 2, "I1", "a number from 0 to 1"),
            (",0.9,", ",٠,", 2, "I1", "a number from 0 to 1"),
            ("-,0.25,1,", "0.5,0.25,1,", 3, "team001", "-, it is the team's own file"),
            ("0.9,0.5", "0.9,x", 2, "SecI", "a number from 0 to 1"),
            ("team001_data02_TRP", "team000_data01_IDP", 3, "pubtraces", "each once"),
            ("team000_data01_IDP.csv", "team001_data02_TRP.gz", 2, "team001", "own file"),
            ("SUM,0.5", "SUM,x", 4, "team001", "the sum of the column"),
            ("1.9,\n", "1.9,x\n", 4, "SecI", "nothing, or the sum"),
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


# Shares of 200 users, none of them round: re-identification scores beyond doubt.
SHARES = [k / 200 for k in (3, 17, 39, 61, 77, 103, 121, 155, 179)]


def table(kind: str = "reid", values=SHARES) -> list[list[str]]:
    """Two files and the benchmark against two teams and three sample attacks."""
    letter, last = ("I", "SecI") if kind == "reid" else ("T", "SecT")
    v = [repr(value) for value in values]
    return [
        ["pubtraces", "team001", "team002", f"{letter}1", f"{letter}2", last],
        ["pubtraces_team000_data01_IDP.csv", v[0], v[1], v[2], "1", v[0]],
        ["pubtraces_team001_data02_TRP.csv", "-", v[3], v[4], v[5], v[3]],
        ["pubtraces_team002_data02_TRP.csv", v[6], "-", v[7], v[8], v[6]],
    ]


def text_of(rows: list[list[str]]) -> str:
    return "".join(",".join(row) + "\n" for row in rows)


class TestSlips:
    """What a reader can put right is a note with cell and value, and changes no score."""

    def read(self, sheet_file, rows, kind="reid"):
        return read_sheet(sheet_file(text_of(rows)), kind)

    def same(self, sheet, kind="reid", values=SHARES):
        board, right = sheet.board(), table(kind, values)
        assert list(board.minimum().values()) == [float(row[-1]) for row in right[1:]]
        return [str(note) for note in sheet.notes]

    def test_a_clean_sheet_has_no_notes(self, sheet_file):
        assert self.same(self.read(sheet_file, table())) == []

    def test_heading_of_the_other_attack(self, sheet_file):
        rows = table()
        rows[0][-1] = "SecT"
        said = self.same(self.read(sheet_file, rows))
        assert said == [
            "cell F1: found 'SecT', read as SecI: the values are re-identification scores"
        ]

    def test_sample_attacks_of_the_other_attack(self, sheet_file):
        reals = [value + 1e-7 * value**0.5 for value in SHARES]
        rows = table("reid", reals)
        sheet = self.read(sheet_file, rows, "trace")
        assert sheet.samples == ("T1", "T2")
        assert [note.split(":")[0] for note in self.same(sheet, "trace", reals)] == [
            "cell D1",
            "cell E1",
            "cell F1",
        ]

    @pytest.mark.parametrize("kind", ["reid", "trace"])
    def test_the_wrong_attack_is_refused_whatever_the_headings_say(self, sheet_file, kind):
        other = "trace" if kind == "reid" else "reid"
        reals = [value + 1e-7 * value**0.5 for value in SHARES]
        rows = table(kind, reals if kind == "reid" else SHARES)
        with pytest.raises(InvalidFile, match="a score of .*expected scores of") as caught:
            self.read(sheet_file, rows, kind)
        problem = caught.value.problems[0]
        assert problem.line > 1
        assert problem.found.startswith("0.")
        self.read(sheet_file, rows[:1] + rows[1:], other)

    def test_rounded_values_do_not_tell(self, sheet_file):
        rows = table("trace", [round(value, 1) + k / 100 for k, value in enumerate(SHARES)])
        with pytest.raises(InvalidFile, match="do not tell which attack"):
            self.read(sheet_file, rows, "reid")

    def test_order_of_columns(self, sheet_file):
        rows = [[row[k] for k in (0, 5, 3, 1, 4, 2)] for row in table()]
        sheet = self.read(sheet_file, rows)
        assert sheet.columns == ("team001", "team002", "I1", "I2")
        said = self.same(sheet)
        assert said == [
            "cell B1: found 'SecI', the minimum, though not the last column",
            "cell D1: found 'team001', an attacker behind the sample attacks",
        ]

    def test_order_of_rows(self, sheet_file):
        rows = table()
        sheet = self.read(sheet_file, [rows[0], rows[2], rows[1], rows[3]])
        assert [str(note) for note in sheet.notes] == [
            "cell A3: found 'pubtraces_team000_data01_IDP.csv', out of order, behind "
            "pubtraces_team001_data02_TRP.csv"
        ]

    def test_blank_rows_and_columns(self, sheet_file):
        rows = [[*row, ""] for row in table()]
        rows.insert(2, [""])
        rows.insert(0, [""])
        said = self.same(self.read(sheet_file, rows))
        assert said[0] == "line 1: found a blank line, left out"
        assert said[1].startswith("cell G2: found ''")
        assert said[2] == "line 4: found a blank line, left out"

    def test_title_above(self, sheet_file):
        said = self.same(self.read(sheet_file, [["Final round"], *table()]))
        assert said == ["cell A1: found 'Final round', a title above the table, left out"]

    @pytest.mark.parametrize("heading", ["team1", "1", "01", "Team 1", "001"])
    def test_numbers_without_zeros(self, sheet_file, heading):
        rows = table()
        rows[0][1] = heading
        rows[2][0] = "pubtraces_team1_data02_TRP.csv"
        sheet = self.read(sheet_file, rows)
        assert sheet.attackers == ("team001", "team002")
        said = self.same(sheet)
        assert said[0] == f"cell B1: found {heading!r}, read as team001"
        assert said[1].endswith("read as pubtraces_team001_data02_TRP.csv")

    @pytest.mark.parametrize("word", ["", "-", "invalid", "Invalid"])
    def test_a_target_not_attacked(self, sheet_file, word):
        rows = table()
        rows[1][2] = word
        sheet = self.read(sheet_file, rows)
        board = sheet.board()
        assert board.states[0, 1] == State.MISSING
        assert board.sums()["002"] == 1 + SHARES[3]
        assert self.same(sheet)[0].startswith(f"cell C2: found {word!r}, ")

    def test_an_invalid_release(self, sheet_file):
        rows = table()
        rows[2] = [rows[2][0], "-", "invalid", "invalid", "invalid", "invalid"]
        sheet = self.read(sheet_file, rows)
        assert sheet.invalid == {"pubtraces_team001_data02_TRP.csv"}
        assert sheet.board().minimum()["pubtraces_team001_data02_TRP.csv"] == 0
        assert [str(note) for note in sheet.notes] == [
            "cell C3: found 'invalid', a release that does not count"
        ]

    def test_a_minimum_called_invalid(self, sheet_file):
        rows = table()
        rows[2][-1] = "invalid"
        sheet = self.read(sheet_file, rows)
        assert sheet.invalid == {"pubtraces_team001_data02_TRP.csv"}
        assert "cell F3" in str(sheet.notes[0])

    def test_sums_in_the_middle_and_under_another_name(self, sheet_file):
        rows = table()
        rows.insert(2, ["Total", "1", "", "-", "2", ""])
        sheet = self.read(sheet_file, rows)
        assert sheet.sums[0] == 1
        assert np.isnan(sheet.sums[1:3]).all()
        said = [str(note) for note in sheet.notes]
        assert said[0] == "cell A3: found 'Total', read as SUM"
        assert said[-1].endswith("a file below SUM")

    def test_quoted_cells(self, sheet_file):
        quoted = text_of([[f'"{cell}"' for cell in row] for row in table()])
        assert self.same(read_sheet(sheet_file(quoted), "reid")) == []

    def test_the_final_round_as_published(self, data_dir):
        sheet = read_sheet(data_dir / "results" / "final_traceinference.csv", "trace")
        assert [str(note) for note in sheet.notes] == [
            "cell Z1: found 'SecI', read as SecT: the values are trace inference scores"
        ]
        assert sheet.samples == ("T1", "T2", "T3")
        assert list(sheet.board().minimum().values()) == list(sheet.minimum)

    @pytest.mark.parametrize("name", ["final", "preliminary"])
    def test_published_sheets_of_the_other_attack_are_refused(self, data_dir, name):
        for kind, file in (("trace", "reidentification"), ("reid", "traceinference")):
            with pytest.raises(InvalidFile, match="a score of"):
                read_sheet(data_dir / "results" / f"{name}_{file}.csv", kind)
