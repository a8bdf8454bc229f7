"""Optimal one-to-one: the assignment with the largest sum of scores.

With log-likelihoods this is the most likely permutation.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from numpy.typing import ArrayLike

from tracecup.attack.match.shortlists import Assigned, assign_on_shortlists
from tracecup.attack.scores import MatrixScores, Scores
from tracecup.errors import InvalidTraces, TraceCupError
from tracecup.traces import IdTable

MOST_HELD = 20_000
"""Up to so many users the matrix is held, 3 GB; more are assigned on shortlists."""

_proofs: ContextVar[list[Assigned] | None] = ContextVar("proofs", default=None)


@contextmanager
def proofs() -> Iterator[list[Assigned]]:
    """A list to which every assignment on shortlists is added, with its gap, as long as this lasts.

    >>> with proofs() as found:
    ...     _ = assignment_table([[1.0, 2.0], [0.0, 5.0]], most_held=1)
    >>> found[0].gap
    0.0
    """
    found: list[Assigned] = []
    token = _proofs.set(found)
    try:
        yield found
    finally:
        _proofs.reset(token)


def assignment_table(scores: Scores | ArrayLike, *, most_held: int = MOST_HELD) -> IdTable:
    """The permutation pi that maximises sum_k S[k, pi(k)]; O(m^3) in the worst case.

    Scores must be finite. Up to `most_held` users the whole matrix is held; beyond,
    `assign_on_shortlists` finds a table and proves that no other has a larger sum (an error, with
    the gap that remains, if it cannot); `proofs` hears of it. Among equally good permutations the
    solver's choice is taken; it does not depend on threads.

    >>> assignment_table([[1.0, 2.0], [0.0, 5.0]]).users.tolist()
    [0, 1]
    """
    from scipy.optimize import linear_sum_assignment

    held = scores if isinstance(scores, Scores) else MatrixScores(scores)
    if held.n_users > most_held:
        found = assign_on_shortlists(held)
        if not found.is_optimal:
            raise TraceCupError(
                f"no proof of an optimal assignment after {found.passes} passes: another could be "
                f"better by {found.gap:.3g} in the sum of {held.n_users} scores, now "
                f"{found.value:.6g}; match=greedy or match=argmax need no proof"
            )
        told = _proofs.get()
        if told is not None:
            told.append(found)
        return found.table
    matrix = held.rows(0, held.n_users)
    if not np.isfinite(matrix).all():
        raise InvalidTraces("an optimal assignment needs finite scores")
    _, users = linear_sum_assignment(matrix, maximize=True)
    return IdTable.of(users)
