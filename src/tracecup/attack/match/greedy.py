"""Greedy one-to-one: pseudonyms in ascending order, each takes the best user still free.

What the organisers' programs do before trace inference; the paper leaves the order open.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tracecup.attack.scores import TIE, MatrixScores, Scores
from tracecup.kernels import kernel
from tracecup.traces import IdTable


def greedy_table(scores: Scores | ArrayLike, *, tie: float = TIE) -> IdTable:
    """A one-to-one ID table, O(m^2), reading the scores block of rows by block of rows.

    Among free users, scores within `tie` of the highest are ties and go to the smallest user.
    With `tie=0` equal sums that were rounded differently are told apart, as in programs that
    compare floats directly.

    >>> greedy_table([[1.0, 2.0], [0.0, 5.0]]).users.tolist()
    [1, 0]
    """
    held = scores if isinstance(scores, Scores) else MatrixScores(scores)
    users = np.empty(held.n_users, dtype=np.int32)
    free = np.arange(held.n_users, dtype=np.int32)
    for low, high in held.row_blocks():
        _take_free(held.rows(low, high), free[: held.n_users - low], tie, users[low:high])
    return IdTable(users)


@kernel
def _take_free(
    rows: NDArray[np.float64], free: NDArray[np.int32], tie: float, users: NDArray[np.int32]
) -> None:
    """Serve the rows in order; `free` is an ascending list that shrinks in place."""
    n = len(free)
    for k in range(rows.shape[0]):
        top = -np.inf
        for c in range(n):
            top = max(top, rows[k, free[c]])
        c = 0
        while rows[k, free[c]] < top - tie:
            c += 1
        users[k] = free[c]
        n -= 1
        for later in range(c, n):
            free[later] = free[later + 1]
