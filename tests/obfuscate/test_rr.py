"""Keep rate and uniformity over the other regions, at a false-alarm rate of 10^-6 a test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from tracecup.city import City, Grid
from tracecup.obfuscate import RR
from tracecup.score import utility_score
from tracecup.traces import Traces

ALARM = 1e-6


class TestDistribution:
    @pytest.mark.parametrize("replay", [False, True])
    @pytest.mark.parametrize("region", [0, 17, 34])
    def test_keep_rate(self, region: int, replay: bool, odd_city: City) -> None:
        original = Traces.of(np.full((200, 400), region))
        out = RR(2.0, replay=replay).obfuscate(odd_city, original, rng=11 + region).regions
        kept = int((out == region).sum())
        expected = math.exp(2) / (34 + math.exp(2))
        assert stats.binomtest(kept, 80_000, expected).pvalue > ALARM

    @pytest.mark.parametrize("replay", [False, True])
    @pytest.mark.parametrize("region", [0, 17, 34])
    def test_others_are_uniform(self, region: int, replay: bool, odd_city: City) -> None:
        original = Traces.of(np.full((200, 400), region))
        out = RR(1.0, replay=replay).obfuscate(odd_city, original, rng=23 + region).regions
        counts = np.delete(np.bincount(out, minlength=35), region)
        assert stats.chisquare(counts).pvalue > ALARM

    def test_no_budget_is_uniform_over_all(self, odd_city: City) -> None:
        original = Traces.of(np.full((200, 400), 3))
        counts = np.bincount(RR(0.0).obfuscate(odd_city, original, rng=2).regions, minlength=35)
        assert stats.chisquare(counts).pvalue > ALARM

    def test_neighbouring_cells_are_independent(self, odd_city: City) -> None:
        original = Traces.of(np.full((200, 400), 3))
        kept = RR(3.0).obfuscate(odd_city, original, rng=4).regions == 3
        table = np.histogram2d(kept[:-1], kept[1:], bins=2)[0]
        assert stats.chi2_contingency(table).pvalue > ALARM


class TestKeepProbability:
    def test_formula(self) -> None:
        p = RR(8.0).keep_probability(1024)
        assert p == pytest.approx(math.exp(8) / (1023 + math.exp(8)), rel=1e-14)

    def test_huge_budget_does_not_overflow(self, odd_city: City) -> None:
        original = Traces.of([[1, 2, 3]])
        for replay in (False, True):
            out = RR(1e6, replay=replay).obfuscate(odd_city, original, rng=1)
            assert out.regions.tolist() == [1, 2, 3]

    def test_a_city_of_one_region(self) -> None:
        city = City(Grid.from_metres(1, 1, width_m=300, height_m=300))
        for replay in (False, True):
            out = RR(0.0, replay=replay).obfuscate(city, Traces.of([[0, 0]]), rng=1)
            assert out.regions.tolist() == [0, 0]


class TestCoupling:
    def test_larger_budget_never_lowers_utility(self, crowd: Traces, odd_city: City) -> None:
        values = [
            utility_score(odd_city, crowd, RR(eps).obfuscate(odd_city, crowd, rng=3)).value
            for eps in np.linspace(0, 10, 21)
        ]
        assert np.all(np.diff(values) >= 0)
        assert values[-1] > values[0]
