"""Optimal one-to-one: the assignment with the largest sum of scores.

With log-likelihoods this is the most likely permutation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tracecup.attack.scores import MatrixScores, Scores
from tracecup.errors import InvalidTraces
from tracecup.traces import IdTable


def assignment_table(scores: Scores | ArrayLike) -> IdTable:
    """The permutation pi that maximises sum_k S[k, pi(k)]; O(m^3) in the worst case.

    Scores must be finite, and the whole matrix is held. Among equally good permutations the
    solver's choice is taken; it does not depend on threads.

    >>> assignment_table([[1.0, 2.0], [0.0, 5.0]]).users.tolist()
    [0, 1]
    """
    from scipy.optimize import linear_sum_assignment

    held = scores if isinstance(scores, Scores) else MatrixScores(scores)
    matrix = held.rows(0, held.n_users)
    if not np.isfinite(matrix).all():
        raise InvalidTraces("an optimal assignment needs finite scores")
    _, users = linear_sum_assignment(matrix, maximize=True)
    return IdTable.of(users)
