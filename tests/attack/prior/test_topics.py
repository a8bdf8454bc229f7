from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tracecup.attack.prior import fit_topics
from tracecup.attack.prior.topics import TOPICS, _first_topics

COUNTS = np.random.default_rng(5).poisson(0.7, size=(9, 14)).astype(np.float32)


def _log_likelihood(counts: NDArray[np.float32], steps: int) -> float:
    topics = fit_topics(counts, steps)
    chance = topics.theta @ topics.phi.T
    return float((counts * np.log(np.maximum(chance, 1e-300))).sum())


class TestFitTopics:
    def test_equals_plain_em(self) -> None:
        start = _first_topics(csr_array(COUNTS))
        theta, phi = start.theta.copy(), start.phi.copy()
        for _ in range(7):
            new_theta, new_phi = np.zeros_like(theta), np.zeros_like(phi)
            for u in range(9):
                for x in range(14):
                    if COUNTS[u, x]:
                        share = theta[u] * phi[x]
                        share *= COUNTS[u, x] / share.sum()
                        new_theta[u] += share
                        new_phi[x] += share
            new_theta += 0.02
            theta = new_theta / new_theta.sum(axis=1, keepdims=True)
            phi = new_phi / new_phi.sum(axis=0)
        found = fit_topics(COUNTS, 7)
        assert np.allclose(found.theta, theta, rtol=1e-9)
        assert np.allclose(found.phi, phi, rtol=1e-9)

    def test_more_steps_fit_better(self) -> None:
        assert _log_likelihood(COUNTS, 1) < _log_likelihood(COUNTS, 5) < _log_likelihood(COUNTS, 50)

    def test_going_on_is_the_same_as_not_stopping(self) -> None:
        once, twice = fit_topics(COUNTS, 12), fit_topics(COUNTS, 5, fit_topics(COUNTS, 7))
        assert np.array_equal(once.theta, twice.theta)
        assert np.array_equal(once.phi, twice.phi)

    def test_a_user_without_visits_gets_even_topics(self) -> None:
        topics = fit_topics(np.vstack([COUNTS, np.zeros(14, dtype=np.float32)]))
        assert np.allclose(topics.theta[-1], 1 / TOPICS)
        assert np.allclose(topics.theta.sum(axis=1), 1)
        assert np.allclose(topics.phi.sum(axis=0), 1)

    def test_threads_change_no_bit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        found = []
        for threads in ("1", "2", "5"):
            monkeypatch.setenv("TRACECUP_THREADS", threads)
            found.append(fit_topics(COUNTS).theta.tobytes())
        assert found[0] == found[1] == found[2]
