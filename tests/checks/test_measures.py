"""Checks of measures: the built-in ones pass, and what is wrong is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from tracecup.attack import AggMia, Measure, Measured, UnicityMeasure
from tracecup.checks import check_method
from tracecup.registry import Method
from tracecup.score.intervals import Interval

Failures = Callable[[type[Method]], dict[str, str]]


@pytest.mark.parametrize(
    "method", [AggMia(3), AggMia(500, targets=2), UnicityMeasure(2), UnicityMeasure(deleted="weak")]
)
def test_built_in_measures_pass(method: Measure) -> None:
    assert [result for result in check_method(method) if not result.passed] == []


def test_a_value_outside_its_interval_is_found(failures: Failures) -> None:
    @dataclass(frozen=True)
    class Careless(Measure):
        def _measure(self, city, known, released, rng, confidence):
            return Measured(0.9, Interval(0.1, 0.2, confidence, "guessed"), 0.0, "nothing")

    assert "is within its interval" in failures(Careless)


def test_other_random_numbers_are_found(failures: Failures) -> None:
    @dataclass(frozen=True)
    class Moody(Measure):
        def _measure(self, city, known, released, rng, confidence):
            value = float(np.random.default_rng().random())
            return Measured(value, Interval(0.0, 1.0, confidence, "whole range"), 0.0, "nothing")

    assert "same seed gives the same number" in failures(Moody)
