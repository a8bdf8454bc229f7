"""Optimal one-to-one links of more users than a matrix could hold, with a certified gap.

Shortlists are solved exactly; prices of users then tell which other pairs could still be better.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from tracecup.attack.match.prices import Pairs, Prices
from tracecup.attack.scores import TIE, MatrixScores, Scores
from tracecup.engine import map_blocks
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.kernels import kernel
from tracecup.traces import IdTable

LENGTH = 16
"""Users on the first list of a pseudonym."""

COLUMN_LENGTH = 4
"""Pseudonyms that each user adds, so that hardly anybody stands on no list."""

PASSES = 200
REST_PAIRS = 256
"""Pairs per pseudonym, of all together, that may be added among those the lists leave over."""

MOST_REST_PAIRS = 1 << 24
"""And no more than so many, half a gigabyte; one for each of those left over is enough."""


@dataclass(frozen=True, eq=False)
class Assigned:
    """A one-to-one table, the sum of its scores and by how much any other could exceed it.

    `gap` is sum_k [max_u (S[k, u] - v[u]) - (S[k, pi(k)] - v[pi(k)])] with the prices v: a bound
    over all permutations and all pairs, no estimate. `passes` over all scores were made and
    `pairs` are on the lists.
    """

    table: IdTable
    value: float
    gap: float
    passes: int
    pairs: int

    @property
    def is_optimal(self) -> bool:
        """Whether no pseudonym could gain more than a tie, 1e-9, by any other pair."""
        return self.gap <= TIE * len(self.table.users)


def assign_on_shortlists(
    scores: Scores | ArrayLike, *, length: int = LENGTH, passes: int = PASSES
) -> Assigned:
    """The permutation pi that maximises sum_k S[k, pi(k)], without holding the matrix.

    Every pseudonym begins with its `length` best users and every user with its 4 best
    pseudonyms. The best permutation on the lists comes with prices v of users. Then all scores
    are read again, block by block: a user u with S[k, u] - v[u] above that of k's own user joins
    the list of k, the 8 best ones at a time. When nobody has such a user, no permutation of all
    is better; after `passes` readings the remaining gap is stated instead. Finite scores only;
    O(m^2) for a pass, O(m x length) memory beside a block of rows.

    >>> found = assign_on_shortlists([[5.0, 4.0], [5.0, 0.0]], length=1)
    >>> found.table.users.tolist(), found.value, found.gap, found.is_optimal
    ([1, 0], 9.0, 0.0, True)
    """
    if length < 1 or passes < 1:
        raise InvalidParameter(
            f"shortlists need a length and passes of at least 1, got {length} and {passes}"
        )
    held = scores if isinstance(scores, Scores) else MatrixScores(scores)
    m = held.n_users
    prices = Prices.zero(m)
    pairs = _first_lists(held, min(length, m), min(COLUMN_LENGTH, m))
    least: Assigned | None = None
    for done in range(1, passes + 1):
        prices.assign(pairs)
        better, regrets, value = _better_pairs(held, prices, min(-(-length // 2), m))
        gap = float(regrets.sum())
        if least is None or gap < least.gap:
            least = Assigned(IdTable.of(prices.user_of), value, gap, done, len(pairs.users))
        more = pairs.joined(better)
        if regrets.max(initial=0.0) <= TIE or len(more.users) == len(pairs.users):
            break
        pairs = more
    assert least is not None
    return least


def _first_lists(scores: Scores, length: int, column_length: int) -> Pairs:
    """The best users of every pseudonym, the best pseudonyms of every user, and a way out."""
    m, blocks = scores.n_users, []
    column_rows = np.zeros((m, column_length), dtype=np.int32)
    column_scores = np.full((m, column_length), -np.inf)
    nothing = np.zeros(m)

    def look(low: int, rows: NDArray[np.float64]) -> None:
        if not np.isfinite(rows).all():
            raise InvalidTraces("an optimal assignment needs finite scores")
        blocks.append(_best_of_block(low, rows, nothing, length))
        map_blocks(
            lambda begin, end: offer_rows(
                low, rows[:, begin:end], column_rows[begin:end], column_scores[begin:end]
            ),
            m,
        )

    _each_block(scores, look)
    users = np.concatenate([np.zeros(0, np.int32), *(users.ravel() for users, _ in blocks)])
    gains = np.concatenate([np.zeros(0), *(gains.ravel() for _, gains in blocks)])
    lists = Pairs.of(
        m,
        np.concatenate([np.repeat(np.arange(m), length), column_rows.ravel().astype(np.int64)]),
        np.concatenate([users, np.repeat(np.arange(m, dtype=np.int32), column_length)]),
        np.concatenate([gains, column_scores.ravel()]),
    )
    return _made_feasible(scores, lists)


def _made_feasible(scores: Scores, pairs: Pairs) -> Pairs:
    """The pairs, and enough among those left over that everybody can have somebody."""
    from scipy.sparse.csgraph import maximum_bipartite_matching

    m = scores.n_users
    graph = csr_array((np.ones(len(pairs.users), np.int8), pairs.users, pairs.offsets), (m, m))
    user_of = maximum_bipartite_matching(graph, perm_type="column")
    lonely = np.flatnonzero(user_of < 0)
    if len(lonely) == 0:
        return pairs
    free = np.setdiff1d(np.arange(m), user_of[user_of >= 0]).astype(np.int32)
    each = min(len(free), max(1, min(REST_PAIRS * m, MOST_REST_PAIRS) // len(lonely)))
    steps = (np.arange(len(lonely))[:, None] + np.arange(each)) % len(free)
    offered, gains = free[steps], np.empty(steps.shape)
    for low, high in _touched_blocks(scores, lonely):
        rows = scores.rows(low, high)
        here = slice(*np.searchsorted(lonely, (low, high)))
        gains[here] = rows[lonely[here, None] - low, offered[here]]
    return pairs.joined(Pairs.of(m, np.repeat(lonely, each), offered.ravel(), gains.ravel()))


def _better_pairs(
    scores: Scores, prices: Prices, most: int
) -> tuple[Pairs, NDArray[np.float64], float]:
    """Pairs that are better than those given, what each pseudonym could gain, sum of scores."""
    m = scores.n_users
    regrets, own = np.zeros(m), np.zeros(m)
    rows_of, users_of, scores_of = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)], [np.zeros(0)]

    def look(low: int, rows: NDArray[np.float64]) -> None:
        here = np.arange(low, low + len(rows))
        given = prices.user_of[here]
        own[here] = rows[here - low, given]
        net = own[here] - prices.of_user[given]
        users, gains = _best_of_block(low, rows, prices.of_user, most)
        regrets[here] = np.maximum(0.0, gains.max(axis=1) - net)
        k, j = np.nonzero(gains > net[:, None] + TIE)
        rows_of.append(here[k])
        users_of.append(users[k, j])
        scores_of.append(rows[k, users[k, j]])

    _each_block(scores, look)
    better = Pairs.of(
        m, np.concatenate(rows_of), np.concatenate(users_of), np.concatenate(scores_of)
    )
    return better, regrets, float(own.sum())


def _each_block(scores: Scores, look: Callable[[int, NDArray[np.float64]], None]) -> None:
    """Show all rows, a block at a time."""
    for low, high in scores.row_blocks():
        look(low, scores.rows(low, high))


def _touched_blocks(scores: Scores, rows: NDArray[np.int64]) -> list[tuple[int, int]]:
    """The blocks that hold any of these rows."""
    return [
        (low, high)
        for low, high in scores.row_blocks()
        if np.searchsorted(rows, low) < np.searchsorted(rows, high)
    ]


def _best_of_block(
    low: int, rows: NDArray[np.float64], prices: NDArray[np.float64], most: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The `most` users with the largest score minus price of each row, and those differences."""
    users = np.zeros((len(rows), most), dtype=np.int32)
    gains = np.full((len(rows), most), -np.inf)
    map_blocks(
        lambda begin, end: _offer_users(
            low + begin, rows[begin:end], prices, users[begin:end], gains[begin:end]
        ),
        len(rows),
    )
    return users, gains


@kernel
def _offer_users(
    first: int,
    rows: NDArray[np.float64],
    prices: NDArray[np.float64],
    users: NDArray[np.int32],
    gains: NDArray[np.float64],
) -> None:
    """Keep the best users of each row in descending order.

    Row k looks at user k first and goes round: where many users tie, rows name different ones.
    """
    m = rows.shape[1]
    for k in range(rows.shape[0]):
        for step in range(m):
            u = (first + k + step) % m
            gain = rows[k, u] - prices[u]
            if gain > gains[k, -1]:
                _insert(users[k], gains[k], u, gain)


@kernel
def offer_rows(
    first: int,
    rows: NDArray[np.float64],
    kept: NDArray[np.int32],
    gains: NDArray[np.float64],
) -> None:
    """Keep the best rows of each user in descending order, among those kept before and these.

    Of equal ones the first stays in front.
    """
    for k in range(rows.shape[0]):
        for u in range(rows.shape[1]):
            if rows[k, u] > gains[u, -1]:
                _insert(kept[u], gains[u], first + k, rows[k, u])


@kernel
def _insert(names: NDArray[np.int32], values: NDArray[np.float64], name: int, value: float) -> None:
    """Put a name into a list that descends by value; the last one falls out."""
    at = len(values) - 1
    while at > 0 and values[at - 1] < value:
        names[at], values[at] = names[at - 1], values[at - 1]
        at -= 1
    names[at], values[at] = name, value
