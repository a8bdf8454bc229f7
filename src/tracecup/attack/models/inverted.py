"""Products of bags and a sparse table by an inverted index: lists of users, with upper bounds.

It beats the product in vector registers where few users share a row; measured, see the docs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.models.bags import Bags
from tracecup.attack.models.running import Running, enter, threshold
from tracecup.attack.scores import TIE
from tracecup.engine import map_blocks
from tracecup.kernels import kernel

MOST_SHARED = 0.02
"""Up to this share of (entry of a bag, user) pairs that are not zero, lists are faster."""
FEW = 64
"""Users that are scored in full rather than told apart by further lists."""


@dataclass(frozen=True, eq=False)
class Lists:
    """The entries above 0 of a table (rows, users): row d has users `start[d] : start[d + 1]`.

    `top[d]` is the largest value of a row.
    """

    start: NDArray[np.int64]
    users: NDArray[np.int32]
    values: NDArray[np.float64]
    top: NDArray[np.float64]

    @classmethod
    def of(cls, table: NDArray[np.float64], numbers: NDArray[np.int64]) -> Lists:
        """From a table whose rows have so many entries above 0."""
        start = np.concatenate([[0], np.cumsum(numbers)])
        users, values = np.empty(start[-1], dtype=np.int32), np.empty(start[-1])
        top = np.empty(len(table))
        map_blocks(
            lambda low, high: _list_row(
                table[low:high], start[low:high], users, values, top[low:high]
            ),
            len(table),
        )
        return cls(start, users, values, top)


def entries_of(table: NDArray[np.float64]) -> NDArray[np.int64]:
    """Entries above 0 of each row.

    >>> entries_of(np.array([[0.0, 2.0], [0.0, 0.0]])).tolist()
    [1, 0]
    """
    numbers = np.empty(len(table), dtype=np.int64)
    map_blocks(lambda low, high: _count_row(table[low:high], numbers[low:high]), len(table))
    return numbers


def shared(bags: Bags, numbers: NDArray[np.int64], users: int) -> float:
    """The share of pairs (entry of a bag, user) whose table entry is above 0."""
    rows, entries = np.zeros(bags.n_rows, dtype=np.int64), int(bags.lengths.sum())
    _count_ids(bags.ids, bags.lengths, rows)
    return float(rows @ numbers) / max(1, entries * users)


def offer_by_lists(
    bags: Bags,
    table: NDArray[np.float64],
    numbers: NDArray[np.int64],
    first_user: int,
    running: Running,
) -> None:
    """Show the users of a table, first_user and on, to every pseudonym; see `Running`.

    A pseudonym reads the lists of its rows from the shortest on and adds up. What unread lists can
    still add is bounded; where that is less than the full score of the user who leads, nobody on
    no list can win, and where it is less than what a user lacks, she cannot. The few who are left
    are scored in full, in float64 and in the order of the bag, so that scores are the same numbers
    as those of the product. O(entries of the lists that are read).
    """
    lists = Lists.of(table, numbers)

    def work(low: int, high: int) -> None:
        at = slice(low, high)
        _offer(
            bags.ids[at], bags.weights[at], bags.lengths[at], lists.start, lists.users,
            lists.values, lists.top, table, first_user, running.users[at], running.scores[at],
            running.counts[at],
        )  # fmt: skip

    map_blocks(work, len(bags.lengths))


@kernel
def _count_ids(ids: NDArray[np.int32], lengths: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
    for k in range(len(lengths)):
        for j in range(lengths[k]):
            rows[ids[k, j]] += 1


@kernel
def _count_row(table: NDArray[np.float64], numbers: NDArray[np.int64]) -> None:
    for d in range(len(table)):
        count, row = 0, table[d]
        for u in range(len(row)):
            count += row[u] > 0.0
        numbers[d] = count


@kernel
def _list_row(
    table: NDArray[np.float64],
    start: NDArray[np.int64],
    users: NDArray[np.int32],
    values: NDArray[np.float64],
    top: NDArray[np.float64],
) -> None:
    for d in range(len(table)):
        at, row, most = start[d], table[d], 0.0
        for u in range(len(row)):
            if row[u] > 0.0:
                users[at], values[at] = u, row[u]
                most = max(most, row[u])
                at += 1
        top[d] = most


@kernel
def _score(
    ids: NDArray[np.int32],
    weights: NDArray[np.float64],
    n: int,
    table: NDArray[np.float64],
    user: int,
) -> float:
    total = 0.0
    for j in range(n):
        total += weights[j] * table[ids[j], user]
    return total


@kernel
def _leader(sums: NDArray[np.float64], seen: NDArray[np.int32]) -> int:
    """Who has the largest sum so far."""
    leader = seen[0]
    for u in seen:
        leader = u if sums[u] > sums[leader] else leader
    return int(leader)


@kernel
def _read_lists(
    ids: NDArray[np.int32],
    weights: NDArray[np.float64],
    n: int,
    start: NDArray[np.int64],
    users: NDArray[np.int32],
    values: NDArray[np.float64],
    top: NDArray[np.float64],
    table: NDArray[np.float64],
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
    n_seen = 0
    for j in np.argsort(lengths):
        if n_seen > 0 and lengths[j] >= n_seen // 4:
            leader = _leader(sums, seen[:n_seen])
            needed = max(needed, _score(ids, weights, n, table, leader) - 1.1 * TIE)
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
        needed = max(needed, _score(ids, weights, n, table, leader) - 1.1 * TIE)
    return n_seen, max(rest, 0.0), needed


@kernel
def _offer(
    ids: NDArray[np.int32],
    weights: NDArray[np.float64],
    lengths: NDArray[np.int64],
    start: NDArray[np.int64],
    listed: NDArray[np.int32],
    values: NDArray[np.float64],
    top: NDArray[np.float64],
    table: NDArray[np.float64],
    first_user: int,
    users: NDArray[np.int32],
    scores: NDArray[np.float64],
    counts: NDArray[np.int8],
) -> None:
    m = table.shape[1]
    sums, seen = np.zeros(m), np.empty(m, dtype=np.int32)
    for k in range(len(lengths)):
        n = lengths[k]
        needed = threshold(scores[k], counts, k, 1.1)
        n_seen, rest, needed = _read_lists(
            ids[k], weights[k], n, start, listed, values, top, table, needed, sums, seen
        )
        if rest >= needed - TIE:
            # Somebody on no list may tie with the best: everybody is asked, in order.
            for u in range(m):
                if sums[u] + rest >= needed - TIE:
                    total = _score(ids[k], weights[k], n, table, u)
                    enter(users[k], scores[k], counts, k, first_user + u, total)
        else:
            kept = 0
            for s in range(n_seen):
                u = seen[s]
                if sums[u] + rest >= needed - TIE:
                    seen[kept], seen[s] = u, seen[kept]
                    kept += 1
            for u in np.sort(seen[:kept]):
                total = _score(ids[k], weights[k], n, table, u)
                enter(users[k], scores[k], counts, k, first_user + u, total)
        for s in range(n_seen):
            sums[seen[s]] = 0.0
