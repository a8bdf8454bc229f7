"""Scores that are products of bags and a table: sum over the entries of a bag of weight x row.

The shortlist is made in float32, the decision in float64, and the bound between them is proved.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tracecup.attack.models.bags import Bags, weighings
from tracecup.attack.models.inverted import MOST_SHARED, Lists, offer_by_lists, shared
from tracecup.attack.models.running import Running, enter, threshold
from tracecup.attack.scores import TIE, Scores, best_of_rows
from tracecup.device import Arrays, SparseRows, best_matches
from tracecup.engine import map_blocks
from tracecup.kernels import kernel

MAX_TABLE_ENTRIES = 1 << 25
"""Rows times users of the largest table that is built: 256 MiB in float64, 128 in float32."""

TILE = 512
"""Users whose sums are made together: a tile of 1024 rows is 2 MiB and stays near the core."""

ROWS_ENTRIES = 1 << 26
"""Scores that are held at a time where the table is made in blocks."""

ONE_TILE = 4096
"""Up to so many users are one tile, whose sums still fit into the first-level cache."""

LANES = 16
Columns = Callable[[int, int], tuple[NDArray[np.float64], NDArray[np.float64]]]
"""(low, high) -> table of shape (rows, high - low) and bias of users low..high-1."""
Entries = Callable[[], sparse.csr_array]
"""-> the entries above 0 of the whole table, (users, rows)."""


def product_scores(
    bags: Bags,
    columns: Columns,
    constant: NDArray[np.float64],
    max_table_entries: int = MAX_TABLE_ENTRIES,
    entries: Entries | None = None,
) -> ProductScores:
    """The product of `bags` with the table that `columns` makes; in blocks if it is too large.

    `entries` makes the same table without its zeros, turned round, for tables without a bias.
    """
    m = len(bags.lengths)
    if bags.n_rows * m > max_table_entries:
        step = max(1, max_table_entries // bags.n_rows)
        step = step - step % TILE or step
        return ProductScores(bags, columns, constant, step, entries)
    table, bias = columns(0, m)

    def held(low: int, high: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return table[:, low:high], bias[low:high]

    return ProductScores(bags, held, constant, m, entries)


class ProductScores(Scores):
    """S[k, u] = constant[k] + bias[u] + sum_j weights[k, j] * table[ids[k, j], u].

    `bags` holds m bags; `columns` makes the table (float64, >= 0, rows x users) and the bias of a
    block of users, `step` users at a time. Weights must be >= 0.

    `best()` makes every block of the table once. Tile by tile of 512 users it computes the sum
    with n terms in float32. With unit roundoff u = 2^-24, rounding table, weights, products and
    partial sums leaves, in whatever order the terms are added, a relative error of at most
    g = (n + 8) u / (1 - (n + 8) u), because no term is negative. Every user whose upper bound
    reaches the largest lower bound, or what an earlier user reached, is computed again in
    float64, so the result is that of the float64 matrix. A tile stays in the second-level cache
    and the m x m matrix never exists. O(entries of the bags x users) time, O(rows x step) memory.
    Where the table is known without its zeros and few users share a row, an inverted index finds
    the same users instead (`offer_by_lists`).
    """

    def __init__(
        self,
        bags: Bags,
        columns: Columns,
        constant: NDArray[np.float64],
        step: int,
        entries: Entries | None = None,
    ) -> None:
        self.n_users, self._entries = len(bags.lengths), entries
        self._bags, self._columns, self._constant, self._step = bags, columns, constant, step

    def rows(self, low: int, high: int) -> NDArray[np.float64]:
        return self._rows_of(slice(low, high))

    def best(self) -> NDArray[np.int32]:
        return self._best_of(np.arange(self.n_users))

    def _best_of(self, pseudonyms: NDArray[np.int64]) -> NDArray[np.int32]:
        """The best user of each of these pseudonyms."""
        bags, running = self._bags.of(pseudonyms), Running.of(len(pseudonyms))
        if not self._show_lists(bags, running):
            for begin, end in self._user_blocks():
                self._show(bags, begin, end, running)
        best, undecided = running.best(), running.undecided()
        for low in range(0, len(undecided), 16):
            asked = undecided[low : low + 16]
            answer = np.empty(len(asked), dtype=np.int32)
            best_of_rows(self._rows_of(pseudonyms[asked]), answer)
            best[asked] = answer
        return best

    def best_on(self, arrays: Arrays) -> NDArray[np.int32]:
        """The same users as `best()`, found on a device.

        O(rows of the table x users^2) there; see `tracecup.device.best_matches`. A bias becomes
        two columns of the table that every pseudonym has with weight 1; see `bias_columns`.
        Pseudonyms that the device leaves open, such as those with many users close together, are
        answered here as in `best()`.
        """
        parts, biases = [], []
        for begin, end in self._user_blocks():
            table, bias = self._columns(begin, end)
            parts.append(sparse_rows(table))
            biases.append(bias)
        weights = weighings(self._bags)
        known, bias = SparseRows.joined(parts), np.concatenate(biases)
        if bias.any():
            known = known.widened(bias_columns(bias))
            weights = weights.widened(np.ones((len(weights), 2)))
        found = best_matches(arrays, weights, known, TIE, exactly=self._best_of)
        return found.best.astype(np.int32)

    def row_blocks(self) -> list[tuple[int, int]]:
        """Bounds of blocks of pseudonyms; larger ones (512 MiB) where each makes the table anew."""
        m = self.n_users
        if self._step >= m:
            return super().row_blocks()
        step = max(1, ROWS_ENTRIES // m)
        return [(low, min(low + step, m)) for low in range(0, m, step)]

    def _user_blocks(self) -> list[tuple[int, int]]:
        m, step = self.n_users, self._step
        return [(low, min(low + step, m)) for low in range(0, m, step)]

    def _show_lists(self, bags: Bags, running: Running) -> bool:
        """Show all users by an inverted index, if few of them share a row."""
        if self._entries is None or self.n_users <= ONE_TILE:
            return False
        entries = self._entries()
        if shared(bags, entries) > MOST_SHARED:
            return False
        offer_by_lists(bags, Lists.of(entries), running)
        return True

    def _show(self, bags: Bags, begin: int, end: int, running: Running) -> None:
        """Show users begin..end-1 to the pseudonyms of these bags."""
        table, bias = self._columns(begin, end)
        unbiased = not bias.any()
        tiles, alone = _tiles(table), end - begin == self.n_users

        def work(low: int, high: int) -> None:
            at = slice(low, high)
            _offer(
                bags.ids, bags.weights, bags.begins[at], bags.lengths[at], tiles, table, bias,
                unbiased, alone, begin, running.users[at], running.scores[at], running.counts[at],
            )  # fmt: skip

        map_blocks(work, len(bags.lengths))

    def _rows_of(self, pseudonyms: slice | NDArray[np.int64]) -> NDArray[np.float64]:
        """Scores of the chosen pseudonyms, one block of the table after the other."""
        bags, constant = self._bags.of(pseudonyms), self._constant[pseudonyms]
        out = np.empty((len(bags.lengths), self.n_users))
        for begin, end in self._user_blocks():
            _score_block(bags, *self._columns(begin, end), constant, out[:, begin:end])
        return out


def sparse_rows(table: NDArray[np.float64]) -> SparseRows:
    """The users of a table (rows, users) with their entries above zero alone; in threads.

    The table is read twice, row by row: O(rows x users), without a turned copy of it.

    >>> sparse_rows(np.array([[0.0, 2.0], [3.0, 1.0]])).values.tolist()
    [3.0, 2.0, 1.0]
    """
    rows, users = table.shape
    offsets = np.zeros(users + 1, dtype=np.int64)
    map_blocks(
        lambda low, high: _count_entries(table[:, low:high], offsets[low + 1 : high + 1]), users
    )
    np.cumsum(offsets, out=offsets)
    columns, values = np.empty(offsets[-1], dtype=np.int32), np.empty(offsets[-1])
    map_blocks(
        lambda low, high: _take_entries(table[:, low:high], offsets[low:high], columns, values),
        users,
    )
    return SparseRows(offsets, columns, values, rows)


@kernel
def _count_entries(table: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
    for r in range(table.shape[0]):
        for u in range(table.shape[1]):
            counts[u] += table[r, u] > 0.0


@kernel
def _take_entries(
    table: NDArray[np.float64],
    begins: NDArray[np.int64],
    columns: NDArray[np.int32],
    values: NDArray[np.float64],
) -> None:
    place = begins.copy()
    for r in range(table.shape[0]):
        for u in range(table.shape[1]):
            if table[r, u] > 0.0:
                columns[place[u]], values[place[u]] = r, table[r, u]
                place[u] += 1


def bias_columns(bias: NDArray[np.float64]) -> NDArray[np.float64]:
    """Two positive columns whose sum is the bias but for a constant; shape (users, 2).

    The first is a multiple of q, a power of two, at most 1023 times: half precision holds it
    exactly. The second lies within q..2q, where half precision is off by a millionth of the range.

    >>> bias_columns(np.array([-3.0, 0.0, -1.25])).tolist()
    [[0.00390625, 0.00390625], [3.00390625, 0.00390625], [1.75390625, 0.00390625]]
    """
    above = bias - bias.min()
    q = 2.0 ** np.ceil(np.log2(max(float(above.max()), 1e-3) / 1022))
    whole = np.floor(above / q)
    return np.column_stack([(whole + 1) * q, above - whole * q + q])


def _score_block(
    bags: Bags,
    table: NDArray[np.float64],
    bias: NDArray[np.float64],
    constant: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """The scores of all bags and the users of one block, in threads."""

    def work(low: int, high: int) -> None:
        at = slice(low, high)
        _score_rows(
            bags.ids, bags.weights, bags.begins[at], bags.lengths[at], table, bias,
            constant[at], out[at],
        )  # fmt: skip

    map_blocks(work, len(bags.lengths))


def _tiles(table: NDArray[np.float64]) -> NDArray[np.float32]:
    """The table in float32, cut into tiles of users: shape (tiles, rows, width), zeros beyond.

    Few users are one tile: then most pseudonyms need no float64 at all.
    """
    rows, users = table.shape
    width = TILE if users > ONE_TILE else -(-users // LANES) * LANES
    n_tiles = -(-users // width)
    tiles = np.zeros((n_tiles, rows, width), dtype=np.float32)

    def work(low: int, high: int) -> None:
        for t in range(low, high):
            part = table[:, t * width : (t + 1) * width]
            tiles[t, :, : part.shape[1]] = part

    map_blocks(work, n_tiles)
    return tiles


@kernel
def _score_rows(
    ids: NDArray[np.int32],
    weights: NDArray[np.float64],
    begins: NDArray[np.int64],
    lengths: NDArray[np.int64],
    table: NDArray[np.float64],
    bias: NDArray[np.float64],
    constant: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    for k in range(len(lengths)):
        row = out[k]
        own = slice(begins[k], begins[k] + lengths[k])
        _add_rows(ids[own], weights[own], lengths[k], table, row)
        for u in range(len(row)):
            row[u] += constant[k] + bias[u]


@kernel
def _offer(
    ids: NDArray[np.int32],
    weights: NDArray[np.float64],
    begins: NDArray[np.int64],
    lengths: NDArray[np.int64],
    coarse: NDArray[np.float32],
    table: NDArray[np.float64],
    bias: NDArray[np.float64],
    unbiased: bool,
    alone: bool,
    first_user: int,
    users: NDArray[np.int32],
    scores: NDArray[np.float64],
    counts: NDArray[np.int8],
) -> None:
    """Show the users of a block, first_user and on, to every pseudonym; see `Running`.

    `alone` says that there is no other block: a single candidate is then the answer.
    """
    size = coarse.shape[2]
    only_one = alone and coarse.shape[0] == 1
    sums = np.empty(size, dtype=np.float32)
    shortlist = np.empty(size, dtype=np.int32)
    longest = 0
    for n in lengths:
        longest = max(longest, n)
    rough_weights = np.empty(longest, dtype=np.float32)
    for tile in range(coarse.shape[0]):
        begin = tile * size
        own_bias = bias[begin:]
        for k in range(len(lengths)):
            n = lengths[k]
            own = slice(begins[k], begins[k] + n)
            own_ids, own_weights = ids[own], weights[own]
            for j in range(n):
                rough_weights[j] = own_weights[j]
            _add_rows(own_ids, rough_weights, n, coarse[tile], sums)
            drift = (n + 8) * 2.0**-24
            error = drift / (1.0 - drift)
            shrink, grow = 1.0 / (1.0 + error), 1.0 / (1.0 - error)
            needed = threshold(scores[k], counts, k, 1.1)
            if unbiased:
                highest = _largest(sums)
                if highest * grow < needed:
                    continue
                lowest = highest * shrink
            else:
                # Nothing is needed of the first ones: then how high they may reach is no question.
                if needed > -np.inf and _largest_biased(sums, grow, own_bias) < needed:
                    continue
                lowest = _largest_biased(sums, shrink, own_bias)
            needed = max(needed, lowest - 1.1 * TIE)
            found = _reaching(sums, own_bias, grow, needed, shortlist)
            if found == 1 and only_one:
                enter(users[k], scores[k], counts, k, first_user + shortlist[0], lowest)
                continue
            for c in range(found):
                u = begin + shortlist[c]
                total = 0.0
                for j in range(n):
                    total += own_weights[j] * table[own_ids[j], u]
                enter(users[k], scores[k], counts, k, first_user + u, total + bias[u])


@kernel
def _reaching(
    sums: NDArray[np.float32],
    bias: NDArray[np.float64],
    grow: float,
    needed: float,
    shortlist: NDArray[np.int32],
) -> int:
    """The users whose upper bound reaches what is needed, ascending; returns how many.

    Sixteen are looked at together, in vector code; few of them hold any.
    """
    n, found = min(len(sums), len(bias)), 0
    for begin in range(0, n, LANES):
        end = min(begin + LANES, n)
        if end - begin == LANES:
            hits = 0
            for q in range(LANES):
                hits += sums[begin + q] * grow + bias[begin + q] >= needed
            if hits == 0:
                continue
        for q in range(begin, end):
            if sums[q] * grow + bias[q] >= needed:
                shortlist[found] = q
                found += 1
    return found


@kernel
def _largest(sums: NDArray[np.float32]) -> float:
    """The maximum, in 16 lanes, which the compiler turns into vector code; sums are a multiple."""
    lanes = np.full(LANES, -np.inf, dtype=np.float32)
    for begin in range(0, len(sums), LANES):
        for q in range(LANES):
            value = sums[begin + q]
            lanes[q] = value if value > lanes[q] else lanes[q]
    return float(lanes.max())


@kernel
def _largest_biased(sums: NDArray[np.float32], factor: float, bias: NDArray[np.float64]) -> float:
    """The maximum of sums x factor + bias over the users that have a bias, in the same way."""
    n = min(len(sums), len(bias))
    whole = n - n % LANES
    lanes = np.full(LANES, -np.inf)
    for begin in range(0, whole, LANES):
        for q in range(LANES):
            value = sums[begin + q] * factor + bias[begin + q]
            lanes[q] = value if value > lanes[q] else lanes[q]
    top = float(lanes.max())
    for q in range(whole, n):
        top = max(top, sums[q] * factor + bias[q])
    return top


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
