from __future__ import annotations

import pytest

from tracecup import City, Clock, Grid, SetTraces, Traces
from tracecup.attack import Case, sample_attacks, strong_attacks, winner_attacks
from tracecup.attack.portfolio import fitting
from tracecup.datasets import Metropolis
from tracecup.errors import InvalidParameter
from tracecup.registry import parse


class TestSampleAttacks:
    @pytest.mark.parametrize("preset", ["paper", "organisers2019", "strong"])
    def test_names_are_known_and_print_as_written(self, preset: str) -> None:
        for column, name in sample_attacks(preset).items():
            assert str(parse("reid" if column.startswith("I") else "inference", name)) == name

    def test_unknown_preset(self) -> None:
        with pytest.raises(InvalidParameter, match="paper, organisers2019"):
            sample_attacks("2020")


class TestFitting:
    def test_a_learned_attack_answers_where_its_model_knows_the_city(self) -> None:
        city, clock = Metropolis().city, Clock.regular(1, 20)
        reference = Traces.of([[0] * 20, [1] * 20], clock)
        released = SetTraces.of_traces(reference)
        assert fitting("Learned-T", Case(city, reference, released)) == "Learned-T"

    @pytest.mark.parametrize("name", ["Learned-R(model=own.npz)", "Bayes-R"])
    def test_what_names_its_model_or_needs_none_stays(self, name: str) -> None:
        away = City(Grid.from_metres(2, 1, width_m=300, height_m=300))
        case = Case(away, Traces.of([[0], [1]]), SetTraces.of_cells([[[0]], [[1]]]))
        assert fitting(name, case) == name


class TestWinnerAttacks:
    @pytest.mark.parametrize("preset", ["paper", "organisers2019"])
    def test_names_are_known_and_print_as_written(self, preset: str) -> None:
        reid, inference = winner_attacks(preset)
        assert str(parse("reid", reid)) == reid
        assert str(parse("inference", inference)) == inference

    def test_unknown_preset(self) -> None:
        with pytest.raises(InvalidParameter, match="paper, organisers2019"):
            winner_attacks("2020")


class TestStrongAttacks:
    def test_each_strength_has_the_attacks_of_the_weaker_ones(self) -> None:
        quick, standard, most = (strong_attacks(word) for word in ("quick", "standard", "max"))
        assert quick == standard[: len(quick)]
        assert standard == most[: len(standard)]

    def test_names_are_known_and_print_as_written(self) -> None:
        for name in strong_attacks("max", "RR(8)+Cheat(0.3)"):
            kind = "reid" if name.split("(")[0].endswith("-R") else "inference"
            assert str(parse(kind, name)) == name  # type: ignore[arg-type]  # a word of Kind

    def test_unknown_strength(self) -> None:
        with pytest.raises(InvalidParameter, match="quick, standard, max"):
            strong_attacks("strong")
