"""The bare content of a contest file: leading id columns and one column of cells.

What the CSV reader and the Parquet reader both produce, before any meaning is given to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
    """What was read, still 1-based: `lead[c][k]` for row k, and the ids of its cell.

    `sizes[k]` ids of row k stand in `ids`, one row after the other.
    """

    lead: tuple[NDArray[np.int32], ...]
    sizes: NDArray[np.int32]
    ids: NDArray[np.int32]

    @property
    def rows(self) -> int:
        """Number of rows behind the header."""
        return len(self.sizes)
