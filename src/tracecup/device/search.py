"""The exact best row of a table for every weighing: coarse chunks first, then what stays open.

Whatever the device, the answer is that of float64 with ties to the smallest.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracecup.device.arrays import Arrays, Asked
from tracecup.device.rounding import Rounding, fits_int8, half_rounding, int8_rounding
from tracecup.device.sparse import SparseRows, products

CHUNKS_KEPT = 8
TOPS_KEPT = 16
SLACK = 1.1
"""Times the tie: candidates are looked for a little further down than ties reach."""

ASKED_AT_ONCE = 64
SCORES_AT_ONCE = 1 << 26
TABLE_ROWS_AT_ONCE = 8192

Exactly = Callable[[NDArray[np.int64]], NDArray[np.integer[Any]]]
"""Numbers of weighings -> the table rows that answer them, found in another way."""


@dataclass(frozen=True, eq=False)
class Found:
    """`best[k]`: the smallest table row within the tie of the largest product with weighing k.

    `pairs` chunks were opened for the second look, `ranked` weighings were decided in float64
    among several candidates, `asked_again` could not be certified and were computed whole;
    `seconds` of every part, by name.
    """

    best: NDArray[np.int64]
    pairs: int = 0
    ranked: int = 0
    asked_again: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def certified(self) -> float:
        """Share of weighings that the bounds decided, with float64 among few candidates."""
        return 1.0 - self.asked_again / max(1, len(self.best))


def best_matches(
    arrays: Arrays,
    weights: SparseRows,
    table: SparseRows,
    tie: float = 1e-9,
    *,
    int8: bool = True,
    exactly: Exactly | None = None,
) -> Found:
    """For every row of `weights` the row of `table` with the largest product, ties to the smallest.

    1. Equal rows of the table are one: only the first can be an answer.
    2. Coarse products (int8 where the weights fit and `int8` is on, else float16) give the maximum
       of every chunk of the table. A chunk stays open if its upper bound reaches the largest
       lower bound.
    3. Open chunks are multiplied in float16; candidates are again those whose upper bound reaches
       the largest lower bound. One candidate is the answer; of several float64 decides.
    4. Where more than 8 chunks or more than 16 rows of a chunk stay open, or the numbers leave
       float16's range, `exactly` answers the weighing; without it every such one is multiplied
       with the whole table in float64 by the host. An empty weighing is a tie of all: the first.
    O(rows x table rows x columns) on the device, O(entries) on the host.

    >>> from tracecup.device import NumpyArrays
    >>> table = SparseRows.of([[15.0, 0.0], [13.0, 18.0], [13.0, 18.0]])
    >>> found = best_matches(NumpyArrays(), SparseRows.of([[2.0, 0.0], [1.0, 1.0]]), table)
    >>> found.best.tolist(), found.certified
    ([0, 1], 1.0)
    """
    first = table.first_equals()
    kept = np.flatnonzero(first == np.arange(len(table)))
    distinct = table if len(kept) == len(table) else table.take(kept)
    return _Search(arrays, weights, distinct, kept, tie, int8).run(exactly)


class _Search:
    """One search: what lies on the device, and how long each part took."""

    def __init__(
        self,
        arrays: Arrays,
        weights: SparseRows,
        table: SparseRows,
        names: NDArray[np.int64],
        tie: float,
        int8: bool,
    ) -> None:
        self.arrays, self.weights, self.table, self.tie = arrays, weights, table, tie
        self.names, self.is_empty = names, weights.lengths == 0
        self.small = int8_rounding(table) if int8 else None
        self.half = half_rounding(table, weights)
        self.seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    def run(self, exactly: Exactly | None) -> Found:
        """The answer by the names of table rows; see `best_matches`."""
        n, half = len(self.weights), self.half
        best, lost = np.zeros(n, dtype=np.int64), ~self.is_empty
        pairs = ranked = 0
        if np.isfinite(half.error) and self.table.values.size and self.weights.values.size:
            right = self.arrays.place(self.table, half.dtype, half.scale, self.arrays.chunk)
            left = self.arrays.place(self.weights, half.dtype, 1.0, self.arrays.block)
            self._lap("place")
            asked, lost = self._open_chunks(left, right)
            pairs = sum(len(rows) for _, rows in asked)
            if pairs:
                ranked = self._decide(left, right, asked, best, lost)
        best, again = self.names[best], np.flatnonzero(lost)
        if len(again):
            best[again] = exactly(again) if exactly else self.names[self._whole(again)]
        self._lap("whole rows in float64")
        return Found(best, pairs, ranked, len(again), self.seconds)

    def _open_chunks(self, left: Any, right: Any) -> tuple[list[Asked], NDArray[np.bool_]]:
        """The chunks that stay open for each row, by chunk; and rows with too many of them."""
        arrays, n = self.arrays, len(self.weights)
        small = self.small
        fits = fits_int8(self.weights) if small else np.zeros(n, dtype=np.bool_)
        rows, chunks, lost = [], [], np.zeros(n, dtype=np.bool_)
        for rounding, chosen in ((small, np.flatnonzero(fits)), (self.half, np.flatnonzero(~fits))):
            if rounding is None or not len(chosen):
                continue
            a, b = left, right
            if rounding is small or len(chosen) < n:
                a = arrays.place(self.weights.take(chosen), rounding.dtype, 1.0, arrays.block)
            if rounding is small:
                b = arrays.place(self.table, rounding.dtype, rounding.scale, arrays.chunk)
            self._lap("place")
            values, places = arrays.chunk_tops(a, b, len(chosen), CHUNKS_KEPT)
            self._lap("first look")
            is_open = self._reaches(values, values[:, :1], rounding)
            is_open[self.is_empty[chosen]] = False
            full = is_open[:, -1] & (len(right) > arrays.chunk * values.shape[1])
            lost[chosen[full]] = True
            is_open[full] = False
            k, c = np.nonzero(is_open)
            rows.append(chosen[k])
            chunks.append(places[k, c])
        return _by_chunk(np.concatenate(rows), np.concatenate(chunks)), lost

    def _reaches(
        self, values: NDArray[np.float64], top: NDArray[np.float64], rounding: Rounding
    ) -> NDArray[np.bool_]:
        """Which coarse sums may be as good as the one at the top, ties included."""
        needed = top * (1 - rounding.error) - SLACK * self.tie * rounding.scale
        return np.asarray(values * (1 + rounding.error) >= needed)

    def _decide(
        self,
        left: Any,
        right: Any,
        asked: list[Asked],
        best: NDArray[np.int64],
        lost: NDArray[np.bool_],
    ) -> int:
        """Fill in what the second look and float64 can decide; how many needed float64."""
        arrays, n = self.arrays, len(best)
        values, places = arrays.row_tops(left, right, asked, TOPS_KEPT)
        self._lap("second look")
        rows = np.concatenate([part for _, part in asked])
        places += (
            np.concatenate([np.full(len(part), at) for at, part in asked])[:, None] * arrays.chunk
        )
        values[places >= len(self.table)] = -np.inf  # what fills up the last chunk
        top = np.zeros(n)
        np.maximum.at(top, rows, values[:, 0])
        is_open = self._reaches(values, top[rows][:, None], self.half)
        if values.shape[1] < min(arrays.chunk, len(self.table)):
            lost[rows[is_open[:, -1]]] = True
        k, c = np.nonzero(is_open & ~lost[rows][:, None])
        rows, users = rows[k], places[k, c]
        order = np.lexsort((users, rows))
        rows, users = rows[order], users[order]
        several = np.bincount(rows, minlength=n)[rows] > 1
        best[rows[~several]] = users[~several]
        rows, users = rows[several], users[several]
        exact = products(self.weights, self.table, rows, users)
        top = np.full(n, -np.inf)
        np.maximum.at(top, rows, exact)
        good = exact >= top[rows] - self.tie
        ranked, at = np.unique(rows[good], return_index=True)  # the first, so the smallest
        best[ranked] = users[good][at]
        self._lap("float64 among candidates")
        return len(ranked)

    def _whole(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The answers of the chosen rows against the whole table, in float64 on the host."""
        answers = np.empty(len(rows), dtype=np.int64)
        step = max(ASKED_AT_ONCE, SCORES_AT_ONCE // len(self.table))
        for low in range(0, len(rows), step):
            part = rows[low : low + step]
            asked = self.weights.dense(part)
            scores = np.empty((len(part), len(self.table)))
            for begin in range(0, len(self.table), TABLE_ROWS_AT_ONCE):
                end = min(begin + TABLE_ROWS_AT_ONCE, len(self.table))
                scores[:, begin:end] = asked @ self.table.dense(np.arange(begin, end)).T
            good = scores >= scores.max(axis=1, keepdims=True) - self.tie
            answers[low : low + len(part)] = good.argmax(axis=1)
        return answers

    def _lap(self, name: str) -> None:
        now = time.perf_counter()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._since
        self._since = now


def _by_chunk(rows: NDArray[np.int64], chunks: NDArray[np.int64]) -> list[Asked]:
    """The rows of every chunk, ascending."""
    if not len(rows):
        return []
    order = np.argsort(chunks, kind="stable")
    rows, chunks = rows[order], chunks[order]
    begins = np.flatnonzero(np.diff(chunks, prepend=-1))
    return [
        (int(chunks[begin]), part)
        for begin, part in zip(begins, np.split(rows, begins[1:]), strict=True)
    ]
