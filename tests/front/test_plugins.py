"""Methods from files: `--plugin my.py[:Class]`, and everything that can be wrong with one."""

from __future__ import annotations

import json
import pickle
import sys

import pytest

from tracecup.city import City, ContestClock, Grid, write_city, write_clock
from tracecup.cli.main import run
from tracecup.errors import InvalidParameter, TraceCupError, UnreadableFile
from tracecup.front.plugins import Source, install, load_plugin, shipped
from tracecup.jobs import call_on, engine
from tracecup.registry import parse
from tracecup.traces import Traces, files

CLOCK = ContestClock.regular(2, slots=3)
SHIFT = """
import numpy as np
import tracecup as tc

@tc.obfuscator(steps=(0, 3), name="{name}")
def {name}(original, city, steps=1):
    "Everybody some regions further."
    return (np.asarray(original) + steps) % city.n_regions
"""
PLAIN = """
from dataclasses import dataclass
import numpy as np
from tracecup.attack import ReidAttack

@dataclass(frozen=True)
class {name}(ReidAttack):
    "Everybody is the first user."
    def score_matrix(self, case, rng=None):
        return np.eye(case.n_users)[[0] * case.n_users]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Six people who stay where they are, and a working folder."""
    write_city(tmp_path / "info_region.csv", City(Grid.from_metres(3, 3, width_m=500, height_m=9)))
    write_clock(tmp_path / "info_time.csv", CLOCK)
    for name, clock in (("reftraces", CLOCK.reference), ("orgtraces", CLOCK.original)):
        files.write_traces(tmp_path / f"{name}.csv", Traces.of([[k] * 6 for k in range(6)], clock))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


CASE = ["--city", "info_region.csv", "--clock", "info_time.csv"]
DATA = [*CASE, "--reference", "reftraces.csv", "--original", "orgtraces.csv"]


class TestLoadPlugin:
    def test_decorated_functions_and_plain_classes(self, folder):
        path = folder / "both.py"
        path.write_text(SHIFT.format(name="shifted") + PLAIN.format(name="FirstUser"))
        assert [cls.__name__ for cls in load_plugin(path)] == ["shifted", "FirstUser"]
        assert str(parse("obfuscator", "shifted(2)")) == "shifted(2)"
        assert parse("reid", "firstuser").summary == "Everybody is the first user."
        assert load_plugin(str(path))[0] is load_plugin(f"{path}:shifted")[0]

    def test_names_of_other_modules_are_not_taken(self, folder):
        (folder / "json.py").write_text(SHIFT.format(name="not_json"))
        load_plugin("json.py")
        assert json.loads("1") == 1
        assert sys.modules["json"] is json

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("x = 1", "defines no method"),
            ("\n\nx = 1 / 0", r"ZeroDivisionError: division by zero \(line 3\)"),
            ("raise SystemExit(3)", "cannot be imported: SystemExit"),
            ("x = (", "SyntaxError"),
        ],
    )
    def test_broken(self, folder, text, message):
        (folder / "broken.py").write_text(text)
        sys.modules.pop("broken", None)
        with pytest.raises(TraceCupError, match=message):
            load_plugin("broken.py")

    def test_nonsense(self, folder):
        with pytest.raises(UnreadableFile, match="no such file"):
            load_plugin("nothing.py")
        with pytest.raises(InvalidParameter, match="my.py:Class"):
            load_plugin("reftraces.csv")


class TestCommands:
    def test_all_plus_mine(self, folder, capsys):
        (folder / "mine.py").write_text(SHIFT.format(name="mine_cli"))
        words = ["compare", *DATA, "--plugin", "mine.py", "--as-written", "--json"]
        one = ["--reid", "VisitProb-R", "--trace", "VisitProb-T"]
        assert run([*words, *one, "--defence", "+mine_cli(2)"]) == 0
        names = [row["defence"] for row in json.loads(capsys.readouterr().out)["defences"]]
        assert names[0] == "None"
        assert names[-1] == "mine_cli(2)"
        assert len(names) == 9
        assert run([*words, *one, "--defence", "mine_cli"]) == 0
        assert len(json.loads(capsys.readouterr().out)["defences"]) == 1

    def test_take_it(self, folder, capsys):
        (folder / "all.py").write_text(SHIFT.format(name="mine_all"))
        grid = ["--seeds", "1", "--as-written", "--attacks", "VisitProb-R"]
        for words in (
            ["obfuscate", "mine_all", *CASE, "--original", "orgtraces.csv", "--out", "a.csv"],
            ["methods", "mine_all"],
            ["benchmark", "--data", ".", "--out", "o", "--defences", "mine_all", *grid],
        ):
            assert run([*words, "--plugin", "all.py:mine_all", "--json"]) == 0
            assert "mine_all" in capsys.readouterr().out

    def test_check_takes_a_file(self, folder, capsys):
        (folder / "checked.py").write_text(SHIFT.format(name="checked"))
        assert run(["check", "checked.py:checked", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["kind"] == "obfuscator"

    def test_the_same_file_twice(self, folder, capsys):
        words = [*CASE, "--reference", "orgtraces.csv", "--original", "./orgtraces.csv"]
        assert run(["compare", *words]) == 2
        assert "are the same file" in capsys.readouterr().err

    def test_a_reference_file_as_original(self, folder, capsys):
        files.write_traces(
            folder / "again.csv", Traces.of([[k] * 6 for k in range(6)], CLOCK.reference)
        )
        words = [*CASE, "--reference", "reftraces.csv", "--original", "again.csv"]
        assert run(["compare", *words]) == 1
        assert "time_id" in capsys.readouterr().err

    def test_no_clock_is_said(self, folder, capsys):
        words = ["--city", "info_region.csv", "--reference", "reftraces.csv"]
        one = ["--defence", "None", "--reid", "VisitProb-R", "--trace", "VisitProb-T"]
        assert run(["compare", *words, "--original", "orgtraces.csv", *one]) == 0
        assert "one long day" in capsys.readouterr().err


class TestShipped:
    """Workers that do not see the file get its source."""

    def written(self, folder, name: str, step: int) -> str:
        (folder / f"near_{name}.py").write_text(f"STEP = {step}\n")
        text = f"from near_{name} import STEP\n" + SHIFT.format(name=name)
        path = folder / f"{name}.py"
        path.write_text(text.replace("+ steps", "+ STEP * steps"))
        return str(path)

    def test_nothing_to_ship(self):
        assert shipped(None) is None

    def test_the_neighbours_travel_with_it(self, folder):
        path = self.written(folder, "with_near", 2)
        load_plugin(path)
        (source,) = shipped([path]).args[0]
        assert [name for name, _ in source.files] == ["near_with_near.py", "with_near.py"]
        assert pickle.loads(pickle.dumps(source)) == source

    def test_an_edited_source_takes_the_place_of_the_old_one(self, folder):
        def of(step: int) -> Source:
            text = "import near\n" + SHIFT.format(name="edited").replace("steps)", "near.STEP)")
            return Source("edited.py", "edited", (("edited.py", text), ("near.py", f"STEP={step}")))

        city = City(Grid.from_metres(3, 3, width_m=500, height_m=9))
        for step in (1, 2, 1):
            install([of(step)])
            install([of(step)])
            moved = parse("obfuscator", "edited").obfuscate(city, Traces.of([[0]]), 1)
            assert moved.regions.tolist() == [step]

    def test_a_process_that_never_saw_the_file(self, folder, monkeypatch):
        path = self.written(folder, "far_away", 2)
        load_plugin(path)
        method, prepare = parse("obfuscator", "far_away(1)"), shipped([path])
        for file in folder.glob("*.py"):
            file.unlink()
        monkeypatch.setenv("TRACECUP_THREADS", "1")
        city = City(Grid.from_metres(3, 3, width_m=500, height_m=9))
        with engine("processes", prepare) as jobs:
            moved = call_on(jobs, method.obfuscate, city, Traces.of([[0, 1]]), 1)
        assert moved.regions.tolist() == [2, 3]
