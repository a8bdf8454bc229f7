"""What a matrix of scores, files against attackers, says beyond its minima.

Who attacks alike, how many attackers a minimum needs, who opened a file alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

Matrix = NDArray[np.float64]

SAME = 1e-12
LEAST = 4


@dataclass(frozen=True)
class Likeness:
    """Two attackers over the `files` that both attacked.

    `r` is the correlation of their scores, NaN where one does not vary; `same` how many scores
    are equal to the last digit and below 1: the same answer, or one that ignores the release.
    """

    first: int
    second: int
    files: int
    r: float
    same: int


@dataclass(frozen=True)
class Opening:
    """How a file fell: its lowest and second lowest score, by whom, and how many got below."""

    best: float
    by: int
    second: float
    second_by: int
    below: int


def likeness(scores: Matrix) -> list[Likeness]:
    """Every pair of columns of (files, attackers), NaN or 1 where somebody did not attack.

    O(attackers^2 files).
    """
    found = []
    tried = np.where(scores < 1, scores, np.nan)
    for first in range(tried.shape[1]):
        for second in range(first):
            both = ~np.isnan(tried[:, first]) & ~np.isnan(tried[:, second])
            x, y = tried[both, first], tried[both, second]
            flat = len(x) < LEAST or min(np.ptp(x), np.ptp(y)) <= SAME
            r = math.nan if flat else float(np.corrcoef(x, y)[0, 1])
            same = int((np.abs(x - y) <= SAME).sum())
            found.append(Likeness(second, first, int(both.sum()), r, same))
    return found


def side_by_side(pairs: list[Likeness], attackers: int) -> list[int]:
    """The attackers in an order that puts those alike beside each other (average linkage)."""
    distance = np.ones((attackers, attackers))
    for pair in pairs:
        far = 1.0 if math.isnan(pair.r) else 1 - pair.r
        distance[pair.first, pair.second] = distance[pair.second, pair.first] = far
    np.fill_diagonal(distance, 0)
    if attackers < 3:
        return list(range(attackers))
    tree = linkage(squareform(distance), "average", optimal_ordering=True)
    return [int(leaf) for leaf in leaves_list(tree)]


def expected_minima(scores: Matrix, always: Matrix) -> Matrix:
    """Mean minimum of every file over k attackers drawn at random, shape (files, attackers + 1).

    Column k is the exact mean over all choices of k of a file's n attackers (NaN where k > n):
    with scores v_1 <= ... <= v_n, sum_i v_i C(n - i, k - 1) / C(n, k). `always` (files, samples)
    are attacks that are there in any case; column 0 is theirs alone, 1 without any.

    >>> expected_minima(np.array([[0.2, 0.6, 0.4]]), np.array([[0.5]])).round(3).tolist()
    [[0.5, 0.367, 0.267, 0.2]]
    """
    files, attackers = scores.shape
    found = np.full((files, attackers + 1), np.nan)
    base = np.nanmin(always, axis=1, initial=1.0) if always.shape[1] else np.ones(files)
    found[:, 0] = base
    for i in range(files):
        values = np.sort(np.minimum(scores[i][~np.isnan(scores[i])], base[i]))
        n = len(values)
        for k in range(1, n + 1):
            ways = [math.comb(n - 1 - j, k - 1) for j in range(n)]
            found[i, k] = float(np.dot(values, ways)) / math.comb(n, k)
    return found


def openings(scores: Matrix, open_below: float) -> list[Opening]:
    """For every row who came lowest and second, and how many columns lie below `open_below`."""
    filled = np.where(np.isnan(scores), np.inf, scores)
    order = np.argsort(filled, axis=1, kind="stable")[:, :2]
    return [
        Opening(
            float(row[first]),
            int(first),
            float(row[second]),
            int(second),
            int((row < open_below).sum()),
        )
        for row, (first, second) in zip(filled, order, strict=True)
    ]


def blind(scores: Matrix, spread: float, least: int = 10) -> list[int]:
    """Columns whose scores hardly depend on the file: attackers who did not need the release.

    Standard deviation at most `spread` over the files attacked, of which there are `least`.
    """
    tried = np.where(scores < 1, scores, np.nan)
    return [
        j
        for j in range(tried.shape[1])
        if (~np.isnan(tried[:, j])).sum() >= least and float(np.nanstd(tried[:, j])) <= spread
    ]
