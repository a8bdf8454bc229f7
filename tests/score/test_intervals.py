from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tracecup.errors import InvalidParameter
from tracecup.score import mean_interval, ratio_interval, wilson_interval


class TestWilson:
    def test_hand_computed(self):
        # z = 1.959964, n = 10, p = 0.5: centre 0.5, half width 0.26340
        interval = wilson_interval(5, 10)
        assert interval.low == pytest.approx(0.236593, abs=1e-6)
        assert interval.high == pytest.approx(0.763407, abs=1e-6)

    @pytest.mark.parametrize(("successes", "trials"), [(0, 7), (3, 7), (7, 7), (1, 2000)])
    def test_equals_scipy(self, successes, trials):
        wanted = stats.binomtest(successes, trials).proportion_ci(0.9, method="wilson")
        found = wilson_interval(successes, trials, 0.9)
        assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-12)

    @pytest.mark.parametrize("bad", [(-1, 3), (4, 3), (0, 0)])
    def test_nonsense(self, bad):
        with pytest.raises(InvalidParameter):
            wilson_interval(*bad)

    @pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0, float("nan")])
    def test_confidence(self, confidence):
        with pytest.raises(InvalidParameter, match="confidence"):
            wilson_interval(1, 2, confidence)


class TestMean:
    def test_equals_students_t(self):
        values = np.array([0.2, 0.5, 0.9, 0.4])
        wanted = stats.t.interval(0.95, 3, values.mean(), stats.sem(values))
        found = mean_interval(values, upper=None)
        assert found.low == pytest.approx(max(0, wanted[0]))
        assert found.high == pytest.approx(wanted[1])

    def test_is_cut_to_the_scores_range(self):
        assert mean_interval(np.array([0.0, 1.0])).high == 1.0
        assert mean_interval(np.array([0.0, 1.0])).low == 0.0

    def test_one_user_says_so_instead_of_nan(self):
        interval = mean_interval(np.array([0.5]))
        assert (interval.low, interval.high) == (0.0, 1.0)
        assert "one user" in interval.method
        assert mean_interval(np.array([0.5]), upper=None).high is None


class TestRatio:
    def test_equal_weights_give_the_mean(self):
        values = np.array([0.2, 0.5, 0.9, 0.4])
        doubled = ratio_interval(2 * values, np.full(4, 2.0))
        assert doubled.low == pytest.approx(mean_interval(values).low)

    def test_covers_as_often_as_it_says(self):
        # 400 samples of 200 users; coverage of a 95 % interval is binomial(400, 0.95):
        # fewer than 366 happen with probability 0.001 if the interval is right.
        rng = np.random.default_rng(11)
        covered = 0
        for _ in range(400):
            weights = rng.uniform(1, 10, 200)
            sums = weights * rng.beta(2, 5, 200)
            interval = ratio_interval(sums, weights)
            covered += interval.low <= 2 / 7 <= interval.high
        assert covered >= 366

    def test_no_weight_at_all(self):
        with pytest.raises(InvalidParameter, match="positive sum"):
            ratio_interval(np.zeros(2), np.zeros(2))
