"""Scores of a release under models of users: a table of distinct things times who has them.

Blocks of users in threads, sums in float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.markov.chains import Chains, Starts
from tracecup.attack.markov.events import Events, cell_events, move_events
from tracecup.attack.scores import Scores
from tracecup.engine import map_blocks
from tracecup.kernels import inlined, kernel
from tracecup.traces import SetTraces

USERS_AT_ONCE = 64
"""Users of a block; fixed, since sums must not depend on the number of threads."""


class Visitors(NamedTuple):
    """Who left a region: region i was left by users `user[at[i] : at[i + 1]]`, in rows `row`.

    Row q holds her moves from there: entries `row_moves[q] : row_moves[q + 1]` of `to` and `own`.
    """

    at: NDArray[np.int64]
    user: NDArray[np.int64]
    row: NDArray[np.int64]
    row_moves: NDArray[np.int64]
    to: NDArray[np.int32]
    own: NDArray[np.float64]


class CellScores(Scores):
    """S[k, u] = sum over the cells of pseudonym k of log(mean over members r of B_u[r]).

    `beliefs(low, high)` gives B of users low..high-1, shape (high - low, regions), positive.
    Deleted cells contribute nothing. O(distinct cells x members x users + cells x users).

    >>> scores = CellScores(
    ...     SetTraces.of_cells([[[0], [0, 1]], [[], [1]]]),
    ...     lambda low, high: np.array([[0.5, 0.5], [0.25, 0.75]])[low:high],
    ... )
    >>> np.exp(scores.rows(0, 2)).round(4).tolist()
    [[0.25, 0.125], [0.5, 0.75]]
    """

    def __init__(self, released: SetTraces, beliefs: Starts, n_users: int | None = None) -> None:
        self.n_users = n_users or released.n_users
        self._released, self._beliefs = released, beliefs

    def rows(self, low: int, high: int) -> NDArray[np.float64]:
        events = cell_events(self._released.take_users(slice(low, high)))

        def add(begin: int, end: int, out: NDArray[np.float64]) -> None:
            belief = np.ascontiguousarray(self._beliefs(begin, end).T)
            _add_cells(events, belief, out)

        return by_user_blocks(add, high - low, self.n_users)


class ChainScores(Scores):
    """S[k, u] = sum over the moves (a, b) of pseudonym k of log(mean of P_u(i, j), i in a, j in b).

    Moves are pairs of cells in consecutive slots of a day; where one of them is deleted there is
    none. With `starts`, the first cell a of every day adds log(mean of its P_u(i), i in a).

    For a move the background of the chain needs the members of the first cell only, because its
    factors are summed over the second cell beforehand; own moves are looked up where a user has
    any. Where all users share one background, users who never left a member of the first cell are
    not looked at: O(moves x members x users who left one). Else O(distinct moves x members x users
    x z + moves x users). Blocks of users in threads.
    """

    def __init__(self, released: SetTraces, chains: Chains, starts: Starts | None = None) -> None:
        self.n_users = released.n_users
        self._released, self._chains, self._starts = released, chains, starts

    def rows(self, low: int, high: int) -> NDArray[np.float64]:
        released = self._released.take_users(slice(low, high))
        events = move_events(released)
        add = self._add_personal if self._chains.per_user else self._add_shared
        out = np.zeros((high - low, self.n_users))
        for begin, end in events.chunks():
            add(events, begin, end, out)
        if self._starts is not None:
            firsts = CellScores(released.take_slots([0]), self._starts, self.n_users)
            out += firsts.rows(0, high - low)
        return out

    def _add_shared(self, events: Events, low: int, high: int, out: NDArray[np.float64]) -> None:
        """Moves low..high-1 where everybody has one background."""
        chains = self._chains
        factors, extra = _background(events, chains, low, high)
        background = factors.sum(axis=1) + extra
        sizes = np.diff(events.cell_offsets)[events.first[low:high]]
        begins = np.cumsum(sizes) - sizes
        base = np.add.reduceat(background, begins)
        entries = slice(events.at[low], events.at[high])
        common = np.repeat(np.log(base / sizes), np.diff(events.at[low : high + 1]))
        out += np.bincount(events.who[entries], events.often[entries] * common, minlength=len(out))[
            :, None
        ]

        def work(first_user: int, last_user: int) -> None:
            block = np.zeros((len(out), last_user - first_user))
            visitors = _visitors(chains, first_user, last_user)
            _add_shared_moves(events, low, high, background, base, chains.keep, visitors, block)
            out[:, first_user:last_user] += block

        map_blocks(work, self.n_users)

    def _add_personal(self, events: Events, low: int, high: int, out: NDArray[np.float64]) -> None:
        """Moves low..high-1 where every user has a background of her own."""
        chains = self._chains
        going_on = (_floored if chains.floor else _factored)(events, chains, low, high)

        def add(first_user: int, last_user: int, block: NDArray[np.float64]) -> None:
            background = going_on(np.ascontiguousarray(chains.weights[first_user:last_user].T))
            keep = chains.keep_columns(first_user, last_user)
            visitors = _visitors(chains, first_user, last_user)
            _add_moves(events, low, high, background, keep, visitors, block)

        out += by_user_blocks(add, len(out), self.n_users)


def by_user_blocks(
    add: Callable[[int, int, NDArray[np.float64]], None], n_rows: int, n_users: int
) -> NDArray[np.float64]:
    """Let `add(low, high, block)` fill blocks of columns, in threads; shape (n_rows, n_users)."""
    out = np.zeros((n_rows, n_users))
    blocks = math.ceil(n_users / USERS_AT_ONCE)

    def work(low: int, high: int) -> None:
        for number in range(low, high):
            begin = number * USERS_AT_ONCE
            end = min(begin + USERS_AT_ONCE, n_users)
            block = np.zeros((n_rows, end - begin))
            add(begin, end, block)
            out[:, begin:end] = block

    map_blocks(work, blocks)
    return out


def _background(
    events: Events, chains: Chains, low: int, high: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For every member i of the first cell of moves low..high-1, the background of going on.

    Factors left[i] * mean of right over the second cell, shape (members, z), and the mean of
    extra[i, j] over it, shape (members,).
    """
    sizes = np.diff(events.cell_offsets)
    members = int(sizes[events.first[low:high]].sum())
    factors = np.empty((members, chains.left.shape[1]))
    extra = np.zeros(members)
    more = chains.extra
    _fill_background(
        events, low, high, chains.left, chains.right, more.indptr, more.indices, more.data,
        factors, extra,
    )  # fmt: skip
    return factors, extra


def _factored(
    events: Events, chains: Chains, low: int, high: int
) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Weights of users (z, users) -> their backgrounds of moves low..high-1, (members, users)."""
    factors, _ = _background(events, chains, low, high)
    return lambda weights: np.asarray(factors @ weights)


def _floored(
    events: Events, chains: Chains, low: int, high: int
) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """The same where every region of the second cell has at least the floor, so that a cell
    cannot be summed beforehand.
    """
    members = int(np.diff(events.cell_offsets)[events.first[low:high]].sum())

    def going_on(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        background = np.zeros((members, weights.shape[1]))
        _fill_floored(
            events, low, high, chains.left, chains.right, weights, chains.floor, background
        )
        return background

    return going_on


def _visitors(chains: Chains, low: int, high: int) -> Visitors:
    """Rows of users low..high-1 by the region they leave; users are numbered from 0."""
    moves = chains.moves
    rows = np.arange(moves.user_rows[low], moves.user_rows[high])
    order = np.argsort(moves.left[rows], kind="stable")
    bounds = np.searchsorted(moves.left[rows][order], np.arange(chains.n_regions + 1))
    user = moves.user_of_row[rows[order]] - low
    return Visitors(bounds, user, rows[order], moves.row_moves, moves.to, chains.own)


@kernel
def _add_cells(events: Events, belief: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    cell_offsets, cell_regions = events.cell_offsets, events.cell_regions
    at, who, count = events.at, events.who, events.often
    users = belief.shape[1]
    value = np.empty(users)
    for c in range(len(at) - 1):
        value[:] = 0.0
        for k in range(cell_offsets[c], cell_offsets[c + 1]):
            row = belief[cell_regions[k]]
            for u in range(users):
                value[u] += row[u]
        size = cell_offsets[c + 1] - cell_offsets[c]
        for u in range(users):
            value[u] = math.log(value[u] / size)
        for k in range(at[c], at[c + 1]):
            row = out[who[k]]
            for u in range(users):
                row[u] += count[k] * value[u]


@kernel
def _fill_background(
    events: Events,
    low: int,
    high: int,
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    extra_at: NDArray[np.int32],
    extra_to: NDArray[np.int32],
    extra_value: NDArray[np.float64],
    factors: NDArray[np.float64],
    extra: NDArray[np.float64],
) -> None:
    cell_offsets, cell_regions = events.cell_offsets, events.cell_regions
    first, second = events.first, events.second
    z = left.shape[1]
    share = np.zeros(left.shape[0])
    mean = np.empty(z)
    row = 0
    for d in range(low, high):
        begin, end = cell_offsets[second[d]], cell_offsets[second[d] + 1]
        mean[:] = 0.0
        for k in range(begin, end):
            share[cell_regions[k]] += 1.0 / (end - begin)
            for f in range(z):
                mean[f] += right[cell_regions[k], f] / (end - begin)
        for k in range(cell_offsets[first[d]], cell_offsets[first[d] + 1]):
            i = cell_regions[k]
            for f in range(z):
                factors[row, f] = left[i, f] * mean[f]
            for q in range(extra_at[i], extra_at[i + 1]):
                extra[row] += extra_value[q] * share[extra_to[q]]
            row += 1
        for k in range(begin, end):
            share[cell_regions[k]] = 0.0


@kernel
def _fill_floored(
    events: Events,
    low: int,
    high: int,
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    weights: NDArray[np.float64],
    floor: float,
    background: NDArray[np.float64],
) -> None:
    """Mean over the second cell of max(rate, floor), for every member of the first cells."""
    cell_offsets, cell_regions = events.cell_offsets, events.cell_regions
    first, second = events.first, events.second
    z, users = weights.shape
    rate = np.empty(users)
    member = 0
    for d in range(low, high):
        begin, end = cell_offsets[second[d]], cell_offsets[second[d] + 1]
        for k in range(cell_offsets[first[d]], cell_offsets[first[d] + 1]):
            i, out = cell_regions[k], background[member]
            for q in range(begin, end):
                rate[:] = 0.0
                for f in range(z):
                    factor = left[i, f] * right[cell_regions[q], f]
                    for u in range(users):
                        rate[u] += factor * weights[f, u]
                for u in range(users):
                    out[u] += max(rate[u], floor) / (end - begin)
            member += 1


@inlined
def _own_share(visitors: Visitors, q: int, share: NDArray[np.float64]) -> float:
    """What her own moves of row q give to the second cell."""
    total = 0.0
    for j in range(visitors.row_moves[q], visitors.row_moves[q + 1]):
        total += visitors.own[j] * share[visitors.to[j]]
    return total


@kernel
def _add_moves(
    events: Events,
    low: int,
    high: int,
    background: NDArray[np.float64],
    keep: NDArray[np.float64],
    visitors: Visitors,
    out: NDArray[np.float64],
) -> None:
    """Add moves low..high-1 to the scores of a block of users."""
    cell_offsets, cell_regions = events.cell_offsets, events.cell_regions
    first, second = events.first, events.second
    at, who, count = events.at, events.who, events.often
    users = keep.shape[1]
    share = np.zeros(keep.shape[0])
    value = np.empty(users)
    member = 0
    for d in range(low, high):
        begin, end = cell_offsets[second[d]], cell_offsets[second[d] + 1]
        for k in range(begin, end):
            share[cell_regions[k]] += 1.0 / (end - begin)
        value[:] = 0.0
        for k in range(cell_offsets[first[d]], cell_offsets[first[d] + 1]):
            i = cell_regions[k]
            for u in range(users):
                value[u] += keep[i, u] * background[member, u]
            member += 1
            for v in range(visitors.at[i], visitors.at[i + 1]):
                value[visitors.user[v]] += _own_share(visitors, visitors.row[v], share)
        size = cell_offsets[first[d] + 1] - cell_offsets[first[d]]
        for u in range(users):
            value[u] = math.log(value[u] / size)
        for k in range(at[d], at[d + 1]):
            row = out[who[k]]
            for u in range(users):
                row[u] += count[k] * value[u]
        for k in range(begin, end):
            share[cell_regions[k]] = 0.0


@kernel
def _add_shared_moves(
    events: Events,
    low: int,
    high: int,
    background: NDArray[np.float64],
    base: NDArray[np.float64],
    keep: NDArray[np.float64],
    visitors: Visitors,
    out: NDArray[np.float64],
) -> None:
    """Add what moves low..high-1 say beyond the background, for a block of users."""
    cell_offsets, cell_regions = events.cell_offsets, events.cell_regions
    first, second = events.first, events.second
    at, who, count = events.at, events.who, events.often
    share = np.zeros(len(visitors.at) - 1)
    change = np.zeros(out.shape[1])
    is_found = np.zeros(out.shape[1], dtype=np.bool_)
    found = np.empty(out.shape[1], dtype=np.int64)
    member = 0
    for d in range(low, high):
        begin, end = cell_offsets[second[d]], cell_offsets[second[d] + 1]
        for k in range(begin, end):
            share[cell_regions[k]] += 1.0 / (end - begin)
        n = 0
        for k in range(cell_offsets[first[d]], cell_offsets[first[d] + 1]):
            i = cell_regions[k]
            for v in range(visitors.at[i], visitors.at[i + 1]):
                u, q = visitors.user[v], visitors.row[v]
                if not is_found[u]:
                    is_found[u] = True
                    found[n] = u
                    n += 1
                change[u] += (keep[q] - 1.0) * background[member]
                change[u] += _own_share(visitors, q, share)
            member += 1
        for c in range(n):
            u = found[c]
            said = math.log1p(change[u] / base[d - low])
            for k in range(at[d], at[d + 1]):
                out[who[k], u] += count[k] * said
            change[u], is_found[u] = 0.0, False
        for k in range(begin, end):
            share[cell_regions[k]] = 0.0
