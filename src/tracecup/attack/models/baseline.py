"""Random-R: a random one-to-one ID table, the baseline every attack has to beat.

The organisers' first sample attack (I1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.base import ReidAttack
from tracecup.attack.case import Case
from tracecup.attack.models.visitprob import PAPER
from tracecup.registry import register
from tracecup.rng import Rng, child_seed, generator
from tracecup.traces import IdTable


@register("reid", "Random-R", "a random permutation", PAPER)
@dataclass(frozen=True)
class RandomR(ReidAttack):
    """A uniformly random permutation of the users; right for one pseudonym on average."""

    def score_matrix(self, case: Case, rng: Rng = None) -> NDArray[np.float64]:
        """1 for the drawn user of each pseudonym, 0 for all others."""
        scores = np.zeros((case.n_users, case.n_users))
        scores[np.arange(case.n_users), self.identify(case, rng).users] = 1.0
        return scores

    def identify(self, case: Case, rng: Rng = None) -> IdTable:
        """The permutation itself, which every `match` would find again.

        A seed is not used as it is: a release that was shuffled with the same seed would
        otherwise be undone by luck of the number.
        """
        self.check()
        own = child_seed(rng, self.name) if isinstance(rng, int) else rng
        return IdTable.of(generator(own).permutation(case.n_users))
