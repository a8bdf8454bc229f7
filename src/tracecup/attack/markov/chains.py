"""Transition matrices of users, kept sparse: own moves on top of a background all share.

Three estimators: `floor` (plain shares), `lpm` (a tiny uniform prior), `shrunk` (towards the pool).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tracecup import scratch
from tracecup.engine import map_blocks
from tracecup.kernels import kernel
from tracecup.traces import Traces, transition_counts, user_transition_counts, visit_counts

ESTIMATORS = ("floor", "lpm", "shrunk")
ESTIMATOR = (
    "transition matrices: shares with 1e-8 for unseen moves, a tiny uniform prior, or shrunk "
    "towards everybody's"
)
SHRINK = "weight of everybody's moves, in moves (estimator shrunk, and the start of a day)"
FLOOR = 1e-8
PRIOR = 0.01
"""Total weight of the uniform prior of one row (`lpm`), and of the pooled matrix."""

PERIODS = (0, 2, 10, 17, 20)
"""Where parts of the day begin, in slots of a day of 20."""

Starts = Callable[[int, int], NDArray[np.float64]]
"""(low, high) -> where users low..high-1 begin a day, shape (high - low, regions)."""


@dataclass(frozen=True, eq=False)
class Moves:
    """Counts of moves: user u has rows `user_rows[u] : user_rows[u + 1]`, one per region left.

    Row q leaves region `left[q]`, `total[q]` times in all; its moves are entries
    `row_moves[q] : row_moves[q + 1]` of `to` (ascending) and `count`.
    """

    user_rows: NDArray[np.int64]
    left: NDArray[np.int32]
    total: NDArray[np.float64]
    row_moves: NDArray[np.int64]
    to: NDArray[np.int32]
    count: NDArray[np.float64]

    @classmethod
    def of_counts(cls, counts: sparse.csr_array, n_regions: int) -> Moves:
        """From a (users, X * X) table of counts whose columns are i * X + j; O(entries)."""
        counts.sort_indices()
        user = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        left = (counts.indices // n_regions).astype(np.int32)
        begins = np.ones(len(left), dtype=np.bool_)
        begins[1:] = (left[1:] != left[:-1]) | (user[1:] != user[:-1])
        first = np.flatnonzero(begins)
        row_moves = np.append(first, len(left)).astype(np.int64)
        total = np.add.reduceat(counts.data, first) if len(first) else np.empty(0)
        user_rows = np.searchsorted(user[first], np.arange(counts.shape[0] + 1))
        to = (counts.indices % n_regions).astype(np.int32)
        return cls(user_rows, left[first], total, row_moves, to, counts.data.astype(np.float64))

    @classmethod
    def of_traces(cls, traces: Traces, n_regions: int) -> Moves:
        """Moves within a day between observed events."""
        return cls.of_counts(user_transition_counts(traces, n_regions), n_regions)

    @cached_property
    def row_of_move(self) -> NDArray[np.int64]:
        """The row of every entry."""
        return np.repeat(np.arange(len(self.left)), np.diff(self.row_moves))

    @cached_property
    def user_of_row(self) -> NDArray[np.int64]:
        """The user of every row."""
        return np.repeat(np.arange(len(self.user_rows) - 1), np.diff(self.user_rows))


@dataclass(frozen=True, eq=False)
class Periods:
    """Moves counted apart by parts of the day: `of_slot[t]` is the part of moves that leave slot t.

    `moves[k]` are those of part k; `b` weighs the matrix of the whole day against them.
    """

    of_slot: NDArray[np.int64]
    moves: tuple[Moves, ...]
    b: float


@dataclass(frozen=True, eq=False)
class Chains:
    """Transition matrices P_u(i, j) = keep_u(i) back_u(i, j) + own_u(i, j) of m users.

    `keep` (one per row of `moves`, 1 for regions a user never left) and `own` (one per entry) are
    personal. back_u(i, j) = sum_k weights[u, k] left[i, k] right[j, k] + extra[i, j]; with
    `per_user` the sum is divided by sum_k weights[u, k] left[i, k], which makes rows of a
    factorisation sum to one. With a `floor`, too, the sum is at least so much (factors may be
    negative) and is divided by its own sum over j. Otherwise `weights` is all ones and everybody
    has one background.
    With `periods`, who follows a chain through a day has a matrix for each part of it.

    Memory: O(moves of all users + (m + 2 X) z + pooled moves); a dense matrix exists for one user
    at a time, and only where somebody asks for it (`matrix`).
    """

    moves: Moves
    keep: NDArray[np.float64]
    own: NDArray[np.float64]
    weights: NDArray[np.float64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    extra: sparse.csr_array
    per_user: bool = False
    periods: Periods | None = None
    floor: float = 0.0

    @property
    def n_users(self) -> int:
        """Number of users, m."""
        return len(self.weights)

    @property
    def n_regions(self) -> int:
        """Number of regions, X."""
        return len(self.left)

    def keep_columns(self, low: int, high: int) -> NDArray[np.float64]:
        """keep_u(i) of users low..high-1, divided by the row sums of the factors if `per_user`.

        Shape (regions, high - low); multiplied with the factors' part it gives the background.
        """
        columns = np.ones((self.n_regions, high - low))
        if self.floor:
            columns /= self._floored_sums[:, low:high]
        elif self.per_user:
            columns /= self.left @ self.weights[low:high].T
        rows = slice(self.moves.user_rows[low], self.moves.user_rows[high])
        user = self.moves.user_of_row[rows] - low
        columns[self.moves.left[rows], user] *= self.keep[rows]
        return columns

    @cached_property
    def _floored_sums(self) -> NDArray[np.float64]:
        """sum_j max(rate(u, i, j), floor), shape (regions, users); O(m X^2 z) once."""
        sums = scratch.empty((self.n_regions, self.n_users))
        right = np.ascontiguousarray(self.right.T)

        def work(low: int, high: int) -> None:
            _sum_floored(self.weights[low:high], self.left, right, self.floor, sums[:, low:high])

        map_blocks(work, self.n_users)
        return sums

    @cached_property
    def _shared(self) -> NDArray[np.float64]:
        """The background of everybody as a whole, shape (regions, regions)."""
        return np.asarray(self.left @ self.right.T + self.extra.toarray())

    def matrix(self, user: int) -> NDArray[np.float64]:
        """P_u as a whole, shape (regions, regions); O(X^2), times z if `per_user`."""
        matrix: NDArray[np.float64]
        if self.per_user:
            matrix = (self.left * self.weights[user]) @ self.right.T
            if self.floor:
                np.maximum(matrix, self.floor, out=matrix)
        else:
            matrix = self._shared.copy()
        matrix *= self.keep_columns(user, user + 1)
        moves = self.moves
        rows = slice(moves.user_rows[user], moves.user_rows[user + 1])
        at = slice(moves.row_moves[rows.start], moves.row_moves[rows.stop])
        matrix[moves.left[moves.row_of_move[at]], moves.to[at]] += self.own[at]
        return matrix

    def stochastic(self, user: int) -> NDArray[np.float64]:
        """Her matrices with rows that sum to 1, shape (periods, regions, regions).

        Part k of the day: (c_k(i,j) + b P_u(i,j)) / (c_k(i) + b) with her moves c_k in that part.
        """
        whole = self.matrix(user)
        whole /= whole.sum(axis=1, keepdims=True)
        if self.periods is None:
            return whole[None]
        return np.stack(
            [_blended(whole, part, user, self.periods.b) for part in self.periods.moves]
        )

    def slot_periods(self, slots: int) -> NDArray[np.int64]:
        """Which of her matrices holds for moves that leave each slot."""
        return np.zeros(slots, dtype=np.int64) if self.periods is None else self.periods.of_slot


def _blended(whole: NDArray[np.float64], moves: Moves, user: int, b: float) -> NDArray[np.float64]:
    """One user's matrix with `b` moves of weight, and her moves of a part of the day on top."""
    rows = slice(moves.user_rows[user], moves.user_rows[user + 1])
    left, total = moves.left[rows], moves.total[rows]
    at = slice(moves.row_moves[rows.start], moves.row_moves[rows.stop])
    row = moves.row_of_move[at]
    matrix = whole.copy()
    matrix[left] *= (b / (total + b))[:, None]
    matrix[moves.left[row], moves.to[at]] += moves.count[at] / (moves.total[row] + b)
    return matrix


def day_periods(reference: Traces, n_regions: int, b: float = 20.0) -> Periods:
    """Four parts of the day: of 20 slots 0-1, 2-9, 10-16 and 17-19, else the same shares of a day.

    >>> day_periods(Traces.of([[0, 1] * 10]), 2).of_slot.tolist()
    [0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3]
    """
    slots = reference.clock.slots
    cuts = [round(cut * slots / 20) for cut in PERIODS]
    of_slot = np.searchsorted(cuts[1:-1], np.arange(slots), side="right")
    parts = tuple(
        Moves.of_traces(reference.take_slots(_left_in(low, high, slots)), n_regions)
        for low, high in pairwise(cuts)
    )
    return Periods(of_slot, parts, b)


def _left_in(low: int, high: int, slots: int) -> range:
    """Slots between which the moves that leave slots low..high-1 happen; one slot has no moves."""
    first = min(low, slots - 1)
    return range(first, max(first + 1, min(high + 1, slots)))


def user_chains(
    reference: Traces, n_regions: int, estimator: str = "floor", b: float = 20.0
) -> Chains:
    """The chains of all users from their reference traces, by one of three estimators.

    With c_u(i, j) moves within a day, c_u(i) their row sums and X regions:

        floor   c_u(i,j) / c_u(i), and 1e-8 where the count is 0
        lpm     (c_u(i,j) + e) / (c_u(i) + e X), e = 0.01 / X
        shrunk  (c_u(i,j) + b Q(i,j)) / (c_u(i) + b), Q = everybody's matrix by `lpm`

    Unobserved events are skipped. O(events log events).

    >>> chains = user_chains(Traces.of([[0, 0, 1, 0], [2, 2, 1, 2]]), 3)
    >>> chains.matrix(0).round(3).tolist()
    [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    return estimate(
        Moves.of_traces(reference, n_regions),
        transition_counts(reference, n_regions),
        estimator,
        b,
    )


def estimate(moves: Moves, pool: sparse.csr_array, estimator: str, b: float) -> Chains:
    """The same from counts: the users' own and, for `shrunk`, everybody's (X, X)."""
    n_regions, n_users = pool.shape[0], len(moves.user_rows) - 1
    total = moves.total[moves.row_of_move]
    one = np.ones((n_regions, 1))
    nothing = sparse.csr_array((n_regions, n_regions), dtype=np.float64)
    ones = np.ones((n_users, 1))
    if estimator == "floor":
        own = moves.count / total - FLOOR
        return Chains(moves, np.ones(len(moves.left)), own, ones, FLOOR * one, one, nothing)
    mass = PRIOR if estimator == "lpm" else b
    keep = mass / (moves.total + mass)
    own = moves.count / (total + mass)
    if estimator == "lpm":
        return Chains(moves, keep, own, ones, one / n_regions, one, nothing)
    scale = 1.0 / (np.asarray(pool.sum(axis=1)).reshape(-1) + PRIOR)
    seen = sparse.csr_array(pool.multiply(scale[:, None]))
    rest = (PRIOR / n_regions * scale)[:, None]
    return Chains(moves, keep, own, ones, rest, one, seen)


def start_rows(reference: Traces, n_regions: int, start: str = "visits", b: float = 20.0) -> Starts:
    """Where each user begins a day, as a function that gives rows of users.

    `visits`: (V_u + 20 b V) / (l_u + 20 b) with her l_u visits V_u at all slots and everybody's
    shares V; `first`: (F_u + b F) / (d_u + b) with those at the first slot of the d_u days only.
    Regions that nobody visited get the share of a hundredth of a visit, spread over the city.

    >>> start_rows(Traces.of([[0, 1], [1, 1]]), 2, b=0.1)(0, 1).round(3).tolist()
    [[0.375, 0.625]]
    """
    if start == "first":
        reference, weight = reference.take_slots([0]), b
    else:
        weight = 20.0 * b
    crowd = visit_counts(reference, n_regions).sum(axis=0, dtype=np.float64) + PRIOR / n_regions
    crowd /= crowd.sum()

    def rows(low: int, high: int) -> NDArray[np.float64]:
        own = visit_counts(reference.take_users(slice(low, high)), n_regions).astype(np.float64)
        seen = own.sum(axis=1, keepdims=True)
        return np.asarray((own + weight * crowd) / (seen + weight))

    return rows


@kernel
def _sum_floored(
    weights: NDArray[np.float64],
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    floor: float,
    sums: NDArray[np.float64],
) -> None:
    """sums[i, u] = sum_j max(sum_k weights[u, k] left[i, k] right[k, j], floor)."""
    z, regions = right.shape
    row = np.empty(regions)
    for u in range(len(weights)):
        for i in range(len(left)):
            row[:] = 0.0
            for k in range(z):
                factor = weights[u, k] * left[i, k]
                for j in range(regions):
                    row[j] += factor * right[k, j]
            total = 0.0
            for j in range(regions):
                total += max(row[j], floor)
            sums[i, u] = total
