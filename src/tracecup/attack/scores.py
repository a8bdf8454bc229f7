"""Score rows: how likely each user is behind each pseudonym, produced block by block.

Matchers read rows, so that nobody has to hold the m x m matrix unless they ask for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tracecup import scratch
from tracecup.device import Arrays
from tracecup.engine import map_blocks
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.kernels import kernel

TIE = 1e-9
"""Scores within this distance of a maximum count as tied; ties go to the smallest user."""

BLOCK_ENTRIES = 1 << 22


class Scores(ABC):
    """An (m pseudonyms) x (m users) score matrix that need not exist as a whole."""

    n_users: int

    @abstractmethod
    def rows(self, low: int, high: int) -> NDArray[np.float64]:
        """Scores of pseudonyms low..high-1, shape (high - low, m), higher = more likely."""

    def best(self) -> NDArray[np.int32]:
        """The best user of every pseudonym, ties to the smallest; shape (m,)."""
        m = self.n_users
        best = np.empty(m, dtype=np.int32)
        for low, high in self.row_blocks():
            best_of_rows(self.rows(low, high), best[low:high])
        return best

    def best_on(self, arrays: Arrays) -> NDArray[np.int32]:
        """The same users as `best()`, found on a device, by scores that are a plain product."""
        raise InvalidParameter(
            "this attack runs on the cpu only; VisitProb-R, HomeProb-R and Fuzzy-R are products "
            "that a device searches"
        )

    def row_blocks(self) -> list[tuple[int, int]]:
        """Bounds of blocks of pseudonyms whose rows fit comfortably in memory (32 MiB)."""
        step = max(1, BLOCK_ENTRIES // max(1, self.n_users))
        return [(low, min(low + step, self.n_users)) for low in range(0, self.n_users, step)]


class MatrixScores(Scores):
    """Scores that are held as a matrix.

    >>> MatrixScores([[0.0, 2.0], [1.0, 1.0]]).best().tolist()
    [1, 0]
    """

    def __init__(self, matrix: ArrayLike) -> None:
        held = np.ascontiguousarray(matrix, dtype=np.float64)
        if held.ndim != 2 or held.shape[0] != held.shape[1]:
            raise InvalidTraces(
                f"scores need one row per pseudonym and one column per user, got {held.shape}"
            )
        if any(
            np.isnan(held[low:high]).any() for low, high in scratch.parts(len(held), 8 * len(held))
        ):
            raise InvalidTraces("a score is not a number")
        self.n_users = len(held)
        self._matrix = held

    def rows(self, low: int, high: int) -> NDArray[np.float64]:
        """Rows low..high-1 (a view)."""
        return self._matrix[low:high]


def best_of_rows(rows: NDArray[np.float64], best: NDArray[np.int32]) -> None:
    """best[k] = the smallest user whose score in row k is within TIE of the row's maximum."""
    map_blocks(lambda low, high: _best_of_rows(rows[low:high], best[low:high]), len(rows))


@kernel
def _best_of_rows(rows: NDArray[np.float64], best: NDArray[np.int32]) -> None:
    for k in range(rows.shape[0]):
        row = rows[k]
        top = row[0]
        for u in range(len(row)):
            top = max(top, row[u])
        u = 0
        while row[u] < top - TIE:
            u += 1
        best[k] = u
