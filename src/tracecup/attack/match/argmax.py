"""Arg-max: every pseudonym gets its best user, and users may repeat.

What the contest's re-identification asks for.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from tracecup.attack.scores import MatrixScores, Scores
from tracecup.traces import IdTable


def argmax_table(scores: Scores | ArrayLike) -> IdTable:
    """The user of the highest score of each row, ties (within 1e-9) to the smallest; O(m^2).

    >>> argmax_table([[0.0, 2.0], [1.0, 1.0]]).users.tolist()
    [1, 0]
    """
    held = scores if isinstance(scores, Scores) else MatrixScores(scores)
    return IdTable(held.best())
