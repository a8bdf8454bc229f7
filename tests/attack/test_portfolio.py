from __future__ import annotations

import pytest

from tracecup.attack import sample_attacks, winner_attacks
from tracecup.errors import InvalidParameter
from tracecup.registry import parse


class TestSampleAttacks:
    @pytest.mark.parametrize("preset", ["paper", "organisers2019"])
    def test_names_are_known_and_print_as_written(self, preset: str) -> None:
        for column, name in sample_attacks(preset).items():
            assert str(parse("reid" if column.startswith("I") else "inference", name)) == name

    def test_unknown_preset(self) -> None:
        with pytest.raises(InvalidParameter, match="paper, organisers2019"):
            sample_attacks("2020")


class TestWinnerAttacks:
    @pytest.mark.parametrize("preset", ["paper", "organisers2019"])
    def test_names_are_known_and_print_as_written(self, preset: str) -> None:
        reid, inference = winner_attacks(preset)
        assert str(parse("reid", reid)) == reid
        assert str(parse("inference", inference)) == inference

    def test_unknown_preset(self) -> None:
        with pytest.raises(InvalidParameter, match="paper, organisers2019"):
            winner_attacks("2020")
