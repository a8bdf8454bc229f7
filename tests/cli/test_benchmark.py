from __future__ import annotations

import json

import pytest

import tracecup.cli.benchmark as command
from tracecup import Traces
from tracecup.city import City, ContestClock, Grid, write_city, write_clock
from tracecup.cli.benchmark import names_of, seeds_of
from tracecup.cli.main import run
from tracecup.errors import InvalidParameter
from tracecup.front import data
from tracecup.traces import files

CLOCK = ContestClock.regular(2, slots=3)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Nine people who never leave their region, in the working folder."""
    city = tmp_path / "town"
    city.mkdir()
    write_city(city / "info_region.csv", City(Grid.from_metres(3, 3, width_m=900, height_m=900)))
    write_clock(city / "info_time.csv", CLOCK)
    stay = [[k] * 6 for k in range(9)]
    files.write_traces(city / "reftraces_team001.csv", Traces.of(stay, CLOCK.reference))
    files.write_traces(city / "orgtraces_team001.csv", Traces.of(stay, CLOCK.original))
    monkeypatch.chdir(tmp_path)
    return tmp_path


WORDS = ["benchmark", "--data", "town", "--out", "out", "--seeds", "1-2"]
GRID = ["--defences", "None,Cheat(1)", "--attacks", "VisitProb-R,VisitProb-T", "--as-written"]


def answer(capsys, *words: str) -> tuple[int, dict]:
    code = run([*WORDS, *words, "--json"])
    return code, json.loads(capsys.readouterr().out)


class TestBenchmark:
    def test_without_obfuscation_everybody_is_found(self, folder, capsys):
        code, said = answer(capsys, *GRID)
        assert code == 0
        assert (said["cells_run"], said["cells_kept"], said["rows"]) == (4, 0, 8)
        row = said["summary"][0]
        assert (row["defence"], row["utility"], row["s_r_min"], row["s_t_min"]) == ("None", 1, 0, 0)
        assert row["valid"] is None

    def test_usual_defences_are_those_of_nine_people(self, folder, capsys):
        words = ["--defences", "+Cheat(1)", "--attacks", "VisitProb-R", "--as-written"]
        said = answer(capsys, *words)[1]
        assert [row["defence"] for row in said["summary"]][-2:] == ["KMeans(2)", "Cheat(1)"]
        assert "KMeans(2)" in {row["ran"] for row in said["summary"]}

    def test_cheating_is_seen(self, folder, capsys):
        row = answer(capsys, *GRID)[1]["summary"][1]
        assert row["s_t_min"] == 0
        assert row["s_r_min"] > 0.5

    def test_second_run_finds_everything_finished(self, folder, capsys):
        first = answer(capsys, *GRID)[1]
        second = answer(capsys, *GRID)[1]
        assert (second["cells_run"], second["cells_kept"]) == (0, 4)
        assert second["summary"] == first["summary"]
        assert answer(capsys, *GRID, "--force")[1]["cells_run"] == 4

    def test_files(self, folder, capsys):
        said = answer(capsys, *GRID)[1]
        names = {path.name for path in (folder / "out").iterdir()}
        assert names == {
            "cells", "table.csv", "table.parquet", "summary.csv", "scatter.png", "scatter.svg",
        }  # fmt: skip
        assert all((folder / name).is_file() for name in said["files"])
        assert (
            (folder / "out" / "table.csv").read_text().startswith("data,team,defence,tuned,tuning,")
        )

    def test_without_matplotlib_there_is_no_picture(self, folder, capsys, monkeypatch):
        monkeypatch.setattr(command, "find_spec", lambda name: None)
        assert run([*WORDS, *GRID]) == 0
        said = capsys.readouterr()
        assert "no picture: matplotlib" in said.err
        assert not (folder / "out" / "scatter.png").exists()

    def test_table_for_people(self, folder, capsys):
        assert run([*WORDS, *GRID]) == 0
        said = capsys.readouterr()
        assert "town team001" in said.out
        assert "0.000 [0.000, 0.299]" in said.out  # Wilson for nobody of nine, twice
        assert "4 cells run, 0 found finished" in said.err
        assert "tuned" not in said.err

    def test_says_that_names_are_tuned(self, folder, capsys):
        names = ["--defences", "PL(4,1)", "--attacks", "Random-R", "--seeds", "1"]
        assert run([*WORDS, *names, "--floor", "0.8"]) == 0
        assert "tuned to utility 0.8" in capsys.readouterr().err

    def test_failed_cell_is_told_and_answers_no(self, folder, capsys):
        code, said = answer(
            capsys, "--defences", "None,MRLH(9,9,0)", "--attacks", "VisitProb-R", "--floor", "0.99"
        )
        assert code == 1
        assert {failure["defence"] for failure in said["failed"]} == {"MRLH(9,9,0)"}
        assert len(said["summary"]) == 1

    def test_below_the_floor_is_said(self, folder, capsys):
        words = ["--defences", "None+MRLH(1,1,0.9)", "--attacks", "VisitProb-R"]
        assert run([*WORDS, *words]) == 0
        assert "below" in capsys.readouterr().out

    def test_wrong_use(self, folder, capsys):
        assert run([*WORDS, "--defences", "PLL(4,1)"]) == 2
        assert run([*WORDS, "--attacks", "Visit-R"]) == 2
        assert run(["benchmark", "--data", "town", "--out", "out", "--seeds", "one"]) == 2
        assert run(["benchmark", "--out", "out"]) == 2
        assert run(["benchmark", "--data", "nowhere", "--out", "out"]) == 3


class TestNamesOf:
    def test_brackets_hold_commas_together(self):
        assert names_of(["A(1,2),B", " C ", ""]) == ["A(1,2)", "B", "C"]

    def test_nothing(self):
        assert names_of(None) == names_of([","]) == []


class TestSeedsOf:
    def test_lists_and_ranges(self):
        assert seeds_of("3,1-2") == [3, 1, 2]

    @pytest.mark.parametrize("text", ["", "a", "1-", "-1", "3-1", "1,,2", "1-99999999", "9" * 40])
    def test_refused(self, text):
        with pytest.raises(InvalidParameter):
            seeds_of(text)


class TestDemo:
    def test_from_nothing_by_one_command(self, folder, capsys, monkeypatch):
        made = data.load_demo
        monkeypatch.setattr(data, "load_demo", lambda: made(days=1, users=6))
        words = ["benchmark", "--demo", "--out", "out", "--seeds", "1"]
        assert run([*words, *GRID, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["summary"][0]["data"] == "demo"
        assert run(["benchmark", "--out", "out"]) == 2
        assert "--data FOLDER, or --demo" in capsys.readouterr().err


class TestEmptyNames:
    @pytest.mark.parametrize("option", ["--defences", "--attacks"])
    def test_are_an_error_and_not_the_usual_list(self, folder, capsys, option):
        given = [*WORDS, option, ""]
        assert run(given) == 2
        assert f"{option} is empty" in capsys.readouterr().err
