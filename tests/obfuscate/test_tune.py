"""Tuning ends on the valid side of the floor, at a crossing, with draws that can be repeated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tracecup.city import City
from tracecup.errors import InvalidParameter
from tracecup.obfuscate import MRLH, RR, NoObfuscation, RareShift, to_utility
from tracecup.score import utility_score
from tracecup.score.observed import observed_utility
from tracecup.traces import Traces

CASES = [
    ("MRLH(1,1)", None, 1e-3),
    ("MRLH(0,0)", "lambda", 1e-3),
    ("RR", "eps", 1e-3),
    ("PL", "l", 1e-3),
    ("PL(2)", "r", 1e-3),
    ("Cheat", "p", 1e-2),
    ("RareShift", None, 0.3),
    ("RareShift(rare=9)", "cells", 0.3),
    ("KMeans(20)", None, 1e-5),
]


class TestToUtility:
    @pytest.mark.parametrize(("name", "parameter", "near"), CASES)
    def test_keeps_the_floor_closely(
        self, name: str, parameter: str | None, near: float, commuters: Traces, contest_city: City
    ) -> None:
        _, score = to_utility(name, contest_city, commuters, rng=1, parameter=parameter)
        assert score.valid
        assert score.value < 0.7 + near

    @pytest.mark.parametrize("name", ["MRLH(1,1)", "PL", "KMeans(20)"])
    def test_of_traces_with_gaps_the_observed_events_count(
        self, name: str, commuters: Traces, contest_city: City
    ) -> None:
        regions = np.array(commuters.regions)
        regions[np.random.default_rng(1).random(regions.shape) < 0.3] = -1
        traces = Traces(regions, commuters.users, commuters.clock)
        method, score = to_utility(name, contest_city, traces, rng=1, tolerance=1e-3)
        found = observed_utility(contest_city, traces, method.obfuscate(contest_city, traces, 1))
        assert found.value == score.value
        assert 0.7 <= score.value < 0.7 + 2e-3
        with pytest.raises(InvalidParameter, match="paper's rule"):
            to_utility(name, contest_city, traces, rng=1, rule="organisers")

    @pytest.mark.parametrize(("name", "parameter", "near"), CASES)
    def test_the_method_gives_that_utility(
        self, name: str, parameter: str | None, near: float, commuters: Traces, contest_city: City
    ) -> None:
        method, score = to_utility(
            name, contest_city, commuters, floor=0.75, rng=2, parameter=parameter
        )
        released = method.obfuscate(contest_city, commuters, rng=2)
        assert utility_score(contest_city, commuters, released).value == score.value

    def test_a_little_stronger_breaks_the_floor(
        self, commuters: Traces, contest_city: City
    ) -> None:
        method, _ = to_utility("RR", contest_city, commuters, rng=1)
        assert isinstance(method, RR)
        stronger = replace(method, eps=method.eps - 0.01)
        released = stronger.obfuscate(contest_city, commuters, rng=1)
        assert utility_score(contest_city, commuters, released).value < 0.7

    def test_the_next_whole_number_breaks_the_floor(
        self, commuters: Traces, contest_city: City
    ) -> None:
        method, _ = to_utility("RareShift", contest_city, commuters, rng=1, floor=0.9)
        assert isinstance(method, RareShift)
        stronger = replace(method, rare=method.rare + 1)
        released = stronger.obfuscate(contest_city, commuters, rng=1)
        assert utility_score(contest_city, commuters, released).value < 0.9

    def test_class_with_fixed_parameters(self, commuters: Traces, contest_city: City) -> None:
        method, _ = to_utility(
            MRLH, contest_city, commuters, fixed={"mu_x": 1, "mu_y": 0}, rng=1, tolerance=1e-3
        )
        assert isinstance(method, MRLH)
        assert (method.mu_x, method.mu_y) == (1, 0)
        assert 0 < method.lambda_ < 0.3

    def test_generator_is_not_advanced(self, commuters: Traces, contest_city: City) -> None:
        gen = np.random.default_rng(5)
        method, score = to_utility("RR", contest_city, commuters, rng=gen)
        released = method.obfuscate(contest_city, commuters, gen)
        assert utility_score(contest_city, commuters, released).value == score.value

    def test_strong_end_when_even_that_is_valid(
        self, commuters: Traces, contest_city: City
    ) -> None:
        method, _ = to_utility("RR", contest_city, commuters, floor=0.0)
        assert method == RR(0.0)

    def test_floor_out_of_reach(self, commuters: Traces, contest_city: City) -> None:
        with pytest.raises(InvalidParameter, match=r"out of reach: MRLH\(5,5,0\)"):
            to_utility("MRLH(5,5)", contest_city, commuters.take_users(slice(0, 5)))

    @pytest.mark.parametrize(
        ("name", "options", "message"),
        [
            (NoObfuscation, {}, "None can be tuned by nothing"),
            ("MRLH", {"parameter": "mu_x"}, "MRLH can be tuned by lambda, got mu_x"),
            ("MRLH", {"fixed": {"mu": 1}}, "no parameter 'mu'"),
            ("RR(1)+RR(1)", {}, "only single methods"),
            ("RR", {"floor": 1.5}, "floor must be"),
            ("RR", {"rng": None}, "needs a seed"),
        ],
    )
    def test_refuses(
        self, name: str, options: dict[str, object], message: str, crowd: Traces, odd_city: City
    ) -> None:
        with pytest.raises(InvalidParameter, match=message):
            to_utility(name, odd_city, crowd, **options)
