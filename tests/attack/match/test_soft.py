from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from tracecup.attack import assignment_table, log_sinkhorn, soft_links
from tracecup.errors import InvalidParameter, InvalidTraces

seeds = st.integers(0, 2**32)


class TestLogSinkhorn:
    @settings(max_examples=30)
    @given(seeds, st.integers(1, 9), st.sampled_from([0.3, 1.0, 4.0]))
    def test_equals_plain_scaling_in_the_log_domain(self, seed: int, m: int, tau: float) -> None:
        scores = np.random.default_rng(seed).normal(scale=5, size=(m, m))
        slow = scores / tau
        for _ in range(60):
            slow = slow - logsumexp(slow, axis=1, keepdims=True)
            slow = slow - logsumexp(slow, axis=0, keepdims=True)
        assert np.allclose(log_sinkhorn(scores, tau), slow, rtol=0, atol=1e-9)

    @given(seeds)
    def test_constants_per_pseudonym_and_user_do_not_matter(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        scores = random.normal(size=(5, 5))
        shifted = scores + 100 * random.normal(size=(5, 1)) + 100 * random.normal(size=5)
        assert np.allclose(log_sinkhorn(scores), log_sinkhorn(shifted), rtol=0, atol=1e-6)

    def test_huge_scores_do_not_overflow(self) -> None:
        random = np.random.default_rng(1)
        links = log_sinkhorn(random.normal(scale=1e6, size=(20, 20)))
        assert np.isfinite(links).all()
        assert np.allclose(np.exp(links).sum(axis=0), 1)

    @pytest.mark.parametrize(("tau", "sweeps"), [(0.0, 60), (-1.0, 60), (np.inf, 60), (1.0, 0)])
    def test_refuses_what_cannot_be_scaled(self, tau: float, sweeps: int) -> None:
        with pytest.raises(InvalidParameter, match="tau > 0"):
            log_sinkhorn([[0.0]], tau, sweeps)

    def test_refuses_infinite_scores(self) -> None:
        with pytest.raises(InvalidTraces, match="finite"):
            log_sinkhorn([[0.0, -np.inf], [0.0, 0.0]])

    def test_threads_change_no_bit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        scores = np.random.default_rng(2).normal(scale=9, size=(37, 37))
        found = []
        for threads in ("1", "2", "5"):
            monkeypatch.setenv("TRACECUP_THREADS", threads)
            found.append(log_sinkhorn(scores, 2.0).tobytes())
        assert found[0] == found[1] == found[2]


class TestSoftLinks:
    @settings(max_examples=30)
    @given(seeds, st.integers(1, 8))
    def test_rows_and_columns_sum_to_one(self, seed: int, m: int) -> None:
        links = soft_links(np.random.default_rng(seed).normal(size=(m, m)))
        assert np.allclose(links.sum(axis=0), 1, rtol=0, atol=1e-12)
        assert np.allclose(links.sum(axis=1), 1, rtol=0, atol=1e-4)

    @settings(max_examples=20)
    @given(seeds, st.integers(2, 6))
    def test_a_small_tau_is_the_optimal_assignment(self, seed: int, m: int) -> None:
        scores = np.random.default_rng(seed).normal(size=(m, m))
        sums = sorted(scores[range(m), list(p)].sum() for p in permutations(range(m)))
        gap = sums[-1] - sums[-2]
        links = soft_links(scores, tau=gap / 40, sweeps=2000)
        assert links.argmax(axis=1).tolist() == assignment_table(scores).users.tolist()
