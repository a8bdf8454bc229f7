"""The bare content of a contest file: leading id columns and one column of cells.

What the CSV reader and the Parquet reader both produce, before any meaning is given to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup import scratch


@dataclass(frozen=True)
class Layout:
    """The columns of a kind of file: `lead` whole-number columns, then the column `last`.

    Cells of `last` are one id each, or with `sets` any number of ids (none = deleted, `*`).
    """

    lead: tuple[str, ...]
    last: str
    sets: bool

    @property
    def header(self) -> tuple[str, ...]:
        """All column names."""
        return (*self.lead, self.last)


@dataclass(frozen=True)
class Columns:
    """What was read: `lead[c][k]` of row k as in the file (from 1), and the ids of its cell.

    The cell of row k is `ids[offsets[k] : offsets[k + 1]]`, 0-based: readers take one off, writers
    put it back. `offsets` is int64 and has one entry more than there are rows.
    """

    lead: tuple[NDArray[np.int32], ...]
    offsets: NDArray[np.int64]
    ids: NDArray[np.int32]

    @classmethod
    def single(cls, lead: tuple[NDArray[np.int32], ...], ids: NDArray[np.int32]) -> Columns:
        """One id in every row."""
        offsets = scratch.empty(len(ids) + 1, np.int64)
        for low, high in scratch.parts(len(offsets), offsets.itemsize):
            offsets[low:high] = np.arange(low, high)
        return cls(lead, offsets, ids)

    @property
    def rows(self) -> int:
        """Number of rows behind the header."""
        return len(self.offsets) - 1

    @property
    def is_single(self) -> bool:
        """Whether every row has one id."""
        parts = scratch.parts(self.rows, self.offsets.itemsize)
        return all(bool((np.diff(self.offsets[a : b + 1]) == 1).all()) for a, b in parts)

    def part(self, low: int, high: int) -> Columns:
        """Rows low..high-1."""
        offsets = self.offsets[low : high + 1]
        ids = self.ids[offsets[0] : offsets[-1]]
        return Columns(tuple(one[low:high] for one in self.lead), offsets - offsets[0], ids)
