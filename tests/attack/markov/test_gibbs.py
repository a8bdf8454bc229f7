from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product

import numpy as np
import pytest

from tracecup.attack import Case
from tracecup.attack.markov import user_chains
from tracecup.attack.markov.gibbs import imputed_chains, thinned
from tracecup.traces import Traces


class TestThinned:
    def test_keeps_about_the_wanted_share(self) -> None:
        traces = Traces.of(np.ones((20, 50), dtype=np.int32))
        kept = thinned(traces, 0.3, rng=1).regions >= 0
        # 1000 events: outside 0.25..0.35 with probability below 1e-3
        assert 0.25 < kept.mean() < 0.35

    def test_all_or_nothing(self) -> None:
        traces = Traces.of([[1, 2, 3]])
        assert thinned(traces, 1.0) is traces
        assert (thinned(traces, 0.0, rng=1).regions == -1).all()


class TestImputedChains:
    @pytest.mark.parametrize("estimator", ["lpm", "shrunk"])
    def test_without_gaps_as_counted(self, make_case: Callable[..., Case], estimator: str) -> None:
        reference = make_case(1, gaps=0.0).reference
        wanted = user_chains(reference, 35, estimator, 5.0).matrix(2)
        assert np.array_equal(imputed_chains(reference, 35, estimator, 5.0).matrix(2), wanted)

    def test_rows_sum_to_one(self, make_case: Callable[..., Case]) -> None:
        chains = imputed_chains(make_case(2, gaps=0.3).reference, 35, rng=1)
        assert np.allclose([chains.matrix(u).sum(axis=1) for u in range(6)], 1.0, 1e-9)

    def test_same_seed_same_chains(self, make_case: Callable[..., Case]) -> None:
        reference = make_case(3, gaps=0.3).reference
        one, two = (imputed_chains(reference, 35, rng=8).matrix(1) for _ in range(2))
        assert np.array_equal(one, two)

    def test_samples_the_posterior_of_the_gaps(self) -> None:
        """Against the sum over all fillings of two gaps with the matrix integrated out."""
        row, mass = [0, -1, 1, 1, -1, 0, 0], 1.5
        reference = Traces.of([row])
        background = user_chains(reference, 3, "shrunk", mass)
        crowd = mass * (background.left @ background.right.T + background.extra.toarray())
        expected, norm = np.zeros((3, 3)), 0.0
        for x, y in product(range(3), repeat=2):
            filled = [0, x, 1, 1, y, 0, 0]
            counts, weight = np.zeros((3, 3)), 1.0
            for a, b in pairwise(filled):
                weight *= (counts[a, b] + crowd[a, b]) / (counts[a].sum() + mass)
                counts[a, b] += 1
            expected += weight * counts
            norm += weight
        found = imputed_chains(reference, 3, "shrunk", mass, rounds=40_000, rng=1).moves
        dense = np.zeros((3, 3))
        dense[found.left[found.row_of_move], found.to] = found.count
        # 30,000 rounds of a chain that mixes in a few: errors beyond 0.02 are six deviations
        assert np.allclose(dense, expected / norm, 0, 0.02)
