"""`tracecup standings` and `tracecup contest init`: what they print, write and leave with."""

from __future__ import annotations

import json

import pytest

from tracecup.cli.main import run
from tracecup.contest.rules import Rules
from tracecup.contest.rules.file import read_rules

REID = """pubtraces,team001,team002,I1,SecI
pubtraces_team000_data01_IDP.csv,0.5,0.75,0.875,0.5
pubtraces_team001_data02_TRP.csv,-,0.25,1,0.25
pubtraces_team002_data02_TRP.csv,1,-,0.5,0.5
SUM,1.5,1,2.375,
"""
UTILITY = """pubtraces,utility
pubtraces_team000_data01_IDP.csv,1
pubtraces_team001_data02_TRP.csv,0.7
pubtraces_team002_data02_TRP.csv,0.6
"""


@pytest.fixture
def sheets(tmp_path, monkeypatch):
    (tmp_path / "r.csv").write_text(REID)
    (tmp_path / "t.csv").write_text(REID.replace("I1", "T1").replace("SecI", "SecT"))
    (tmp_path / "u.csv").write_text(UTILITY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


COMMAND = ["standings", "--reid", "r.csv", "--trace", "t.csv"]


def said(capsys, *more: str) -> dict:
    assert run([*COMMAND, *more, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


class TestStandings:
    def test_json(self, sheets, capsys):
        found = said(capsys)
        assert found["minimum"]["reid"]["pubtraces_team001_data02_TRP.csv"] == 0.25
        assert found["sums"]["trace"] == {"team001": 1.5, "team002": 1.0, "T1": 2.375}
        assert found["awards"]["best_anonymization_trace"]["winners"] == ["team002"]
        assert found["awards"]["best_reidentification"]["winners"] == ["team002"]
        assert found["awards"]["overall"]["value"] == 1.0
        assert found["correlation"] == pytest.approx(1.0)
        assert found["differences"] == []

    def test_utility_makes_files_invalid(self, sheets, capsys):
        found = said(capsys, "--utility", "u.csv")
        assert found["invalid"] == ["pubtraces_team002_data02_TRP.csv"]
        assert found["awards"]["best_anonymization_trace"]["winners"] == ["team001"]
        assert said(capsys, "--utility", "u.csv", "--floor", "0.5")["invalid"] == []

    def test_only(self, sheets, capsys):
        found = said(capsys, "--only", "*_TRP.csv, nothing*")
        assert list(found["minimum"]["reid"]) == [
            "pubtraces_team001_data02_TRP.csv",
            "pubtraces_team002_data02_TRP.csv",
        ]

    def test_only_that_matches_nothing_is_wrong_use(self, sheets, capsys):
        assert run([*COMMAND, "--only", "x*"]) == 2
        assert "x*" in capsys.readouterr().err

    def test_for_people(self, sheets, capsys):
        assert run([*COMMAND, "--utility", "u.csv"]) == 0
        out = capsys.readouterr().out
        assert "invalid" in out
        assert "Best re-identification" in out
        assert "team002" in out

    def test_a_stated_minimum_that_is_wrong_is_reported(self, sheets, capsys):
        (sheets / "r.csv").write_text(REID.replace("0.875,0.5", "0.875,0.6"))
        assert run([*COMMAND, "--json"]) == 0
        printed = capsys.readouterr()
        assert "the sheet says 0.6" in printed.err
        assert len(json.loads(printed.out)["differences"]) == 1

    def test_a_bad_cell_is_named(self, sheets, capsys):
        (sheets / "r.csv").write_text(REID.replace("0.875", "zero"))
        assert run([*COMMAND, "--json"]) == 1
        problem = json.loads(capsys.readouterr().out)["problems"][0]
        assert (problem["line"], problem["column"]) == (2, "I1")

    def test_missing_file(self, sheets):
        assert run(["standings", "--reid", "no.csv", "--trace", "t.csv"]) == 3

    def test_published(self, data_dir, capsys):
        folder = data_dir / "results"
        command = ["standings", "--json", "--only", "*_TRP.csv,*team000*"]
        command += ["--reid", str(folder / "preliminary_reidentification.csv")]
        command += ["--trace", str(folder / "preliminary_traceinference.csv")]
        assert run(command) == 0
        found = json.loads(capsys.readouterr().out)
        assert len(found["minimum"]["trace"]) == 14
        assert found["awards"]["best_anonymization_trace"]["winners"] == ["team016"]
        assert found["correlation"] == pytest.approx(0.872, abs=5e-4)

    def test_slips_are_notes_with_cell_and_value(self, sheets, capsys):
        text = REID.replace("team001,team002,I1", "team1,team002,I1").replace("SUM", "\nSUM")
        (sheets / "r.csv").write_text(text.replace("0.875,0.5", "0.875,0.6"))
        assert run([*COMMAND, "--json"]) == 0
        printed = capsys.readouterr()
        for words in ("cell B1: found 'team1'", "line 5: found a blank line", "0.6 (cell E2)"):
            assert words in printed.err
        assert len(json.loads(printed.out)["notes"]) == 2

    def test_two_rounds(self, sheets, capsys):
        twice = [*COMMAND, *COMMAND[1:]]
        assert run([*twice, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert {name: one["weight"] for name, one in found["rounds"].items()} == {
            "preliminary": 1.0,
            "final": 9.0,
        }
        assert found["total"]["team002"]["total"] == 10.0
        assert found["attackers"]["reid"]["team002"] == {"sum": 10.0, "place": 1, "remark": "1st"}
        assert run([*twice, "--weight", "2", "--weight", "3", "--round", "a", "--round", "b"]) == 0
        assert "2 x a + 3 x b" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("more", "words"),
        [
            (["--reid", "r.csv"], "--trace is given 1 times for 2 rounds"),
            (["--weight", "1", "--weight", "2"], "--weight is given 2 times for 1 rounds"),
            (COMMAND[1:] * 2, "3 rounds need --weight"),
            (["--reid-sheet", "Final"], "no workbook"),
        ],
    )
    def test_rounds_that_do_not_fit(self, sheets, capsys, more, words):
        assert run([*COMMAND, *more]) == 2
        assert words in capsys.readouterr().err

    def test_published_totals_are_compared(self, sheets, capsys):
        (sheets / "p.csv").write_text(
            "team no.,SecI,SecT,Total,Remark\n2,0.5,0.5,1,1st\n1,0.25,0.25,0.6,2nd\n"
        )
        assert run([*COMMAND, "--totals", "p.csv", "--json"]) == 0
        printed = capsys.readouterr()
        expected = "cell D3: Total of team001 is 0.6, the sheets give 0.5"
        assert json.loads(printed.out)["published_totals"] == {"total": [expected]}
        assert expected in printed.err

    def test_published_final(self, data_dir, capsys):
        folder = data_dir / "results"
        command = ["standings", "--json", "--only", "*_TRP.csv,*team000*"]
        command += ["--reid", str(folder / "final_reidentification.csv")]
        command += ["--trace", str(folder / "final_traceinference.csv")]
        assert run(command) == 0
        printed = capsys.readouterr()
        assert "cell Z1: found 'SecI'" in printed.err
        found = json.loads(printed.out)
        assert found["awards"]["best_anonymization_trace"]["winners"] == ["team009"]
        assert found["awards"]["best_reidentification"]["winners"] == ["team004"]
        assert found["awards"]["best_trace_inference"]["winners"] == ["team002"]
        assert found["correlation"] == pytest.approx(0.89521, abs=1e-5)


class TestInit:
    def test_writes_strong_sample_attacks_by_default(self, tmp_path, capsys):
        assert run(["contest", "init", str(tmp_path / "a" / "b"), "--json"]) == 0
        path = tmp_path / "a" / "b" / "contest.toml"
        assert json.loads(capsys.readouterr().out)["rules"] == str(path)
        assert read_rules(path) == Rules.preset("strong")
        assert Rules.preset("strong").samples.reid[-2:] == ("Bayes-R", "Learned-R")

    def test_the_papers_preset_has_the_defaults(self, tmp_path):
        assert run(["contest", "init", str(tmp_path), "--preset", "paper"]) == 0
        assert read_rules(tmp_path / "contest.toml") == Rules()

    def test_name_and_preset(self, tmp_path):
        command = ["contest", "init", str(tmp_path), "--name", "Cup [1]"]
        assert run([*command, "--preset", "organisers2019"]) == 0
        expected = Rules.preset("organisers2019").renamed("Cup [1]")
        assert read_rules(tmp_path / "contest.toml") == expected

    def test_never_overwrites(self, tmp_path, capsys):
        (tmp_path / "contest.toml").write_text("users = 5\n")
        assert run(["contest", "init", str(tmp_path)]) == 2
        assert (tmp_path / "contest.toml").read_text() == "users = 5\n"
        assert "there already" in capsys.readouterr().err

    def test_bad_name_writes_nothing(self, tmp_path, capsys):
        assert run(["contest", "init", str(tmp_path / "new"), "--name", "a\nb"]) == 2
        assert "name" in capsys.readouterr().err
        assert not (tmp_path / "new").exists()

    def test_folder_that_cannot_be_made(self, tmp_path):
        (tmp_path / "file").write_text("")
        assert run(["contest", "init", str(tmp_path / "file" / "x")]) == 3
