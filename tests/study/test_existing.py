"""Every defence against every attack: a small grid, resumed cell by cell."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tracecup.attack import HomeProbR, PriorT, VisitProbR, VisitProbT
from tracecup.city import City, Clock, Grid
from tracecup.registry import methods
from tracecup.study import existing
from tracecup.study.context import Context, Team
from tracecup.study.existing import COSTLY, attacks, defences, table_of_cells
from tracecup.study.existingcells import Cells, Tuning
from tracecup.study.results import BUILT_IN
from tracecup.traces import Traces

SHIELDS = [
    Tuning("Cloak(20)", "k"),
    Tuning("SGLT-D(6,0)", "c", whole=(2, 35)),
    Tuning("MDAV(2)", ""),
]
SWORDS = [VisitProbR(), HomeProbR(), VisitProbT(), PriorT()]


@pytest.fixture
def team() -> Team:
    gen = np.random.default_rng(4)
    homes = gen.integers(35, size=(24, 1))
    regions = np.where(gen.random((24, 24)) < 0.7, homes, gen.integers(35, size=(24, 24)))
    city = City(Grid.from_metres(5, 7, width_m=341.25, height_m=346.875), hospitals=[0, 17])
    reference = Traces.of(regions[:, :12], Clock.regular(4, 3))
    original = Traces.of(regions[:, 12:], Clock.regular(4, 3, first_time=12))
    return Team("toy", city, reference, original, BUILT_IN)


class TestLists:
    def test_every_defence_of_ours_is_there_unless_it_reads_a_model(self) -> None:
        written = {one.written.partition("(")[0] for one in defences()}
        missing = set(methods("obfuscator")) - written
        assert written <= set(methods("obfuscator"))
        assert missing == {"Equalise"}  # which may read the models of a race; see the study of it

    def test_every_attack_of_ours_is_there_unless_it_reads_a_model(self) -> None:
        named = {method.name for method in attacks()}
        every = {**methods("reid"), **methods("inference")}
        missing = set(every) - named
        assert all("model" in {r.name for r in every[name].parameters()} for name in missing)


class TestCells:
    def test_a_stopped_run_goes_on(self, team, tmp_path, monkeypatch) -> None:
        context = Context(cells=tmp_path)
        first = table_of_cells(context, team, 10, SHIELDS[:1], SWORDS[:2])
        path = next((tmp_path / "existing").iterdir())
        before = json.loads(path.read_text())
        whole = table_of_cells(context, team, 10, SHIELDS, SWORDS)
        assert [one.row for one in whole[:2]] == [one.row for one in first]
        kept = json.loads(path.read_text())
        assert kept["attacks"].items() >= before["attacks"].items()
        monkeypatch.setattr(Cells, "_made", None)
        monkeypatch.setattr(Cells, "_release", None)
        again = table_of_cells(context, team, 10, SHIELDS, SWORDS)
        assert [one.row for one in again] == [one.row for one in whole]

    def test_without_a_folder_nothing_is_written(self, team, tmp_path, monkeypatch) -> None:
        monkeypatch.chdir(tmp_path)
        table_of_cells(Context(), team, 10, SHIELDS[:1], SWORDS[:1])
        assert list(tmp_path.iterdir()) == []

    def test_a_damaged_cell_is_made_again(self, team, tmp_path) -> None:
        context = Context(cells=tmp_path)
        wanted = table_of_cells(context, team, 10, SHIELDS[:1], SWORDS[:1])[0]
        next((tmp_path / "existing").iterdir()).write_text("{")
        found = table_of_cells(context, team, 10, SHIELDS[:1], SWORDS[:1])[0]
        assert found["score"] == wanted["score"]

    def test_tuned_defences_keep_the_floor(self, team) -> None:
        for shield in SHIELDS[:2]:
            held = Cells(Context(), team, shield).held
            assert held["s_U"] >= 0.7
            assert held["tuning"] == f"by {shield.knob}"
        assert Cells(Context(), team, SHIELDS[2]).held["tuning"] == "as written"

    def test_costly_attacks_meet_the_first_users_only(self, team, monkeypatch) -> None:
        monkeypatch.setattr(existing, "COSTLY", frozenset({"HomeProb-R"}))
        cells = table_of_cells(Context(), team, 10, SHIELDS[:1], SWORDS)
        assert [one["users"] for one in cells] == [24, 10, 24, 24]
        row = existing._defences(cells, 24).records()[0]
        assert row["by"] == "VisitProb-R"
        assert row["by (trace)"] == "VisitProb-T"

    def test_costly_names_exist_or_are_to_come(self) -> None:
        assert all(name.endswith(("-R", "-T")) for name in COSTLY)
