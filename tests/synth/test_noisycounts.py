"""Weights of a user, the law of the noise, and what no test for membership may exceed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from tracecup.city import Clock
from tracecup.synth import Training
from tracecup.synth.noisycounts import (
    SHARES,
    NoisyCounts,
    Weighted,
    _unseen,
    noisy_counts,
    on_simplex,
    weighted_counts,
)
from tracecup.traces import Traces

N, SLOTS = 4, 3


def people(users: int = 6, seed: int = 3) -> Traces:
    """Some users of four places, two days of three slots with gaps; the last lives elsewhere."""
    gen = np.random.default_rng(seed)
    regions = gen.integers(2, size=(users, 2 * SLOTS))
    regions[0, 4] = -1
    regions[-1] = 3
    return Traces.of(regions, Clock.regular(2, SLOTS))


def exact(traces: Traces) -> Weighted:
    return weighted_counts(Training.of_traces(traces, N))


def dense(counts: Weighted) -> list[np.ndarray]:
    """All tables as plain arrays."""
    steps = np.zeros(counts.cells)
    steps[counts.key] = counts.steps
    return [counts.first, counts.places, counts.stays.ravel(), steps]


class TestWeightedCounts:
    def test_equal_a_slow_count(self) -> None:
        traces = people()
        first, places = np.zeros(N), np.zeros(N)
        stays, steps = np.zeros((SLOTS, 2)), np.zeros((SLOTS, N, N))
        for row in traces.regions:
            days = row.reshape(2, SLOTS)
            pairs = [
                (t, days[d, t - 1], days[d, t])
                for d in range(2)
                for t in range(1, SLOTS)
                if days[d, t - 1] >= 0 and days[d, t] >= 0
            ]
            opened = [x for x in days[:, 0] if x >= 0]
            for x in opened:
                first[x] += 1 / len(opened)
            for x in row[row >= 0]:
                places[x] += 1 / (row >= 0).sum()
            for t, i, j in pairs:
                stays[t, int(i != j)] += 1 / len(pairs)
                steps[t, i, j] += 1 / len(pairs)
        found = dense(exact(traces))
        for table, wanted in zip(found, (first, places, stays, steps), strict=True):
            assert np.allclose(table, wanted.ravel())

    @pytest.mark.parametrize("user", range(6))
    def test_one_user_less_changes_every_table_by_at_most_one(self, user: int) -> None:
        everybody = people()
        others = everybody.take_users([u for u in range(6) if u != user])
        for with_her, without in zip(dense(exact(everybody)), dense(exact(others)), strict=True):
            assert np.abs(with_her - without).sum() <= 1 + 1e-12


class TestNoisyCounts:
    def test_sparse_noise_has_the_law_of_dense_noise(self) -> None:
        # Kolmogorov-Smirnov on the kept weights and binomial on their number: one seed in 10^4
        # fails. The dense twin draws every cell.
        counts, eps, runs = exact(people()), 2.0, 400
        gen = np.random.default_rng(8)
        sparse_kept, dense_kept = [], []
        for _ in range(runs):
            found = noisy_counts(counts, eps, gen)
            sparse_kept.append(found.steps)
            noisy = dense(counts)[3] + gen.laplace(0, 1 / (eps * SHARES["steps"]), counts.cells)
            dense_kept.append(noisy[noisy > found.threshold])
        a, b = np.concatenate(sparse_kept), np.concatenate(dense_kept)
        assert stats.ks_2samp(a, b).pvalue > 1e-4
        assert abs(len(a) - len(b)) < 4 * math.sqrt(len(a) + len(b))

    def test_unseen_are_free_and_all_alike(self) -> None:
        seen = np.array([0, 3, 4, 9])
        found = [_unseen(seen, 10, 2, np.random.default_rng(s)) for s in range(3000)]
        counts = np.bincount(np.concatenate(found), minlength=10)
        assert (counts[seen] == 0).all()
        free = np.setdiff1d(np.arange(10), seen)
        assert stats.chisquare(counts[free]).pvalue > 1e-4
        assert all(len(set(pair)) == 2 for pair in found)

    def test_shares_make_the_whole_budget(self) -> None:
        assert sum(SHARES.values()) == pytest.approx(1.0)


class TestOnSimplex:
    def test_is_the_nearest_point(self) -> None:
        gen = np.random.default_rng(2)
        for _ in range(50):
            noisy = gen.normal(0.5, 1, 7)
            if noisy.sum() <= 0:
                continue
            shares = on_simplex(noisy)
            assert shares.min() >= 0
            assert shares.sum() == pytest.approx(1.0)
            # Lowered alike where positive: differences are kept.
            kept = shares > 0
            lowered = noisy[kept] - shares[kept] * noisy.sum()
            assert np.ptp(lowered) < 1e-9
            assert (noisy[~kept] <= lowered.mean() + 1e-9).all()

    def test_uniform_without_a_positive_total(self) -> None:
        assert on_simplex(np.array([-1.0, 0.5])).tolist() == [0.5, 0.5]


def log_below(x: float) -> float:
    """Logarithm of the distribution function of the standard Laplace law."""
    return math.log(0.5) + x if x < 0 else math.log1p(-0.5 * math.exp(-x))


def log_ratio(found: NoisyCounts, member: Weighted, other: Weighted, eps: float) -> float:
    """Log-likelihood of noisy tables with the target less that without her: the best test."""
    total = 0.0
    tables = (found.first, found.places, found.stays.ravel())
    for name, noisy, a, b in zip(SHARES, tables, dense(member), dense(other), strict=False):
        scale = 1 / (eps * SHARES[name])
        total += float((np.abs(noisy - b) - np.abs(noisy - a)).sum()) / scale
    a, b = dense(member)[3], dense(other)[3]
    scale = 1 / (eps * SHARES["steps"])
    kept = dict(zip(found.key.tolist(), found.steps.tolist(), strict=True))
    for cell in np.flatnonzero(a != b).tolist():
        if cell in kept:
            total += (abs(kept[cell] - b[cell]) - abs(kept[cell] - a[cell])) / scale
        else:
            total += log_below((found.threshold - a[cell]) / scale)
            total -= log_below((found.threshold - b[cell]) / scale)
    return total


RUNS = 4000
# Clopper-Pearson at 99.9 %: a right mechanism fails a comparison for one seed in 500 at most; the
# seed is fixed.
SURE = 0.001


def advantage_bounds(eps: float, used: float) -> tuple[float, float]:
    """(lower confidence bound of TPR - e^eps FPR, the same of the advantage) of the best test
    with threshold 0, against the mechanism with budget `used`.
    """
    everybody = people()
    member, other = exact(everybody), exact(everybody.take_users(range(5)))
    gen = np.random.default_rng(11)
    hits = sum(log_ratio(noisy_counts(member, used, gen), member, other, used) > 0
               for _ in range(RUNS))  # fmt: skip
    false = sum(log_ratio(noisy_counts(other, used, gen), member, other, used) > 0
                for _ in range(RUNS))  # fmt: skip
    tpr = stats.binomtest(hits, RUNS).proportion_ci(1 - 2 * SURE).low
    fpr = stats.binomtest(false, RUNS).proportion_ci(1 - 2 * SURE).high
    return tpr - math.exp(eps) * fpr, tpr - fpr


class TestGuarantee:
    @pytest.mark.parametrize("eps", [0.5, 1.0])
    def test_the_best_membership_test_stays_below_the_bound(self, eps: float) -> None:
        excess, advantage = advantage_bounds(eps, used=eps)
        assert excess <= 0
        assert advantage <= math.tanh(eps / 2)

    def test_a_budget_spent_five_times_would_be_found_out(self) -> None:
        excess, advantage = advantage_bounds(1.0, used=5.0)
        assert excess > 0
        assert advantage > math.tanh(1.0 / 2)
