"""k-means on visit counts: k-means++ start, Lloyd's iterations, exact arithmetic.

Counts are whole numbers, so all products are exact in float64 and the clusters do not depend on
the order in which a BLAS library or its threads add.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.errors import InvalidParameter
from tracecup.kernels import kernel
from tracecup.rng import Rng, generator

ITERATIONS = 100
BLOCK = 4096


def kmeans(
    counts: NDArray[np.float32], k: int, rng: Rng = None, iterations: int = ITERATIONS
) -> NDArray[np.int32]:
    """Labels 0..k-1 of the rows of `counts` (n, d), Euclidean; O(iterations n d k).

    Start: k-means++ (a first row at random, each next one with probability proportional to its
    squared distance to the nearest chosen row). Then Lloyd: assign to the nearest centre (ties:
    smallest label), move the centre to the mean, until nothing changes. An empty cluster is
    re-seeded with the row farthest from its centre; it stays empty when every row sits on its
    centre. k is cut to n.

    >>> kmeans(np.float32([[0, 9], [9, 0], [0, 8]]), 2, rng=1).tolist() in ([0, 1, 0], [1, 0, 1])
    True
    """
    n = counts.shape[0]
    if n < 1 or k < 1 or iterations < 1:
        raise InvalidParameter(f"k-means needs rows, k and iterations >= 1, got {n}, {k}")
    k = min(k, n)
    norms = np.einsum("ij,ij->i", counts, counts, dtype=np.float64)
    sums = counts[_first_rows(counts, norms, k, generator(rng))].astype(np.float64)
    sizes = np.ones(k, dtype=np.int64)
    labels = np.full(n, -1, dtype=np.int32)
    for _ in range(iterations):
        before = labels
        labels = _assign(counts, norms, sums, sizes)
        if np.array_equal(labels, before):
            break
        sums, sizes = cluster_sums(counts, labels, k)
    return labels


def cluster_sums(
    counts: NDArray[np.float32], labels: NDArray[np.int32], k: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Sum of the rows of each cluster, (k, d), and the cluster sizes, (k,)."""
    sums = np.zeros((k, counts.shape[1]))
    _add_rows(counts, labels, sums)
    return sums, np.bincount(labels, minlength=k)


def _first_rows(
    counts: NDArray[np.float32],
    norms: NDArray[np.float64],
    k: int,
    gen: np.random.Generator,
) -> NDArray[np.int64]:
    chosen = np.empty(k, dtype=np.int64)
    chosen[0] = gen.integers(len(norms))
    nearest = np.full(len(norms), np.inf)
    for c in range(1, k):
        row = chosen[c - 1]
        apart = norms - 2 * _products(counts, counts[row : row + 1])[:, 0] + norms[row]
        np.minimum(nearest, apart, out=nearest)
        reach = np.cumsum(nearest)
        # Once all rows are chosen or equal to a chosen one the sum is 0: any row will do.
        draw = gen.random() * reach[-1]
        chosen[c] = min(np.searchsorted(reach, draw, side="right"), len(norms) - 1)
    return chosen


def _assign(
    counts: NDArray[np.float32],
    norms: NDArray[np.float64],
    sums: NDArray[np.float64],
    sizes: NDArray[np.int64],
) -> NDArray[np.int32]:
    """Nearest centre of every row: |c|^2 - 2 c.S/n + |S|^2/n^2 with exact c.S and |S|^2."""
    filled = np.maximum(sizes, 1)
    apart = _products(counts, sums)
    apart *= -2 / filled
    apart += np.square(sums).sum(axis=1) / np.square(filled.astype(np.float64))
    apart[:, sizes == 0] = np.inf
    labels: NDArray[np.int32] = apart.argmin(axis=1).astype(np.int32)
    members = np.bincount(labels, minlength=len(sizes))
    empty = np.flatnonzero(members == 0)
    if len(empty):
        own = norms + np.take_along_axis(apart, labels[:, None].astype(np.int64), axis=1)[:, 0]
        _reseed(empty, own, labels, members)
    return labels


def _reseed(
    empty: NDArray[np.int64],
    own: NDArray[np.float64],
    labels: NDArray[np.int32],
    members: NDArray[np.int64],
) -> None:
    """Give each empty cluster the farthest row whose cluster keeps another member."""
    far = iter(np.argsort(-own, kind="stable"))
    for cluster in empty:
        for row in far:
            if own[row] <= 1e-9:
                return
            if members[labels[row]] > 1:
                members[labels[row]] -= 1
                members[cluster] += 1
                labels[row] = cluster
                break


def _products(counts: NDArray[np.float32], rows: NDArray[np.floating]) -> NDArray[np.float64]:
    """counts @ rows.T in float64, (n, k), some thousand rows at a time."""
    right = rows.T.astype(np.float64)
    out = np.empty((len(counts), right.shape[1]))
    for low in range(0, len(counts), BLOCK):
        np.matmul(counts[low : low + BLOCK].astype(np.float64), right, out=out[low : low + BLOCK])
    return out


@kernel
def _add_rows(
    counts: NDArray[np.float32], labels: NDArray[np.int32], sums: NDArray[np.float64]
) -> None:
    for i in range(counts.shape[0]):
        for r in range(counts.shape[1]):
            sums[labels[i], r] += counts[i, r]
