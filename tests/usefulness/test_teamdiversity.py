from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy import stats

from tracecup.errors import InvalidTraces
from tracecup.usefulness import Comparison, DayTraces, diversity
from tracecup.usefulness.teamdiversity import DIFF_TV, SAME_TV


def team(seed: int, users: int = 12, days: int = 3) -> DayTraces:
    locations = np.random.default_rng(seed).integers(0, 5, (users, days, 4))
    return DayTraces.of(locations, n_locations=5)


def share(traces: DayTraces, user: int) -> np.ndarray:
    visits = traces.locations[user].ravel().tolist()
    return np.array([visits.count(i) / len(visits) for i in range(5)])


def comparison(same: list[float], diff: list[float]) -> Comparison:
    return Comparison(SAME_TV, DIFF_TV, np.array(same), np.array(diff))


class TestDiversity:
    def test_agrees_with_the_slow_loop_on_both_scales(self):
        one, two = team(0), team(1)
        drawn = random.Random(1).sample(range(12), 8)
        found = diversity(one, two, pairs=4)
        for k, (u, v) in enumerate(zip(drawn[:4], drawn[4:], strict=True)):
            a, b = share(one, u), share(two, u)
            assert found.text.same[k] == pytest.approx(0.5 * np.abs(a - b).sum())
            assert found.text.diff[k] == pytest.approx(0.5 * np.abs(a - share(two, v)).sum())
            assert found.program.same[k] == pytest.approx(((a - b) ** 2).sum())
            assert found.program.diff[k] == pytest.approx(((a - share(one, v)) ** 2).sum())

    def test_a_copied_team_has_no_same_distance(self):
        found = diversity(team(2), team(2))
        assert found.text.same_mean == 0 < found.text.diff_mean
        assert found.program.same_mean == 0 < found.program.diff_mean

    def test_half_of_the_users_by_default(self):
        assert len(diversity(team(0), team(1)).text.same) == 6

    def test_unobserved_events_are_skipped(self):
        gaps = DayTraces.of([[[0, -1]], [[1, 1]]], n_locations=2)
        full = DayTraces.of([[[0, 0]], [[1, 1]]], n_locations=2)
        assert diversity(gaps, full).text.same.tolist() == [0.0]

    def test_teams_must_fit(self):
        with pytest.raises(InvalidTraces, match="12 users"):
            diversity(team(0), team(0, users=10))
        with pytest.raises(InvalidTraces, match=r"make 1\.\.6 pairs, got 7"):
            diversity(team(0), team(1), pairs=7)

    def test_user_without_any_location_is_named(self):
        nowhere = DayTraces.of([[[-1]], [[-1]]], n_locations=2)
        with pytest.raises(InvalidTraces, match="has no observed location"):
            diversity(nowhere, nowhere)


class TestComparison:
    def test_t_test_agrees_with_scipy(self):
        rng = np.random.default_rng(3)
        same, diff = rng.random(20), rng.random(20)
        expected = stats.ttest_rel(same, diff)
        found = comparison(same.tolist(), diff.tolist())
        assert found.t == pytest.approx(expected.statistic)
        assert found.p_value == pytest.approx(expected.pvalue)

    def test_bars_are_a_tenth_of_the_population_deviation(self):
        found = comparison([0.0, 1.0], [0.5, 0.5])
        assert found.same_bar == pytest.approx(0.05)
        assert found.diff_bar == 0

    def test_constant_differences(self):
        assert comparison([0.5, 0.5], [0.5, 0.5]).p_value == 1
        assert comparison([0.0, 0.0], [0.5, 0.5]).t == -math.inf
        assert comparison([0.0, 0.0], [0.5, 0.5]).p_value == 0

    def test_prints_both_means(self):
        assert str(comparison([0.2, 0.4], [0.5, 0.9])).startswith(
            "Same-TV 0.3000 ± 0.0100, Diff-TV"
        )
