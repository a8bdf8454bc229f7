"""Scores over users and seeds: known intervals in known cases, coverage in a made-up one."""

from __future__ import annotations

import numpy as np
import pytest

from tracecup.errors import InvalidParameter
from tracecup.score import ratio_interval, wilson_interval
from tracecup.study.pooled import Pooled


class TestInterval:
    def test_one_seed_is_the_interval_over_users(self):
        rng = np.random.default_rng(1)
        values, weights = rng.uniform(0.2, 0.8, 40), rng.uniform(1, 5, 40)
        found = Pooled(values[None], weights).interval()
        known = ratio_interval(values * weights, weights)
        assert (found.low, found.high) == pytest.approx((known.low, known.high))
        assert "one seed" in found.method

    def test_by_hand(self):
        # Users' means 0, 1, 0.5 (variance 1/4), seeds' means 2/3, 1/3 (variance 1/18).
        two = Pooled(np.array([[0.0, 1.0, 1.0], [0.0, 1.0, 0.0]]), np.ones(3))
        by_users, by_seeds = 0.25 / 3, (1 / 18) / 2
        variance = by_users + by_seeds
        freedom = variance**2 / (by_users**2 / 2 + by_seeds**2 / 1)
        from scipy import stats

        half = stats.t.ppf(0.975, freedom) * variance**0.5
        found = two.interval()
        assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half))

    def test_seeds_that_differ_widen_it(self):
        rng = np.random.default_rng(2)
        users = rng.uniform(0, 1, 200)
        same = Pooled(np.array([users] * 3), np.ones(200)).interval()
        moved = Pooled(np.array([users - 0.2, users, users + 0.2]), np.ones(200)).interval()
        assert moved.high - moved.low > 2 * (same.high - same.low)

    def test_covers_the_truth(self):
        """Of 400 draws of users and seeds 95 % should cover; below 360 by chance: < 1e-4."""
        rng, hits = np.random.default_rng(3), 0
        for _ in range(400):
            users, seeds = rng.normal(0, 0.1, 60), rng.normal(0, 0.05, 4)
            values = 0.5 + users[None] + seeds[:, None] + rng.normal(0, 0.1, (4, 60))
            found = Pooled(values, np.ones(60)).interval()
            hits += found.low <= 0.5 <= found.high
        assert hits >= 360

    def test_nonsense(self):
        with pytest.raises(InvalidParameter, match="weight for every user"):
            Pooled(np.zeros((2, 3)), np.ones(2))
        with pytest.raises(InvalidParameter, match="confidence"):
            Pooled(np.zeros((2, 3)), np.ones(3)).interval(1.0)


class TestRateInterval:
    @pytest.mark.parametrize("wrong", [0, 1, 7, 19, 20])
    def test_one_seed_is_wilson(self, wrong):
        values = np.array([[1.0] * wrong + [0.0] * (20 - wrong)])
        found, known = Pooled(values, np.ones(20)).rate_interval(), wilson_interval(wrong, 20)
        # Between the ends the sample's own variance divides by n - 1: as if 19 had been asked.
        within = 1e-12 if wrong in (0, 20) else 0.02
        assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=within)

    def test_more_seeds_of_the_same_people_are_not_more_people(self):
        values = np.array([[1.0] * 10 + [0.0] * 10] * 5)
        found = Pooled(values, np.ones(20)).rate_interval()
        assert found.high - found.low > 0.35  # a hundred people would have 0.19


class TestMinus:
    def test_what_is_the_same_falls_out(self):
        rng = np.random.default_rng(4)
        users = rng.uniform(0, 0.8, (3, 50))
        gap = Pooled(users + 0.1, np.ones(50)).minus(Pooled(users, np.ones(50)))
        assert gap.value == pytest.approx(0.1)
        found = gap.interval()
        assert found.high - found.low < 1e-9

    def test_other_users_are_refused(self):
        with pytest.raises(InvalidParameter, match="same users and seeds"):
            Pooled(np.zeros((1, 3)), np.ones(3)).minus(Pooled(np.zeros((1, 4)), np.ones(4)))
