"""Scores that are products of bags and a table: sum over the entries of a bag of weight x row.

The shortlist is made in float32, the decision in float64, and the bound between them is proved.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.models.bags import Bags
from tracecup.attack.scores import TIE, Scores
from tracecup.engine import map_blocks
from tracecup.kernels import kernel

MAX_TABLE_ENTRIES = 1 << 25
"""Rows times users of the largest table that is built: 256 MiB in float64, 128 in float32."""

Columns = Callable[[int, int], tuple[NDArray[np.float64], NDArray[np.float64]]]
"""(low, high) -> table of shape (rows, high - low) and bias of users low..high-1."""


def product_scores(
    bags: Bags,
    columns: Columns,
    constant: NDArray[np.float64],
    max_table_entries: int = MAX_TABLE_ENTRIES,
) -> Scores:
    """The product of `bags` with the table that `columns` makes; in blocks if it is too large."""
    m = len(bags.lengths)
    if bags.n_rows * m > max_table_entries:
        return BlockedScores(bags, columns, constant, max_table_entries)
    table, bias = columns(0, m)
    return ProductScores(bags, table, bias, constant)


class ProductScores(Scores):
    """S[k, u] = constant[k] + bias[u] + sum_j weights[k, j] * table[ids[k, j], u].

    `bags` holds m bags, `table` (float64, >= 0) has shape (rows, users). Weights must be >= 0.

    `best()` computes the sum with n terms in float32. With unit roundoff u = 2^-24, rounding
    table, weights, products and partial sums leaves, in whatever order the terms are added, a
    relative error of at most g = (n + 8) u / (1 - (n + 8) u), because no term is negative. Every
    user whose upper bound reaches the largest lower bound is computed again in float64 (none if
    only one is left), so the result is that of the float64 matrix. The row of sums stays in the
    first-level cache and the m x m matrix never exists. O(entries of the bags x users).
    """

    def __init__(
        self,
        bags: Bags,
        table: NDArray[np.float64],
        bias: NDArray[np.float64],
        constant: NDArray[np.float64],
    ) -> None:
        self.n_users = table.shape[1]
        self._bags, self._table, self._bias, self._constant = bags, table, bias, constant

    def rows(self, low: int, high: int) -> NDArray[np.float64]:
        """Scores of pseudonyms low..high-1 in float64."""
        out = np.empty((high - low, self.n_users))
        bags = self._bags

        def work(begin: int, end: int) -> None:
            at = slice(low + begin, low + end)
            _score_rows(
                bags.ids[at], bags.weights[at], bags.lengths[at],
                self._table, self._bias, self._constant[at], out[begin:end],
            )  # fmt: skip

        map_blocks(work, high - low)
        return out

    def best(self) -> NDArray[np.int32]:
        """The best user of every pseudonym, ties to the smallest; shape (m,)."""
        bags, coarse = self._bags, self._table.astype(np.float32)
        best = np.empty(self.n_users, dtype=np.int32)

        def work(low: int, high: int) -> None:
            at = slice(low, high)
            _best_users(
                bags.ids[at], bags.weights[at], bags.lengths[at],
                coarse, self._table, self._bias, best[at],
            )  # fmt: skip

        map_blocks(work, self.n_users)
        return best


class BlockedScores(Scores):
    """The same scores where the whole table would be too large: users block by block.

    Blocks of the table are made anew for every block of rows.
    """

    def __init__(
        self,
        bags: Bags,
        columns: Columns,
        constant: NDArray[np.float64],
        max_table_entries: int = MAX_TABLE_ENTRIES,
    ) -> None:
        self.n_users = len(bags.lengths)
        self._bags, self._columns, self._constant = bags, columns, constant
        self._step = max(1, max_table_entries // max(1, bags.n_rows))

    def rows(self, low: int, high: int) -> NDArray[np.float64]:
        """Scores of pseudonyms low..high-1 in float64."""
        out = np.empty((high - low, self.n_users))
        for begin in range(0, self.n_users, self._step):
            end = min(begin + self._step, self.n_users)
            table, bias = self._columns(begin, end)
            product = ProductScores(self._bags, table, bias, self._constant)
            out[:, begin:end] = product.rows(low, high)
        return out


@kernel
def _score_rows(
    ids: NDArray[np.int32],
    weights: NDArray[np.float64],
    lengths: NDArray[np.int64],
    table: NDArray[np.float64],
    bias: NDArray[np.float64],
    constant: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    for k in range(len(lengths)):
        row = out[k]
        _add_rows(ids[k], weights[k], lengths[k], table, row)
        for u in range(len(row)):
            row[u] += constant[k] + bias[u]


@kernel
def _best_users(
    ids: NDArray[np.int32],
    weights: NDArray[np.float64],
    lengths: NDArray[np.int64],
    coarse: NDArray[np.float32],
    table: NDArray[np.float64],
    bias: NDArray[np.float64],
    best: NDArray[np.int32],
) -> None:
    m = table.shape[1]
    sums = np.empty(m, dtype=np.float32)
    shortlist = np.empty(m, dtype=np.int32)
    exact = np.empty(m)
    rough_weights = np.empty(weights.shape[1], dtype=np.float32)
    for k in range(len(lengths)):
        n = lengths[k]
        for j in range(n):
            rough_weights[j] = weights[k, j]
        _add_rows(ids[k], rough_weights, n, coarse, sums)
        drift = (n + 8) * 2.0**-24
        error = drift / (1.0 - drift)
        found = _shortlist(sums, bias, 1.0 / (1.0 + error), 1.0 / (1.0 - error), shortlist)
        if found == 1:
            best[k] = shortlist[0]
            continue
        top = -np.inf
        for c in range(found):
            u = shortlist[c]
            total = 0.0
            for j in range(n):
                total += weights[k, j] * table[ids[k, j], u]
            exact[c] = total + bias[u]
            top = max(top, exact[c])
        c = 0
        while exact[c] < top - TIE:
            c += 1
        best[k] = shortlist[c]


@kernel
def _shortlist(
    sums: NDArray[np.float32],
    bias: NDArray[np.float64],
    shrink: float,
    grow: float,
    shortlist: NDArray[np.int32],
) -> int:
    """Users whose score may be within TIE of the largest; returns how many, ascending.

    The maximum is taken in 16 lanes, which the compiler turns into vector code.
    """
    m = len(sums)
    whole = m - m % 16
    lanes = np.full(16, -np.inf)
    for begin in range(0, whole, 16):
        for q in range(16):
            value = sums[begin + q] * shrink + bias[begin + q]
            lanes[q] = value if value > lanes[q] else lanes[q]
    top = lanes.max()
    for u in range(whole, m):
        top = max(top, sums[u] * shrink + bias[u])
    top -= 1.1 * TIE
    n = 0
    for u in range(m):
        if sums[u] * grow + bias[u] >= top:
            shortlist[n] = u
            n += 1
    return n


@kernel
def _add_rows(
    ids: NDArray[np.int32],
    weights: NDArray[np.floating],
    n: int,
    table: NDArray[np.floating],
    out: NDArray[np.floating],
) -> None:
    """out = sum of weights[j] * table[ids[j]] over j < n, in the type of `table` and `out`.

    Eight rows at a time, so that `out` is read and written once for eight.
    """
    for u in range(len(out)):
        out[u] = 0
    j = 0
    while j + 8 <= n:
        r0, r1, r2, r3 = table[ids[j]], table[ids[j + 1]], table[ids[j + 2]], table[ids[j + 3]]
        r4, r5, r6, r7 = table[ids[j + 4]], table[ids[j + 5]], table[ids[j + 6]], table[ids[j + 7]]
        w0, w1, w2, w3 = weights[j], weights[j + 1], weights[j + 2], weights[j + 3]
        w4, w5, w6, w7 = weights[j + 4], weights[j + 5], weights[j + 6], weights[j + 7]
        for u in range(len(out)):
            first = w0 * r0[u] + w1 * r1[u] + w2 * r2[u] + w3 * r3[u]
            second = w4 * r4[u] + w5 * r5[u] + w6 * r6[u] + w7 * r7[u]
            out[u] += first + second
        j += 8
    while j < n:
        row, weight = table[ids[j]], weights[j]
        for u in range(len(out)):
            out[u] += weight * row[u]
        j += 1
