"""Draws, jumps, exploration and preferential return."""

from __future__ import annotations

import numpy as np
import pytest

from tracecup.datasets.destinations import (
    GAMMA,
    RHO,
    Ground,
    Memory,
    choose,
    distance_km,
    draw,
    errand_purpose,
    explore,
    geometric,
    lognormal,
    normal,
    remember,
)

SIZE = 20


def stream(n: int = 1) -> np.ndarray:
    return np.array([n, 99, 0], dtype=np.uint64)


def ground(attraction=None) -> Ground:
    if attraction is None:
        attraction = np.full((6, SIZE * SIZE), 1 / SIZE**2)
    station_of = np.zeros(SIZE * SIZE, dtype=np.int32)
    return Ground(attraction, np.cumsum(attraction, axis=1), station_of, SIZE, SIZE, 0.34, 0.35)


def memory(size: int = 50) -> Memory:
    return Memory(
        np.zeros(size, dtype=np.int64),
        np.zeros(size, dtype=np.int64),
        np.zeros(size),
        np.zeros(1, dtype=np.int64),
    )


class TestDraws:
    def test_uniform_numbers_follow_the_counter(self):
        one = stream()
        first = [draw(one) for _ in range(5)]
        assert one[2] == 5
        assert len(set(first)) == 5
        assert all(0 <= value < 1 for value in first)

    def test_normal_moments(self):
        """20,000 draws; tolerances are five standard errors (false alarm 1e-6)."""
        one = stream()
        values = np.array([normal(one) for _ in range(20_000)])
        assert abs(values.mean()) < 5 / np.sqrt(20_000)
        assert abs(values.var() - 1) < 5 * np.sqrt(2 / 20_000)

    def test_lognormal_median(self):
        one = stream()
        values = np.array([lognormal(one, 30.0, 0.6) for _ in range(4001)])
        # Log median has standard error 0.6 * 1.2533 / sqrt(4001); five of them.
        assert abs(np.log(np.median(values) / 30)) < 0.06

    def test_geometric_mean(self):
        """Variance mean (1 + mean) = 6; five standard errors of 20,000 draws."""
        one = stream()
        values = np.array([geometric(one, 2.0) for _ in range(20_000)])
        assert abs(values.mean() - 2) < 5 * np.sqrt(6 / 20_000)
        assert values.min() == 0

    def test_geometric_of_nothing(self):
        assert geometric(stream(), 0.0) == 0


class TestExplore:
    def test_jump_lengths_are_heavy_tailed(self):
        """From the middle of a plain: most jumps are short, some cross the city."""
        one, plain = stream(), ground()
        here = SIZE * SIZE // 2 + SIZE // 2
        far = np.array(
            [distance_km(plain, here, explore(one, plain, here, 0.5, 0)) for _ in range(3000)]
        )
        assert np.median(far) < 1.0
        assert np.quantile(far, 0.99) > 2.5

    def test_attraction_draws(self):
        attraction = np.full((6, SIZE * SIZE), 1e-6)
        attraction[:, 200] = 1.0
        attraction /= attraction.sum(axis=1, keepdims=True)
        one, peak = stream(), ground(attraction)
        hits = sum(explore(one, peak, 203, 1.0, 2) == 200 for _ in range(200))
        assert hits > 190

    def test_never_into_the_water(self):
        attraction = np.zeros((6, SIZE * SIZE))
        attraction[:, :200] = 1 / 200
        one, coast = stream(), ground(attraction)
        assert max(explore(one, coast, 195, 2.0, 1) for _ in range(500)) < 200


class TestRemember:
    def test_counts_visits_by_purpose(self):
        known = memory()
        for region, purpose in ((5, 0), (5, 1), (5, 0)):
            remember(known, region, purpose)
        assert known.size[0] == 2
        assert known.visits[:2].tolist() == [2.0, 1.0]

    def test_full_memory_takes_nothing_new(self):
        known = memory(1)
        remember(known, 5, 0)
        remember(known, 6, 0)
        assert (known.size[0], known.region[0]) == (1, 5)


class TestChoose:
    def test_first_choice_explores(self):
        known = memory()
        region = choose(stream(), ground(), known, 210, 1.0, 0)
        assert (known.size[0], known.region[0]) == (1, region)

    def test_share_of_exploration(self):
        """With S known places a new one comes with RHO S^-GAMMA; five standard errors."""
        plain, explored, trials, size = ground(), 0, 2000, 8
        for k in range(trials):
            known = memory()
            for place in range(size):
                remember(known, 400 - size + place, 0)
            before = known.visits.sum()
            region = choose(stream(k), plain, known, 0, 1.0, 0)
            explored += region < 400 - size
            assert known.visits.sum() == before + 1
        expected = RHO * size**-GAMMA
        assert abs(explored / trials - expected) < 5 * np.sqrt(expected / trials)

    def test_return_prefers_frequent_places(self):
        """Two places side by side, visited 9 times and once: nine of ten returns to the first."""
        returns = []
        for k in range(1500):
            known = memory()
            for _ in range(9):
                remember(known, 210, 0)
            remember(known, 230, 0)
            region = choose(stream(k), ground(), known, 220, 50.0, 0)
            if known.size[0] == 2 and region in (210, 230):
                returns.append(region == 210)
        assert np.mean(returns) == pytest.approx(0.9, abs=5 * np.sqrt(0.09 / len(returns)))

    def test_other_purposes_are_no_return(self):
        known = memory()
        remember(known, 210, 3)
        choose(stream(), ground(), known, 220, 1.0, 0)
        assert known.purpose[:2].tolist() == [3, 0]


class TestErrandPurpose:
    @pytest.mark.parametrize(("minute", "purpose"), [(720.0, 0), (600.0, 1), (1260.0, 2)])
    def test_most_frequent_purpose_by_hour(self, minute, purpose):
        one = stream()
        found = [errand_purpose(one, minute) for _ in range(500)]
        assert np.bincount(found, minlength=6).argmax() == purpose

    def test_all_purposes_but_business_or_care_are_rare(self):
        one = stream()
        found = np.bincount([errand_purpose(one, 600.0) for _ in range(4000)], minlength=6)
        assert found[4] == 0
        assert 0 < found[5] < 0.1 * 4000
