"""Settling people in the city."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tracecup.datasets.inhabitants import DESK, HOME, VISITOR, choose_by_gravity, settle
from tracecup.datasets.townplan import make_townplan
from tracecup.errors import InvalidParameter


@pytest.fixture(scope="module")
def plan():
    return make_townplan(rng=1)


class TestSettle:
    def test_same_seed_same_people(self, plan):
        first, second = settle(plan, 50, rng=4), settle(plan, 50, rng=4)
        for field in dataclasses.fields(first):
            assert np.array_equal(getattr(first, field.name), getattr(second, field.name))

    def test_nobody_lives_or_works_on_water(self, plan):
        people = settle(plan, 2000, rng=4)
        assert not plan.water[people.home].any()
        assert not plan.water[people.work].any()

    def test_those_without_work_are_at_home(self, plan):
        people = settle(plan, 2000, rng=4)
        free = np.isin(people.occupation, (HOME, VISITOR))
        assert np.array_equal(people.home[free], people.work[free])

    def test_homes_follow_the_density(self, plan):
        """Chi-square over ten groups of regions; false alarm 1e-6 (critical value 44.8)."""
        people = settle(plan, 20_000, rng=5)
        home = people.home[people.occupation != VISITOR]
        order = np.argsort(plan.homes)
        group = np.empty(1024, dtype=int)
        group[order] = np.minimum((np.cumsum(plan.homes[order]) * 10).astype(int), 9)
        expected = np.bincount(group, plan.homes, 10) * len(home)
        found = np.bincount(group[home], minlength=10)
        assert ((found - expected) ** 2 / expected).sum() < 44.8

    def test_ranges_are_heavy_tailed(self, plan):
        spread = settle(plan, 5000, rng=4).range_km
        assert np.quantile(spread, 0.95) / np.median(spread) > 5

    def test_shares(self, plan):
        assert set(settle(plan, 30, shares=(1, 0, 0, 0, 0), rng=1).occupation) == {DESK}

    @pytest.mark.parametrize("shares", [(1, 0), (0.5, 0.1, 0.1, 0.1, 0.1), (2, -1, 0, 0, 0)])
    def test_wrong_shares(self, plan, shares):
        with pytest.raises(InvalidParameter, match="shares"):
            settle(plan, 3, shares=shares)

    def test_nobody(self, plan):
        with pytest.raises(InvalidParameter):
            settle(plan, 0)


class TestChooseByGravity:
    def test_agrees_with_the_formula(self, plan):
        grid, random = plan.city.grid, np.random.default_rng(0)
        home, scale, chance = random.integers(0, 1024, 20), random.uniform(0.3, 5, 20), None
        chance = random.random(20)
        chosen = np.empty(20, dtype=np.int64)
        choose_by_gravity(home, scale, chance, plan.jobs, grid.x, grid.y, grid.offset_km, chosen)
        for u in range(20):
            weight = plan.jobs * np.exp(-grid.distances[home[u]] / scale[u])
            share = np.cumsum(weight) / weight.sum()
            assert chosen[u] == np.searchsorted(share, chance[u], side="right")
