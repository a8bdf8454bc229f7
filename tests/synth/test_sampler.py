from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from tracecup.engine import threads
from tracecup.records import Timetable
from tracecup.streams import stream_key
from tracecup.synth import make_tensors
from tracecup.synth.features import widened
from tracecup.synth.sampler import Posterior, Sampler, State, draw_hyper, scatter
from tracecup.synth.tensors import Tensors


def sweeps(tensors, posterior, count, workers=2, **options):
    state = State.initial(tensors, posterior.z, np.random.default_rng(1))
    sampler = Sampler(tensors, posterior, stream_key(2), **options)
    with threads(workers) as pool:
        for _ in range(count):
            sampler.sweep(state, pool)
    return state


def same(first, second):
    return all(
        np.array_equal(getattr(first, name), getattr(second, name))
        for name in ("A", "B", "CD", "mean", "precision")
    )


def low_rank_tensors(n=40, locations=12, slots=6, z=3):
    """Whole-number tensors that factors explain without any error."""
    random = np.random.default_rng(8)
    A, B = random.integers(0, 2, (n, z)), random.integers(0, 3, (locations, z))
    CD = random.integers(0, 3, (locations + slots, z))
    full = np.einsum("uf,if,kf->uik", A, B, CD)
    offsets, transitions, origin, context, value = [0], [], [], [], []
    for u in range(n):
        for low, high in ((0, locations), (locations, locations + slots)):
            i, k = np.nonzero(full[u, :, low:high])
            if low == 0:
                transitions.append(len(i))
            origin += i.tolist()
            context += (k + low).tolist()
            value += full[u, i, k + low].tolist()
        offsets.append(len(origin))
    tensors = Tensors(
        np.array(offsets),
        np.array(transitions, dtype=np.int32),
        np.array(origin, dtype=np.uint16),
        np.array(context, dtype=np.uint16),
        np.array(value, dtype=np.uint8),
        locations,
        Timetable(0, 60, slots, slots),
    )
    return tensors, full


class TestSampler:
    def test_thread_count_does_not_matter(self, town):
        tensors = make_tensors(town, rng=1)
        posterior = Posterior(z=3, rho=20)
        assert same(sweeps(tensors, posterior, 3, 1), sweeps(tensors, posterior, 3, 3))

    def test_zeros_made_again_are_those_that_were_stored(self, town):
        tensors = make_tensors(town, rng=1)
        posterior = Posterior(z=3, rho=20)
        assert same(sweeps(tensors, posterior, 2), sweeps(tensors, posterior, 2, stored_bytes=0))

    def test_other_key_other_result(self, town):
        tensors = make_tensors(town, rng=1)
        posterior = Posterior(z=3, rho=20)
        first = sweeps(tensors, posterior, 1)
        second = State.initial(tensors, 3, np.random.default_rng(1))
        Sampler(tensors, posterior, stream_key(3)).sweep(second)
        assert not np.array_equal(first.A, second.A)

    def test_expected_zeros_are_exact_when_every_zero_is_observed(self, town):
        tensors = make_tensors(town, rng=1)
        sampled = sweeps(tensors, Posterior(z=3, rho=10**4), 1)
        expected = sweeps(tensors, Posterior(z=3, rho=10**4, zeros="expected"), 1)
        for name in ("A", "B", "CD"):
            assert np.allclose(getattr(sampled, name), getattr(expected, name), rtol=1e-7)

    def test_expected_zeros_are_another_posterior_otherwise(self, town):
        tensors = make_tensors(town, rng=1)
        sampled = sweeps(tensors, Posterior(z=3, rho=5), 1)
        expected = sweeps(tensors, Posterior(z=3, rho=5, zeros="expected"), 1)
        assert not np.allclose(sampled.A, expected.A, rtol=1e-3)

    @pytest.mark.parametrize("alpha", [400.0, 10_000.0])
    def test_reconstruction_error_falls_to_the_noise(self, alpha):
        tensors, full = low_rank_tensors()
        state = sweeps(tensors, Posterior(z=4, alpha=alpha, rho=10**4), 60)
        found = np.einsum("uf,if,kf->uik", state.A, state.B, state.CD)
        error = np.sqrt(((found - full) ** 2).mean())
        # A draw is closer to the truth than one observation is, but not closer by much.
        assert 0.1 / np.sqrt(alpha) < error < 1 / np.sqrt(alpha)

    def test_memory_does_not_grow_with_the_zeros(self, town):
        tensors = make_tensors(town, rng=1)
        peaks = []
        for rho in (10, 10_000):
            tracemalloc.start()
            Sampler(tensors, Posterior(z=3, rho=rho), stream_key(1), stored_bytes=0)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert peaks[1] < peaks[0] + 10_000


class TestDrawHyper:
    @pytest.mark.parametrize("centred", [False, True])
    def test_moments_are_those_of_the_normal_wishart(self, centred):
        random = np.random.default_rng(5)
        q, z, draws = 30, 3, 4000
        X = random.normal(0.5, 0.3, (q, z))
        mean = X.mean(axis=0)
        deviations = X - mean if centred else X
        inverse = np.eye(z) + deviations.T @ deviations + 2 * q / (2 + q) * np.outer(mean, mean)
        found = [draw_hyper(widened(X), z, centred, random) for _ in range(draws)]
        precision = np.array([Lambda for _, Lambda in found])
        expected = (z + q) * np.linalg.inv(inverse)
        error = precision.std(axis=0) / np.sqrt(draws)
        # Nine numbers within 4.5 standard errors: false alarm below 1e-4.
        assert (np.abs(precision.mean(axis=0) - expected) < 4.5 * error).all()
        means = np.array([mu for mu, _ in found])
        error = means.std(axis=0) / np.sqrt(draws)
        assert (np.abs(means.mean(axis=0) - q * mean / (2 + q)) < 4.5 * error).all()

    def test_mean_varies_with_the_precision(self):
        random = np.random.default_rng(6)
        X = random.normal(0.5, 0.3, (30, 3))
        found = [draw_hyper(widened(X), 3, False, random) for _ in range(4000)]
        # z = (beta0 + q) (mu - m)^T Lambda (mu - m) is chi-square with three degrees of freedom.
        centre = 30 * X.mean(axis=0) / 32
        size = [32 * (mu - centre) @ Lambda @ (mu - centre) for mu, Lambda in found]
        assert np.mean(size) == pytest.approx(3, abs=4.5 * np.sqrt(6 / 4000))


class TestScatter:
    def test_lower_triangle_of_the_gram_matrix(self):
        X = np.random.default_rng(7).normal(size=(100, 8))
        assert np.allclose(np.tril(scatter(X)), np.tril(X.T @ X), rtol=1e-12)
