"""Rows of few entries: which columns, and what stands there.

What both sides of a search are given as, and what float64 decides from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PAIRS_AT_ONCE = 4096
NO_COLUMN = -1


@dataclass(frozen=True, eq=False)
class SparseRows:
    """n rows of `width` columns; row k has entries offsets[k] <= i < offsets[k + 1].

    Entry i is `values[i]` in column `columns[i]`. Values are positive and a column
    stands at most once in a row.

    >>> rows = SparseRows.of([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0]])
    >>> rows.columns.tolist(), rows.values.tolist()
    ([1, 2, 0], [2.0, 1.0, 3.0])
    >>> rows.dense(np.array([1])).tolist()
    [[3.0, 0.0, 0.0]]
    """

    offsets: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float64]
    width: int

    @classmethod
    def of(cls, dense: object) -> SparseRows:
        """The entries above zero of a matrix."""
        matrix = np.asarray(dense, dtype=np.float64)
        rows, columns = np.nonzero(matrix)
        offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(matrix)))])
        return cls(offsets, columns.astype(np.int32), matrix[rows, columns], matrix.shape[1])

    @classmethod
    def joined(cls, parts: list[SparseRows]) -> SparseRows:
        """Parts below each other."""
        lengths = np.concatenate([np.diff(part.offsets) for part in parts])
        return cls(
            np.concatenate([[0], np.cumsum(lengths)]),
            np.concatenate([part.columns for part in parts]),
            np.concatenate([part.values for part in parts]),
            parts[0].width,
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of entries of every row."""
        return np.diff(self.offsets)

    def padded(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Columns and values of the chosen rows, each (len(rows), longest); -1 and 0 beyond."""
        begins = self.offsets[rows]
        lengths = self.offsets[rows + 1] - begins
        longest = int(lengths.max(initial=1))
        at = begins[:, None] + np.arange(longest)
        real = np.arange(longest) < lengths[:, None]
        at[~real] = 0
        if not self.columns.size:
            return np.full(at.shape, NO_COLUMN, dtype=np.int32), np.zeros(at.shape)
        columns = np.where(real, self.columns[at], np.int32(NO_COLUMN))
        return columns, np.where(real, self.values[at], 0.0)

    def dense(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The chosen rows as a matrix, shape (len(rows), width)."""
        out = np.zeros((len(rows), self.width + 1))  # padding goes to the last column
        columns, values = self.padded(rows)
        out[np.arange(len(rows))[:, None], columns] = values
        return out[:, :-1]

    def take(self, rows: NDArray[np.int64]) -> SparseRows:
        """The chosen rows, in that order."""
        lengths = self.lengths[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        at = np.arange(offsets[-1]) + np.repeat(self.offsets[rows] - offsets[:-1], lengths)
        return SparseRows(offsets, self.columns[at], self.values[at], self.width)

    def widened(self, columns: NDArray[np.float64]) -> SparseRows:
        """The rows with further columns behind them; `columns` (n, more) are all positive.

        >>> SparseRows.of([[0.0, 2.0]]).widened(np.array([[5.0]])).dense(np.array([0])).tolist()
        [[0.0, 2.0, 5.0]]
        """
        n, more = columns.shape
        offsets = self.offsets + more * np.arange(n + 1)
        wider = SparseRows(
            offsets,
            np.empty(len(self.columns) + n * more, dtype=np.int32),
            np.empty(len(self.values) + n * more),
            self.width + more,
        )
        old = np.arange(len(self.columns)) + more * np.repeat(np.arange(n), self.lengths)
        new = offsets[1:, None] - more + np.arange(more)
        wider.columns[old], wider.values[old] = self.columns, self.values
        wider.columns[new], wider.values[new] = self.width + np.arange(more), columns
        return wider

    def first_equals(self) -> NDArray[np.int64]:
        """For every row the smallest row with the same entries in the same order; shape (n,).

        Rows with the same 64-bit sum are compared entry by entry; a row whose sum belongs to
        another one stays itself.
        """
        mixed = (self.columns.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= self.values.view(np.uint64) * np.uint64(0xBF58476D1CE4E5B9)
        mixed *= np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
        running = np.concatenate([[np.uint64(0)], np.cumsum(mixed, dtype=np.uint64)])
        sums = running[self.offsets[1:]] - running[self.offsets[:-1]]
        _, first, number = np.unique(sums, return_index=True, return_inverse=True)
        equal = first[number].astype(np.int64)
        doubtful = np.flatnonzero(equal != np.arange(len(self)))
        for low in range(0, len(doubtful), PAIRS_AT_ONCE):
            rows = doubtful[low : low + PAIRS_AT_ONCE]
            same = self.lengths[rows] == self.lengths[equal[rows]]
            rows, differ = rows[same], rows[~same]
            equal[differ] = differ
            columns, values = self.padded(rows)
            others, amounts = self.padded(equal[rows])
            same = (columns == others).all(axis=1) & (values == amounts).all(axis=1)
            equal[rows[~same]] = rows[~same]
        return equal


def products(
    left: SparseRows, right: SparseRows, rows: NDArray[np.int64], others: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The product of row rows[i] of `left` with row others[i] of `right` in float64; shape (n,).

    >>> left, right = SparseRows.of([[1.0, 2.0]]), SparseRows.of([[0.5, 0.0], [1.0, 3.0]])
    >>> products(left, right, np.array([0, 0]), np.array([0, 1])).tolist()
    [0.5, 7.0]
    """
    out = np.empty(len(rows))
    for low in range(0, len(rows), PAIRS_AT_ONCE):
        at = slice(low, low + PAIRS_AT_ONCE)
        wide = right.dense(others[at])
        columns, weights = left.padded(rows[at])
        found = np.take_along_axis(wide, np.maximum(columns, 0), axis=1)
        out[at] = (found * weights).sum(axis=1)
    return out
