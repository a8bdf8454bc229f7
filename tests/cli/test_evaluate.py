"""`tracecup evaluate synth` from files: what it prints and leaves with."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tracecup.cli.main import run
from tracecup.study.synthesizers import evaluate_synthesizer
from tracecup.usefulness import grid_coordinates, read_day_traces, read_records

NAMES = [
    *("TP-TV", "TP-TV-Top50", "TP-SWD", "TM-TV", "TM-EMD", "VF-TV"),
    *("reid_rate", "membership_advantage"),
]


def write_records(path: Path, first: int, users: int, places: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    lines = ["user_index,poi_index,category,unixtime,dow,hour,min,distance"]
    for user in range(first, first + users):
        for slot in range(30):
            hour, minute = 9 + slot // 3, 20 * (slot % 3)
            place, time = rng.integers(places), 1.4e9 + 1200 * slot
            lines.append(f"{user},{place},-,{time},Sun,{hour},{minute},0")
    path.write_text("\n".join(lines) + "\n")


def write_days(path: Path, users: int, places: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    lines = ["user,trace_no,time_slot,time_instant,poi_index,category,loglli"]
    lines += [
        f"{user},{day},{slot},0,{rng.integers(places)},-,-1.25"
        for user in range(users)
        for day in range(2)
        for slot in range(30)
    ]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    write_records(tmp_path / "train.csv", 0, 4, 6, seed=1)
    write_records(tmp_path / "test.csv", 4, 3, 6, seed=2)
    write_days(tmp_path / "syn.csv", 4, 6, seed=3)
    return [
        *("--train", str(tmp_path / "train.csv"), "--test", str(tmp_path / "test.csv")),
        *("--synthetic", str(tmp_path / "syn.csv")),
    ]


class TestEvaluateSynth:
    def test_json_is_the_study(
        self, files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(["evaluate", "synth", *files, "--grid", "3x2", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        expected = evaluate_synthesizer(
            read_records(tmp_path / "train.csv", 6),
            read_records(tmp_path / "test.csv", 6),
            read_day_traces(tmp_path / "syn.csv", 6),
            grid_coordinates(3, 2),
        )
        assert told == expected.as_dict()
        assert all(list(row) == NAMES for row in told.values())

    def test_places_with_their_own_cells(
        self, files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rows = [f"{x + 3 * y},{x},{y}" for y in range(2) for x in range(3)]
        cells = tmp_path / "cells.csv"
        cells.write_text("poi_index,x_id,y_id\n" + "\n".join(reversed(rows)) + "\n")
        assert run(["evaluate", "synth", *files, "--cells", str(cells), "--json"]) == 0
        by_cells = json.loads(capsys.readouterr().out)
        run(["evaluate", "synth", *files, "--grid", "3x2", "--json"])
        assert by_cells == json.loads(capsys.readouterr().out)

    def test_people_get_a_table(self, files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["evaluate", "synth", *files, "--grid", "3x2"]) == 0
        shown = capsys.readouterr().out
        assert all(name in shown for name in NAMES)

    def test_bad_line_is_the_answer_no(
        self, files: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(["evaluate", "synth", *files, "--grid", "2x2", "--json"]) == 1
        told = json.loads(capsys.readouterr().out)
        assert told["problems"][0]["column"] == "poi_index"

    @pytest.mark.parametrize("grid", ["20", "0x5", "2000x2000", "axb"])
    def test_wrong_grid_is_wrong_use(self, files: list[str], grid: str) -> None:
        assert run(["evaluate", "synth", *files, "--grid", grid]) == 2

    def test_missing_file_is_io(self, files: list[str]) -> None:
        assert run(["evaluate", "synth", *files, "--cells", "nowhere.csv"]) == 3

    def test_repeated_cell_is_named(
        self, files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        cells = tmp_path / "cells.csv"
        cells.write_text("poi_index,x_id,y_id\n0,0,0\n0,1,0\n")
        assert run(["evaluate", "synth", *files, "--cells", str(cells)]) == 1
        assert "every index from 0 to 1 once" in capsys.readouterr().err.replace("\n", " ")

    def test_published_files(
        self, data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = data_dir / "ppmtfplus_pf"
        write_days(tmp_path / "syn.csv", 20, 400, seed=5)
        code = run(
            [
                *("evaluate", "synth", "--json"),
                *("--train", str(folder / "traintraces_TK.csv")),
                *("--test", str(folder / "testtraces_TK.csv")),
                *("--synthetic", str(tmp_path / "syn.csv")),
            ]
        )
        assert code == 0
        told = json.loads(capsys.readouterr().out)
        assert told["real"]["TM-EMD"] == pytest.approx(0.62226, abs=5e-6)
        assert told["uniform"]["TP-TV"] == pytest.approx(0.54098, abs=5e-6)
