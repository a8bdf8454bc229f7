"""Only the first p of the users exchange traces, uniformly."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from tracecup.city import City
from tracecup.obfuscate import Cheat
from tracecup.traces import Traces


class TestCheat:
    @pytest.mark.parametrize("replay", [False, True])
    @pytest.mark.parametrize(
        ("p", "first"), [(0.0, 0), (0.01, 0), (0.3, 18), (0.55, 33), (1.0, 60)]
    )
    def test_only_the_first_users_exchange(
        self, p: float, first: int, replay: bool, crowd: Traces, odd_city: City
    ) -> None:
        out = Cheat(p, replay=replay).obfuscate(odd_city, crowd, rng=1).as_traces().regions
        assert np.array_equal(out[first:], crowd.regions[first:])
        assert sorted(map(tuple, out[:first])) == sorted(map(tuple, crowd.regions[:first]))

    def test_rounding_does_not_lose_a_user(self, odd_city: City) -> None:
        # 0.29 * 100 is 28.999999999999996 in floating point; every user has an own trace.
        number = np.arange(100)
        original = Traces.of(np.stack([number // 35, number % 35], axis=1))
        seen = {
            tuple(Cheat(0.29).obfuscate(odd_city, original, rng=s).as_traces().regions[28])
            for s in range(5)
        }
        assert len(seen) > 1

    def test_uniform_over_permutations(self, toy_city: City) -> None:
        # Chi-squared over the 6 permutations of 3 users; a right shuffle fails once in 10^6.
        gen = np.random.default_rng(1)
        original = Traces.of([[0], [1], [2]])
        orders = list(permutations(range(3)))
        seen = [
            orders.index(tuple(Cheat(1.0).obfuscate(toy_city, original, gen).regions.tolist()))
            for _ in range(3000)
        ]
        assert stats.chisquare(np.bincount(seen, minlength=6)).pvalue > 1e-6

    def test_one_more_user_changes_two_traces_at_most(self, contest_city: City) -> None:
        original = Traces.of(np.arange(100)[:, None])
        for n in (10, 11, 40):
            before, after = (
                Cheat(k / 100).obfuscate(contest_city, original, rng=3).regions for k in (n, n + 1)
            )
            assert np.count_nonzero(before != after) <= 2
