"""The two kinds of attack: who is behind a pseudonym, and where each user was.

An attack is a frozen dataclass of parameters; it keeps nothing between cases.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.case import Case
from tracecup.attack.match import MATCH, MATCHES, TAU, match_table
from tracecup.attack.scores import MatrixScores, Scores
from tracecup.device import Arrays, device_arrays
from tracecup.errors import InvalidParameter
from tracecup.registry import Method, parameter
from tracecup.rng import Rng
from tracecup.traces import IdTable, Traces

LINKING = ("match", "tau")
"""The parameters that every re-identification has from `ReidAttack`."""


@dataclass(frozen=True)
class ReidAttack(Method):
    """Re-identification: scores for every (pseudonym, user) pair, then an ID table.

    A new attack defines `score_matrix`, or `scores` if it can produce rows without holding the
    matrix; the other one and `identify` follow. Every attack has the parameters `match` and `tau`
    of this class after its own ones, by keyword only: `VisitProb-R(match=assignment)`.
    """

    _: KW_ONLY
    match: str = parameter("argmax", MATCH, words=MATCHES, positional=False)
    tau: float = parameter(1.0, TAU, low=0, low_open=True, positional=False)

    def score_matrix(self, case: Case, rng: Rng = None) -> NDArray[np.float64]:
        """Scores of shape (m pseudonyms, m users), higher = more likely; O(m^2) memory."""
        return np.array(self.scores(case, rng).rows(0, case.n_users))

    def scores(self, case: Case, rng: Rng = None) -> Scores:
        """The same scores, row block by row block."""
        if type(self).score_matrix is ReidAttack.score_matrix:
            raise NotImplementedError(f"{type(self).__name__} defines no score_matrix")
        return MatrixScores(self.score_matrix(case, rng))

    def identify(self, case: Case, rng: Rng = None) -> IdTable:
        """The ID table that `match` makes of the scores.

        With `argmax` it is the user with the highest score for every pseudonym, and users may
        repeat; scores within 1e-9 of the maximum are ties and go to the smallest user. That is
        the default of the paper's attacks and of a new one; some have another, such as Bayes-R
        (`soft`), Learned-R and LPM-R (`assignment`).
        """
        for rule in self.parameters():
            if rule.name in LINKING:  # an attack checks its own ones when it scores
                rule.check(getattr(self, rule.attribute), self.name or type(self).__name__)
        return match_table(self.scores(case, rng), self.match, self.tau)

    def identify_on(self, device: str, case: Case, rng: Rng = None) -> IdTable:
        """The same table, found on `device`: `cpu`, or `cuda` for attacks that multiply counts."""
        arrays = arrays_of(device, self)
        if arrays is None:
            return self.identify(case, rng)
        return IdTable(self.scores(case, rng).best_on(arrays))

    def remark(self, case: Case) -> str:
        """What stands beside a score: what the attack knew of this case; "" for nothing."""
        return ""


def arrays_of(device: str, attack: ReidAttack) -> Arrays | None:
    """The arrays of a device for an attack; None for the CPU, an error where it has no way there.

    Asked before files are read.
    """
    if device == "cpu":
        return None
    arrays = device_arrays(device)
    if attack.match != "argmax":
        raise InvalidParameter(f"match={attack.match} runs on the cpu only; {device} has argmax")
    return arrays


class InferenceAttack(Method):
    """Trace inference: where every user was at every event of the release."""

    def infer(self, case: Case, rng: Rng = None) -> Traces:
        """Inferred traces in user order, on the clock of the release; no gaps."""
        raise NotImplementedError(f"{type(self).__name__} defines no infer")

    def remark(self, case: Case) -> str:
        """What stands beside a score: what the attack knew of this case; "" for nothing."""
        return ""
