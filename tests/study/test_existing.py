"""Every defence against every attack: a small grid, resumed cell by cell."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tracecup.attack import HomeProbR, HomeProbT, PriorT, VisitProbR, VisitProbT
from tracecup.city import City, Clock, Grid
from tracecup.obfuscate import parse_obfuscator
from tracecup.registry import methods
from tracecup.study import existing
from tracecup.study.context import Context, Team
from tracecup.study.existing import COSTLY, attacks, defences, is_costly, table_of_cells
from tracecup.study.existingcells import ExistingCells, Tuning
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
    def test_every_defence_is_there(self) -> None:
        written = {one.written.partition("(")[0] for one in defences()}
        assert written == set(methods("obfuscator"))

    def test_every_attack_is_there(self) -> None:
        named = {method.name for method in attacks()}
        assert named == {*methods("reid"), *methods("inference")}

    def test_a_quick_run_takes_some_defences(self) -> None:
        quick = defences(quick=True)
        assert {one.written for one in quick} < {one.written for one in defences()}
        assert len(quick) == len(existing.QUICK_DEFENCES)

    def test_weak_scores_are_cheap_enough_for_everybody(self) -> None:
        costly = {str(method) for method in attacks() if is_costly(method)}
        assert "LPM-R(strong)" in costly
        assert "LPM-R(weak)" not in costly


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
        monkeypatch.setattr(ExistingCells, "_made", None)
        monkeypatch.setattr(ExistingCells, "_release", None)
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
            held = ExistingCells(Context(), team, shield).held
            assert held["s_U"] >= 0.7
            assert held["tuning"] == f"by {shield.knob}"
        assert ExistingCells(Context(), team, SHIELDS[2]).held["tuning"] == "as written"

    def test_costly_attacks_meet_some_users_and_have_minima_of_their_own(
        self, team, monkeypatch
    ) -> None:
        monkeypatch.setattr(existing, "COSTLY", frozenset({"HomeProb-R", "HomeProb-T"}))
        cells = table_of_cells(Context(), team, 10, SHIELDS[:1], [*SWORDS, HomeProbT()])
        assert [one["users"] for one in cells] == [24, 10, 24, 24, 10]
        row = existing._defences(cells).records()[0]
        assert (row["by"], row["by (trace)"]) == ("VisitProb-R", "VisitProb-T")
        assert (row["by (few)"], row["by (trace, few)"]) == ("HomeProb-R", "HomeProb-T")

    def test_slow_defences_protect_some_users(self, team, monkeypatch) -> None:
        monkeypatch.setattr(existing, "SLOW", frozenset({"MDAV"}))
        cells = table_of_cells(Context(), team, 10, SHIELDS[2:], SWORDS)
        assert {one["users"] for one in cells} == {10}
        assert existing._defences(cells).records()[0]["users"] == 10

    def test_a_defence_is_given_the_reference(self, team, monkeypatch) -> None:
        seen = []
        method = type(parse_obfuscator("MDAV(2)"))
        plain = method._obfuscate_knowing

        def spy(self, city, original, reference, rng):
            seen.append(reference)
            return plain(self, city, original, reference, rng)

        monkeypatch.setattr(method, "_obfuscate_knowing", spy)
        ExistingCells(Context(), team, SHIELDS[2])
        assert seen == [team.reference]

    def test_costly_names_exist(self) -> None:
        assert {*methods("reid"), *methods("inference")} >= COSTLY
