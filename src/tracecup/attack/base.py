"""The two kinds of attack: who is behind a pseudonym, and where each user was.

An attack is a frozen dataclass of parameters; it keeps nothing between cases.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.case import Case
from tracecup.attack.scores import MatrixScores, Scores
from tracecup.registry import Method
from tracecup.rng import Rng
from tracecup.traces import IdTable, Traces


class ReidAttack(Method):
    """Re-identification: scores for every (pseudonym, user) pair, then an ID table.

    A new attack defines `score_matrix`, or `scores` if it can produce rows without holding the
    matrix; the other one and `identify` follow.
    """

    def score_matrix(self, case: Case, rng: Rng = None) -> NDArray[np.float64]:
        """Scores of shape (m pseudonyms, m users), higher = more likely; O(m^2) memory."""
        return np.array(self.scores(case, rng).rows(0, case.n_users))

    def scores(self, case: Case, rng: Rng = None) -> Scores:
        """The same scores, row block by row block."""
        if type(self).score_matrix is ReidAttack.score_matrix:
            raise NotImplementedError(f"{type(self).__name__} defines no score_matrix")
        return MatrixScores(self.score_matrix(case, rng))

    def identify(self, case: Case, rng: Rng = None) -> IdTable:
        """The user with the highest score for every pseudonym; users may repeat.

        Scores within 1e-9 of the maximum are ties and go to the smallest user.
        """
        return IdTable(self.scores(case, rng).best())


class InferenceAttack(Method):
    """Trace inference: where every user was at every event of the release."""

    def infer(self, case: Case, rng: Rng = None) -> Traces:
        """Inferred traces in user order, on the clock of the release; no gaps."""
        raise NotImplementedError(f"{type(self).__name__} defines no infer")
