"""Products of bags and a sparse table by an inverted index: lists of users, with upper bounds.

It beats the product in vector registers where few users share a row; measured, see the docs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tracecup.attack.models.bags import Bags
from tracecup.attack.models.running import Running, enter, threshold
from tracecup.attack.scores import TIE
from tracecup.engine import map_blocks
from tracecup.kernels import kernel

MOST_SHARED = 0.01
"""Up to this share of (entry of a bag, user) pairs that are not zero, lists are faster."""
FEW = 8
"""Users that are scored in full rather than told apart by further lists."""


@dataclass(frozen=True, eq=False)
class Lists:
    """The entries above 0 of a table (rows, users), row by row and user by user.

    Row d has users `start[d] : start[d + 1]`, ascending, with `values`, of which `top[d]` is the
    largest; user u has rows `offsets[u] : offsets[u + 1]`, ascending, with `row_values`.
    """

    start: NDArray[np.int64]
    users: NDArray[np.int32]
    values: NDArray[np.float64]
    top: NDArray[np.float64]
    offsets: NDArray[np.int64]
    rows: NDArray[np.int32]
    row_values: NDArray[np.float64]

    @classmethod
    def of(cls, table: sparse.csr_array) -> Lists:
        """From the table turned round, (users, rows), rows of each user ascending; O(entries)."""
        by_row = table.tocsc()
        start = by_row.indptr.astype(np.int64)
        top = np.zeros(table.shape[1])
        np.maximum.at(top, table.indices, table.data)
        return cls(
            start, by_row.indices.astype(np.int32), by_row.data, top,
            table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data,
        )  # fmt: skip


def visit_entries(counts: sparse.csr_array, floor: float) -> sparse.csr_array:
    """log(share of the visits / floor) where a user was, from her counts (users, regions).

    >>> counts = sparse.csr_array(np.array([[1.0, 0.0, 3.0]]))
    >>> visit_entries(counts, 0.25).toarray().round(3).tolist()
    [[0.0, 0.0, 1.099]]
    """
    offsets = counts.indptr.astype(np.int64)
    values = np.empty(counts.nnz)
    map_blocks(
        lambda low, high: _log_shares(offsets[low : high + 1], counts.data, floor, values),
        counts.shape[0],
    )
    return sparse.csr_array((values, counts.indices, counts.indptr), shape=counts.shape)


def shared(bags: Bags, table: sparse.csr_array) -> float:
    """The share of pairs (entry of a bag, user) whose entry of the table (users, rows) is above 0.

    So many additions of the product add something.
    """
    users, rows = table.shape
    asked = np.zeros(rows, dtype=np.int64)
    _count_ids(bags.ids, bags.begins, bags.lengths, asked)
    held = np.bincount(table.indices, minlength=rows)
    pairs = max(1, int(bags.lengths.sum()) * int(users))
    return float(asked @ held) / pairs


def offer_by_lists(bags: Bags, lists: Lists, running: Running) -> None:
    """Show all users to every pseudonym; see `Running`.

    A pseudonym reads the lists of its rows from the shortest on and adds up. What unread lists can
    still add is bounded; where that is less than the full score of the user who leads, nobody on
    no list can win, and where it is less than what a user lacks, she cannot. The few who are left
    are scored in full, in float64 and in the order of the bag, so that scores are the same numbers
    as those of the product. O(entries of the lists that are read).
    """

    def work(low: int, high: int) -> None:
        at = slice(low, high)
        _offer(
            bags.ids, bags.weights, bags.begins[at], bags.lengths[at], lists.start, lists.users,
            lists.values, lists.top, lists.offsets, lists.rows, lists.row_values,
            running.users[at], running.scores[at], running.counts[at],
        )  # fmt: skip

    map_blocks(work, len(bags.lengths))


@kernel
def _log_shares(
    offsets: NDArray[np.int64],
    counts: NDArray[np.float32],
    floor: float,
    values: NDArray[np.float64],
) -> None:
    for u in range(len(offsets) - 1):
        total = 0.0
        for at in range(offsets[u], offsets[u + 1]):
            total += counts[at]
        scale = 1.0 / (max(total, 1.0) * floor)
        for at in range(offsets[u], offsets[u + 1]):
            values[at] = math.log(counts[at] * scale)


@kernel
def _count_ids(
    ids: NDArray[np.int32],
    begins: NDArray[np.int64],
    lengths: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> None:
    for k in range(len(lengths)):
        for i in range(begins[k], begins[k] + lengths[k]):
            rows[ids[i]] += 1


@kernel
def _score(
    ids: NDArray[np.int32],
    weights: NDArray[np.float64],
    n: int,
    rows: NDArray[np.int32],
    values: NDArray[np.float64],
) -> float:
    """The score of a user with these rows, ascending."""
    total = 0.0
    for j in range(n):
        low, high = 0, len(rows)
        while low < high:
            middle = (low + high) >> 1
            if rows[middle] < ids[j]:
                low = middle + 1
            else:
                high = middle
        if low < len(rows) and rows[low] == ids[j]:
            total += weights[j] * values[low]
    return total


@kernel
def _shortest_first(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The order of a few numbers by size."""
    order = np.arange(len(lengths))
    for k in range(1, len(order)):
        j, at = order[k], k
        while at > 0 and lengths[order[at - 1]] > lengths[j]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = j
    return order


@kernel
def _leader(sums: NDArray[np.float64], seen: NDArray[np.int32]) -> int:
    """Who has the largest sum so far."""
    leader = seen[0]
    for u in seen:
        leader = u if sums[u] > sums[leader] else leader
    return int(leader)


@kernel
def _read_lists(  # noqa: PLR0912 - a search in one loop, whose lists it shares
    ids: NDArray[np.int32],
    weights: NDArray[np.float64],
    n: int,
    start: NDArray[np.int64],
    users: NDArray[np.int32],
    values: NDArray[np.float64],
    top: NDArray[np.float64],
    offsets: NDArray[np.int64],
    rows: NDArray[np.int32],
    row_values: NDArray[np.float64],
    needed: float,
    sums: NDArray[np.float64],
    seen: NDArray[np.int32],
) -> tuple[int, float, float]:
    """Add up lists until few users can still be the answer.

    Returns how many were seen, what unread lists can add, and the score that is needed.
    """
    lengths, rest = np.empty(n, dtype=np.int64), 0.0
    for j in range(n):
        lengths[j] = start[ids[j] + 1] - start[ids[j]]
        rest += weights[j] * top[ids[j]]
    if rest < needed:
        return 0, rest, needed
    n_seen, asked = 0, -1
    for j in _shortest_first(lengths):
        if n_seen > 0 and lengths[j] >= n_seen // 4:
            leader = _leader(sums, seen[:n_seen])
            if sums[leader] + rest < needed - TIE:
                break  # not even she can win, and nobody on no list can
            if leader != asked:
                own = slice(offsets[leader], offsets[leader + 1])
                found = _score(ids, weights, n, rows[own], row_values[own])
                needed, asked = max(needed, found - 1.1 * TIE), leader
            if rest < needed - TIE:
                left = 0
                for s in range(n_seen):
                    left += sums[seen[s]] + rest >= needed - TIE
                if left <= FEW:
                    break
        row, weight = ids[j], weights[j]
        if weight == 0.0:
            continue
        for at in range(start[row], start[row + 1]):
            u = users[at]
            if sums[u] == 0.0:
                seen[n_seen] = u
                n_seen += 1
            sums[u] += weight * values[at]
        rest -= weight * top[row]
    if n_seen > 0:
        leader = _leader(sums, seen[:n_seen])
        if leader != asked and sums[leader] + rest >= needed - TIE:
            own = slice(offsets[leader], offsets[leader + 1])
            needed = max(needed, _score(ids, weights, n, rows[own], row_values[own]) - 1.1 * TIE)
    return n_seen, max(rest, 0.0), needed


@kernel
def _offer(
    ids: NDArray[np.int32],
    weights: NDArray[np.float64],
    begins: NDArray[np.int64],
    lengths: NDArray[np.int64],
    start: NDArray[np.int64],
    listed: NDArray[np.int32],
    values: NDArray[np.float64],
    top: NDArray[np.float64],
    offsets: NDArray[np.int64],
    rows: NDArray[np.int32],
    row_values: NDArray[np.float64],
    users: NDArray[np.int32],
    scores: NDArray[np.float64],
    counts: NDArray[np.int8],
) -> None:
    m = len(offsets) - 1
    sums, seen = np.zeros(m), np.empty(m, dtype=np.int32)
    everybody = np.arange(m).astype(np.int32)
    for k in range(len(lengths)):
        n = lengths[k]
        rows_asked = ids[begins[k] : begins[k] + n]
        row_weights = weights[begins[k] : begins[k] + n]
        needed = threshold(scores[k], counts, k, 1.1)
        n_seen, rest, needed = _read_lists(
            rows_asked, row_weights, n, start, listed, values, top, offsets, rows, row_values,
            needed, sums, seen,
        )  # fmt: skip
        kept = 0
        for s in range(n_seen):
            u = seen[s]
            if sums[u] + rest >= needed - TIE:
                seen[kept], seen[s] = u, seen[kept]
                kept += 1
        # Where somebody on no list may tie with the best, everybody is asked, in order.
        chosen = everybody if rest >= needed - TIE else np.sort(seen[:kept])
        for u in chosen:
            own = slice(offsets[u], offsets[u + 1])
            total = _score(rows_asked, row_weights, n, rows[own], row_values[own])
            enter(users[k], scores[k], counts, k, u, total)
        for s in range(n_seen):
            sums[seen[s]] = 0.0
