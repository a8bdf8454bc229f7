"""k-means: nearest centres, re-seeding, and independence of the order of additions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.errors import InvalidParameter
from tracecup.obfuscate.lloyd import _assign, _first_rows, cluster_sums, kmeans


def some_counts(seed: int, n: int, d: int) -> np.ndarray:
    return np.random.default_rng(seed).poisson(1.5, size=(n, d)).astype(np.float32)


def slow_distances(counts: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    rows = counts.astype(np.float64)
    out = np.full((len(rows), k), np.inf)
    for c in range(k):
        if np.any(labels == c):
            out[:, c] = np.square(rows - rows[labels == c].mean(axis=0)).sum(axis=1)
    return out


class TestKmeans:
    @given(st.integers(0, 1000), st.integers(1, 30), st.integers(1, 6), st.integers(1, 8))
    def test_every_row_ends_at_its_nearest_centre(self, seed: int, n: int, d: int, k: int) -> None:
        counts = some_counts(seed, n, d)
        labels = kmeans(counts, k, rng=seed)
        apart = slow_distances(counts, labels, k)
        assert np.all(apart[np.arange(n), labels] <= apart.min(axis=1) + 1e-9)

    @given(st.integers(0, 1000), st.integers(1, 8))
    def test_no_cluster_is_empty_while_rows_differ(self, seed: int, k: int) -> None:
        counts = some_counts(seed, 25, 6)
        filled = len(np.unique(kmeans(counts, k, rng=seed)))
        assert filled == min(k, len(np.unique(counts, axis=0)))

    def test_finds_separated_groups(self) -> None:
        centres = np.array([[0, 0, 90], [90, 0, 0], [0, 90, 0]])
        group = np.repeat([0, 1, 2], 20)
        counts = (centres[group] + some_counts(1, 60, 3)).astype(np.float32)
        labels = kmeans(counts, 3, rng=2)
        assert all(len(set(labels[group == g])) == 1 for g in range(3))
        assert len(set(labels)) == 3

    def test_order_of_regions_does_not_matter(self) -> None:
        # Exact products: another order of additions gives the same bits, hence the same labels.
        counts = some_counts(3, 200, 64)
        order = np.random.default_rng(4).permutation(64)
        assert np.array_equal(kmeans(counts, 12, rng=5), kmeans(counts[:, order], 12, rng=5))

    def test_equal_rows_share_a_cluster(self) -> None:
        labels = kmeans(np.ones((6, 3), dtype=np.float32), 4, rng=1)
        assert len(set(labels)) == 1

    def test_more_clusters_than_rows(self) -> None:
        labels = kmeans(np.eye(3, dtype=np.float32), 10, rng=1)
        assert sorted(labels) == [0, 1, 2]

    @pytest.mark.parametrize(("k", "iterations"), [(0, 1), (1, 0)])
    def test_refuses_nothing_to_do(self, k: int, iterations: int) -> None:
        with pytest.raises(InvalidParameter, match="k-means needs"):
            kmeans(np.ones((2, 2), dtype=np.float32), k, iterations=iterations)


class TestFirstRows:
    def test_never_takes_a_row_twice_while_others_differ(self) -> None:
        counts = some_counts(6, 40, 8)
        norms = np.square(counts.astype(np.float64)).sum(axis=1)
        for seed in range(20):
            rows = _first_rows(counts, norms, 10, np.random.default_rng(seed))
            assert len(np.unique(counts[rows], axis=0)) == 10


class TestAssign:
    def test_empty_cluster_takes_the_farthest_row(self) -> None:
        counts = np.array([[0.0], [1.0], [9.0], [20.0]], dtype=np.float32)
        norms = np.square(counts[:, 0].astype(np.float64))
        sums, sizes = np.array([[0.0], [20.0], [0.0]]), np.array([1, 1, 0])
        assert _assign(counts, norms, sums, sizes).tolist() == [0, 0, 2, 1]

    def test_ties_go_to_the_smallest_label(self) -> None:
        counts = np.array([[0.0], [2.0], [1.0]], dtype=np.float32)
        labels = _assign(counts, np.array([0.0, 4.0, 1.0]), np.array([[0.0], [2.0]]), np.ones(2))
        assert labels.tolist() == [0, 1, 0]


class TestClusterSums:
    def test_adds_rows(self) -> None:
        counts = np.array([[1, 2], [3, 4], [5, 6]], dtype=np.float32)
        sums, sizes = cluster_sums(counts, np.array([1, 0, 1], dtype=np.int32), 3)
        assert sums.tolist() == [[3, 4], [6, 8], [0, 0]]
        assert sizes.tolist() == [1, 2, 0]
