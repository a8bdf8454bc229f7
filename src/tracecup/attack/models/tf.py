"""TF-R: transition matrices completed by tensor factorisation, then the likelihood of moves.

After Murakami, PoPETs 2017, and Murakami et al., TIFS 2016/2017; the factorisation is ours.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracecup.attack.base import ReidAttack
from tracecup.attack.case import Case
from tracecup.attack.markov import Chains, ChainScores, start_rows
from tracecup.attack.markov.completion import completed_chains
from tracecup.attack.markov.gibbs import KEEP, thinned_case
from tracecup.attack.scores import Scores
from tracecup.registry import parameter, register
from tracecup.rng import Rng, generator

MURAKAMI = (
    "after Murakami, Expectation-Maximization Tensor Factorization for Practical Location Privacy "
    "Attacks, PoPETs 2017(4); Murakami, Watanabe, TIFS 2016"
)
FACTORS = "number of factors"
SHRINK = "weight of the factors' row against the user's own moves, in moves"
ITERATIONS = "rounds of expectation maximisation, or sweeps of the sampler (PPMTF makes 100)"
FACTORISATION = "non-negative factors by expectation maximisation, or PPMTF's Gaussian ones"
FILLED = "times that gaps of the reference are filled by the likeliest ways (EMTF; 5 is usual)"
START = "beginnings of days: not used, from visits at all slots, or at the first slot of the day"


@register("reid", "TF-R", "likelihood of the moves under factored matrices", MURAKAMI)
@dataclass(frozen=True)
class TfR(ReidAttack):
    """Markov-R with P_u(i,j) = (c_u(i,j) + b F_u(i,j)) / (c_u(i) + b).

    F_u are the rows of a non-negative factorisation of everybody's moves (`factorise`), or of
    PPMTF's Gaussian one (`gaussian_factors`). With `start` the beginnings of days count as in
    Markov0-R. `rng` draws the start of the factorisation.
    """

    z: int = parameter(16, FACTORS, low=1, high=1024)
    b: float = parameter(20.0, SHRINK, low=0, low_open=True, positional=False)
    iterations: int = parameter(50, ITERATIONS, low=1, positional=False)
    start: str = parameter("none", START, words=("none", "visits", "first"), positional=False)
    rounds: int = parameter(0, FILLED, low=0, positional=False)
    keep: float = parameter(1.0, KEEP, low=0, high=1, positional=False)
    factors: str = parameter("em", FACTORISATION, words=("em", "ppmtf"), positional=False)

    def scores(self, case: Case, rng: Rng = None) -> Scores:
        """Log-likelihoods of the moves, row block by row block."""
        self.check()
        random = generator(rng)
        known = thinned_case(case, self.keep, random)
        return self.chain_scores(known, self.chains(known, random))

    def chains(self, case: Case, rng: Rng = None) -> Chains:
        """The users' matrices, completed by the factorisation."""
        return completed_chains(
            case.city, case.reference, self.z, self.b, self.iterations, self.rounds, rng,
            factors=self.factors,
        )  # fmt: skip

    def chain_scores(self, case: Case, chains: Chains) -> Scores:
        """The scores that given matrices lead to."""
        starts = None
        if self.start != "none":
            starts = start_rows(case.reference, case.city.n_regions, self.start, self.b)
        return ChainScores(case.released, chains, starts)
