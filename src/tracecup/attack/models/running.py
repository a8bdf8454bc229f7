"""The best user of every pseudonym while users come block by block, with the rule for ties.

A tie goes to the smallest user within 1e-9 of the maximum, which is known only at the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.scores import TIE
from tracecup.kernels import kernel

RECORDS = 8
"""Candidates kept for a pseudonym; more are needed only by chains of scores 1e-10 apart."""


@dataclass(frozen=True, eq=False)
class Running:
    """For each of m pseudonyms the users that may still be its answer, in ascending order.

    Of users that come in ascending order only those count whose score is above all earlier ones
    (`scores[k]` ascends) and within 1e-9 of the largest so far: whatever comes later, the answer
    is the first of them that is still within 1e-9, or a later user. `counts[k]` says how many
    there are; -1 marks a pseudonym with more than `RECORDS`, which must be asked again. O(m).

    >>> running = Running.of(1)
    >>> for user, score in enumerate([1.0, 3.0, 3.0 + 2e-10, 2.0]):
    ...     _ = enter(running.users[0], running.scores[0], running.counts, 0, user, score)
    >>> running.best().tolist()
    [1]
    """

    users: NDArray[np.int32]
    scores: NDArray[np.float64]
    counts: NDArray[np.int8]

    @classmethod
    def of(cls, m: int) -> Running:
        """Nobody seen yet."""
        users = np.zeros((m, RECORDS), dtype=np.int32)
        scores = np.full((m, RECORDS), -np.inf)
        return cls(users, scores, np.zeros(m, dtype=np.int8))

    def best(self) -> NDArray[np.int32]:
        """The smallest user within 1e-9 of the maximum, shape (m,); arbitrary where undecided."""
        return np.ascontiguousarray(self.users[:, 0])

    def undecided(self) -> NDArray[np.int64]:
        """Pseudonyms with more candidates than are kept."""
        return np.flatnonzero(self.counts < 0)


@kernel
def threshold(scores: NDArray[np.float64], counts: NDArray[np.int8], k: int, slack: float) -> float:
    """A score below which nobody can be the answer of pseudonym k any more; inf if it has too many.

    `scores` is the row of k, and 1e-9 times `slack` is left for ties.
    """
    if counts[k] < 0:
        return np.inf
    return scores[counts[k] - 1] - slack * TIE if counts[k] > 0 else -np.inf


@kernel
def enter(
    users: NDArray[np.int32],
    scores: NDArray[np.float64],
    counts: NDArray[np.int8],
    k: int,
    user: int,
    score: float,
) -> None:
    """Take note of a user of pseudonym k; `users` and `scores` are the rows of k."""
    n = counts[k]
    if n < 0 or (n > 0 and score <= scores[n - 1]):
        return
    kept = 0
    for c in range(n):
        if scores[c] >= score - TIE:
            users[kept], scores[kept] = users[c], scores[c]
            kept += 1
    if kept == len(users):
        counts[k] = -1
        return
    users[kept], scores[kept] = user, score
    counts[k] = kept + 1
