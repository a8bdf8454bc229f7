"""Names, words and ranges: each broken promise fails its own check."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from tracecup.checks import check_method
from tracecup.checks.general import bad_values
from tracecup.city import City
from tracecup.errors import InvalidParameter
from tracecup.obfuscate import KMeans, Obfuscator
from tracecup.registry import KINDS, Parameter, methods, parameter, register
from tracecup.rng import Rng
from tracecup.traces import SetTraces, Traces


@dataclass(frozen=True)
class Plain(Obfuscator):
    """Nothing wrong with it."""

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        return SetTraces.of_traces(original)


@dataclass(frozen=True)
class OddWord(Plain):
    """A word that cannot be written in a name."""

    style: str = parameter("a,b", "style", words=("a,b", "c"))


@dataclass(frozen=True)
class OwnSpelling(Plain):
    """Prints as something that means another value."""

    steps: int = parameter(1, "steps")

    def __str__(self) -> str:
        return f"{self.name}(7)"


@dataclass(frozen=True)
class Silent(Plain):
    """A parameter without a meaning."""

    steps: int = parameter(1, " ")


@dataclass(frozen=True)
class Promises(Plain):
    """A guarantee that is no text."""

    def guarantee(self, events: int = 400) -> str:
        return 3.0  # type: ignore[return-value]  # wrong on purpose


@dataclass(frozen=True)
class Careless(Plain):
    """Does not look at its parameters."""

    steps: int = parameter(1, "steps", low=1)

    def check(self) -> None:
        pass


@dataclass(frozen=True)
class Crashes(Careless):
    """Falls over bad parameters instead of refusing them."""

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        count = np.empty(self.steps - 1)
        return SetTraces.of_traces(original) if count.size == 0 else SetTraces.of_cells([])


@dataclass(frozen=True)
class Eager(Plain):
    """Refuses bad parameters when it is built, which is early but in the right words."""

    steps: int = parameter(1, "steps", low=0, high=5)

    def __post_init__(self) -> None:
        self.check()


class TestNameParsesBack:
    def test_unregistered(self) -> None:
        message = {r.name: r.message for r in check_method(Plain)}["name parses back"]
        assert "Plain is registered under no name" in message
        assert "@register('obfuscator', 'Its-Name', 'what it does')" in message

    def test_a_subclass_does_not_inherit_a_name(self) -> None:
        @dataclass(frozen=True)
        class Mine(KMeans):
            pass

        message = {r.name: r.message for r in check_method(Mine)}["name parses back"]
        assert "registered as obfuscator 'KMeans'" in message

    def test_registered_as_another_kind(self, own_registry: None) -> None:
        register("reid", "Plain", "an obfuscation among attacks")(Plain)
        message = {r.name: r.message for r in check_method(Plain)}["name parses back"]
        assert "registered as reid 'Plain'" in message

    def test_words_that_cannot_be_written(self, failures) -> None:
        assert set(failures(OddWord)) == {"name parses back"}

    def test_spelling_of_its_own(self, failures) -> None:
        found = failures(OwnSpelling)
        assert set(found) == {"name parses back"}
        assert "gives steps=7 when it is parsed, not 1" in found["name parses back"]


class TestExplainsItself:
    def test_parameters_have_a_meaning(self, failures) -> None:
        assert failures(Silent) == {"explains itself": "parameter steps needs a meaning in words"}

    def test_guarantee_is_text(self, failures) -> None:
        found = failures(Promises)
        assert set(found) == {"explains itself"}
        assert "must give text" in found["explains itself"]

    @pytest.mark.parametrize("summary", ["", " ", "two\nlines"])
    def test_summary_is_a_line(self, summary: str, own_registry: None) -> None:
        register("obfuscator", "Plain", summary)(Plain)
        failed = {r.name for r in check_method(Plain) if not r.passed}
        assert failed == {"explains itself"}


class TestRefusesBadParameters:
    def test_accepted(self, failures) -> None:
        found = failures(Careless)
        assert set(found) == {"refuses bad parameters"}
        assert found["refuses bad parameters"] == (
            "steps = 0 was accepted, but it is declared as a whole number >= 1: "
            "call self.check() first in obfuscate"
        )

    def test_another_error(self, failures) -> None:
        found = failures(Crashes)
        assert set(found) == {"refuses bad parameters"}
        assert "raised ValueError instead of InvalidParameter" in found["refuses bad parameters"]

    def test_early_is_fine(self, failures) -> None:
        assert failures(Eager) == {}

    def test_nothing_to_refuse(self) -> None:
        remarks = {r.name: r.message for r in check_method(Plain)}
        assert remarks["refuses bad parameters"] == "it has no parameters"


class TestBadValues:
    @pytest.mark.parametrize("kind", KINDS)
    def test_all_are_refused_by_their_rule(self, kind) -> None:
        for cls in methods(kind).values():
            for rule in cls.parameters():
                assert bad_values(rule)
                for bad in bad_values(rule):
                    with pytest.raises(InvalidParameter):
                        rule.check(bad, "Any")

    def test_numbers(self) -> None:
        rule = Parameter("p", 0.5, "share", low=0, high=1, low_open=True)
        bad = bad_values(rule)
        assert bad[:3] == [-1.0, 0, 2.0]
        assert math.isnan(bad[3])
        assert bad[4] == math.inf

    def test_words_and_switches(self) -> None:
        assert bad_values(Parameter("a", True, "")) == ["maybe"]
        assert bad_values(Parameter("a", "b", "", words=("b",))) == ["no such word"]
