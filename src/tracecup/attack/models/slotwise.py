"""Log-likelihoods that know the slot: every pseudonym under every user's release probabilities.

One table per slot, a row for each distinct cell that was released at it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tracecup import scratch
from tracecup.attack.models.bags import Bags, bag_cells
from tracecup.attack.models.running import Running, enter
from tracecup.attack.scores import Scores, best_of_rows
from tracecup.attack.usertables import UserTables, tables_of, user_blocks
from tracecup.engine import map_blocks
from tracecup.kernels import kernel
from tracecup.traces import SetTraces

FLOOR = 1e-12
MAX_ENTRIES = 1 << 25
"""Rows times users of the largest table of one slot: 128 MiB."""
TILE_ENTRIES = 1 << 23
"""Pseudonyms times users whose scores are made at a time: 64 MiB."""
SQUARE = 32
Tiles = Iterator[tuple[slice, slice, NDArray[np.float64]]]


def slot_likelihoods(expected: UserTables | NDArray[np.float32], released: SetTraces) -> SlotScores:
    """S[k, u] = sum over cells of log(sum over members y of O[u, t, y]), deleted cells left out.

    `expected` is O (users, slots, regions): how likely user u is released as y at slot t; at
    least 1e-12.
    """
    return SlotScores(tables_of(expected), released)


class SlotScores(Scores):
    """The scores of `slot_likelihoods`, a tile of pseudonyms and users at a time.

    Equal cells of a slot share a row of a table, and rows are made for so many pseudonyms at a
    time that a table stays within 128 MiB. O(cells users) time for single regions, and
    O(members users) more for each distinct set of a slot. `best()` needs memory for one block of
    users; `rows()` makes the whole matrix once, 8 m^2 bytes, in a file where that is large.
    Every score is the same number whatever the tiles.
    """

    def __init__(self, expected: UserTables, released: SetTraces) -> None:
        self.n_users = expected.shape[0]
        self._expected, self._released = expected, released
        self._matrix: NDArray[np.float64] | None = None

    def rows(self, low: int, high: int) -> NDArray[np.float64]:
        """Scores of pseudonyms low..high-1 (a view)."""
        if self._matrix is None:
            matrix = scratch.empty((self.n_users, self.n_users))
            for pseudonyms, users, scores in self._tiles():
                matrix[pseudonyms, users] = scores
            self._matrix = matrix
        return self._matrix[low:high]

    def best(self) -> NDArray[np.int32]:
        m = self.n_users
        if self._matrix is not None or 8 * m * m <= scratch.held_bytes():
            return super().best()
        running = Running.of(m)
        for pseudonyms, users, scores in self._tiles():
            _show(running, pseudonyms.start, users.start, scores)
        best, undecided = running.best(), running.undecided()
        if len(undecided):
            answer = np.empty(len(undecided), dtype=np.int32)
            best_of_rows(self._rows_of(undecided), answer)
            best[undecided] = answer
        return best

    def _rows_of(self, pseudonyms: NDArray[np.int64]) -> NDArray[np.float64]:
        """Whole rows of some pseudonyms."""
        out = scratch.empty((len(pseudonyms), self.n_users))
        some = self._released.take_users(pseudonyms)
        for chosen, users, scores in self._tiles(some):
            out[chosen, users] = scores
        return out

    def _tiles(self, released: SetTraces | None = None) -> Tiles:
        """(pseudonyms, users, scores) for all of `released`, users block by block."""
        shown = self._released if released is None else released
        days = shown.clock.days
        for begin, end in scratch.stepped(user_blocks(self._expected)):
            expected = _by_slot(self._expected.block(begin, end))
            width = end - begin
            step = max(1, min(MAX_ENTRIES // (width * days), TILE_ENTRIES // width))
            for low in range(0, shown.n_users, step):
                high = min(low + step, shown.n_users)
                scores = np.zeros((high - low, width))
                _add_slots(shown.take_users(slice(low, high)), expected, scores)
                yield slice(low, high), slice(begin, end), scores


def _by_slot(tables: NDArray[np.float32]) -> NDArray[np.float32]:
    """Tables (users, slots, regions) turned to (slots, regions, users), in threads."""
    users, slots, regions = tables.shape
    turned = np.empty((slots, regions, users), dtype=np.float32)
    map_blocks(lambda low, high: _turn(tables[:, low:high], turned[low:high]), slots)
    return turned


def _show(
    running: Running, first_pseudonym: int, first_user: int, scores: NDArray[np.float64]
) -> None:
    """Show the users of a tile to its pseudonyms."""

    def work(low: int, high: int) -> None:
        at = slice(first_pseudonym + low, first_pseudonym + high)
        _offer(
            scores[low:high], first_user, running.users[at], running.scores[at],
            running.counts[at],
        )  # fmt: skip

    map_blocks(work, len(scores))


def _add_slots(
    released: SetTraces, expected: NDArray[np.float32], scores: NDArray[np.float64]
) -> None:
    """Add the log-likelihoods of all cells under `expected` (slots, regions, users)."""
    slots, regions, _ = expected.shape
    everywhere = np.ones(regions, dtype=np.bool_)
    for slot in range(slots):
        cells = released.take_slots([slot])
        bags = bag_cells(cells, regions, everywhere, cells.n_users * cells.times + 1)
        assert bags is not None  # no more sets than cells
        _add(bags, _table(bags, expected[slot]), scores)


def _table(bags: Bags, expected: NDArray[np.float32]) -> NDArray[np.float32]:
    """table[d, u] = log sum over the regions of row d of `expected` (regions, users)."""
    table = np.empty((bags.n_rows, expected.shape[1]), dtype=np.float32)
    map_blocks(
        lambda low, high: _fill_table(
            bags.row_offsets[low : high + 1], bags.row_regions, expected, table[low:high]
        ),
        bags.n_rows,
    )
    return table


def _add(bags: Bags, table: NDArray[np.float32], totals: NDArray[np.float64]) -> None:
    map_blocks(
        lambda low, high: _add_rows(
            bags.ids[low:high], bags.weights[low:high], bags.lengths[low:high], table,
            totals[low:high],
        ),
        len(totals),
    )  # fmt: skip


@kernel
def _turn(tables: NDArray[np.float32], turned: NDArray[np.float32]) -> None:
    """turned[t, x, u] = tables[u, t, x], in squares that stay near the core."""
    users, slots, regions = tables.shape
    for t in range(slots):
        for first in range(0, users, SQUARE):
            for begin in range(0, regions, SQUARE):
                for x in range(begin, min(begin + SQUARE, regions)):
                    for u in range(first, min(first + SQUARE, users)):
                        turned[t, x, u] = tables[u, t, x]


@kernel
def _fill_table(
    offsets: NDArray[np.int64],
    members: NDArray[np.int32],
    expected: NDArray[np.float32],
    table: NDArray[np.float32],
) -> None:
    for d in range(len(table)):
        row = table[d]
        row[:] = 0.0
        for at in range(offsets[d], offsets[d + 1]):
            source = expected[members[at]]
            for u in range(len(row)):
                row[u] += source[u]
        for u in range(len(row)):
            row[u] = math.log(max(row[u], FLOOR))


@kernel
def _add_rows(
    ids: NDArray[np.int32],
    weights: NDArray[np.float64],
    lengths: NDArray[np.int64],
    table: NDArray[np.float32],
    totals: NDArray[np.float64],
) -> None:
    """totals[k] += sum of weights[k, j] * table[ids[k, j]]."""
    for k in range(len(totals)):
        out = totals[k]
        for j in range(lengths[k]):
            weight, row = weights[k, j], table[ids[k, j]]
            for u in range(len(out)):
                out[u] += weight * row[u]


@kernel
def _offer(
    rows: NDArray[np.float64],
    first_user: int,
    users: NDArray[np.int32],
    scores: NDArray[np.float64],
    counts: NDArray[np.int8],
) -> None:
    """Show users first_user and on to every pseudonym; see `Running`."""
    for k in range(len(rows)):
        row = rows[k]
        for u in range(len(row)):
            n = counts[k]
            if n == 0 or (n > 0 and row[u] > scores[k, n - 1]):
                enter(users[k], scores[k], counts, k, first_user + u, row[u])
