"""LPM-T and TF-T: link one to one, then follow each user's chain through her pseudonym's cells.

After Shokri et al., S&P 2011 (localisation and tracking), and Murakami, PoPETs 2017.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Self

from tracecup.attack.base import InferenceAttack
from tracecup.attack.case import Case
from tracecup.attack.markov import ESTIMATORS, Chains, start_rows
from tracecup.attack.markov.chains import ESTIMATOR, SHRINK
from tracecup.attack.markov.emission import EMISSION, ETA, SPREAD, emission_stencil
from tracecup.attack.markov.gibbs import KEEP, ROUNDS, thinned_case
from tracecup.attack.markov.tracking import ESTIMATES, track
from tracecup.attack.match import LINKS, ONE_TO_ONE, TAU, link_one_to_one
from tracecup.attack.models.lpm import EMISSIONS, PERIODS, SHOKRI, LpmR
from tracecup.attack.models.markov import START
from tracecup.attack.models.tf import FACTORISATION, FACTORS, FILLED, ITERATIONS, MURAKAMI, TfR
from tracecup.attack.scores import Scores
from tracecup.registry import parameter, register
from tracecup.rng import Rng, generator
from tracecup.traces import Traces

ESTIMATE = "answer of each slot: least expected loss, most likely region, or most likely way"
LINK = "how pseudonyms are linked: LPM-R strong or weak"
REACH = "regions farther than so many km from a released one are left out"


@dataclass(frozen=True)
class Tracking(InferenceAttack):
    """What LPM-T and TF-T have in common: a channel, a start of the day and an answer."""

    _: KW_ONLY
    estimate: str = parameter("bayes", ESTIMATE, words=ESTIMATES, positional=False)
    b: float = parameter(20.0, SHRINK, low=0, low_open=True, positional=False)
    start: str = parameter("first", START, words=("visits", "first"), positional=False)
    emission: str = parameter("robust", EMISSION, words=EMISSIONS, positional=False)
    eta: float = parameter(0.2, ETA, low=0, high=1, positional=False)
    spread: float = parameter(0.35, SPREAD, low=0, low_open=True, positional=False)
    reach: float = parameter(2.0, REACH, low=0, positional=False)
    match: str = parameter("assignment", ONE_TO_ONE, words=LINKS, positional=False)
    tau: float = parameter(1.0, TAU, low=0, low_open=True, positional=False)

    def _fitted(self, case: Case) -> Self:
        """The same with a channel that fits the release, if it shall be learnt (`LpmR.fitted`)."""
        if self.emission != "fitted":
            return self
        known = LpmR(emission="fitted", eta=self.eta, spread=self.spread, b=self.b).fitted(case)
        return replace(self, emission=known.emission, eta=known.eta, spread=known.spread)

    def _follow(self, case: Case, scores: Scores, chains: Chains) -> Traces:
        """Link by the scores, then follow the chains."""
        table = link_one_to_one(scores, self.match, self.tau)
        starts = start_rows(case.reference, case.city.n_regions, self.start, self.b)
        stencil = emission_stencil(
            case.city, self.emission, self.eta, self.spread, reach=self.reach
        )
        regions = track(case.city, case.released, table, chains, starts, stencil, self.estimate)
        return Traces(regions, case.reference.users, case.released.clock)


@register("inference", "LPM-T", "link with LPM-R, then follow the user's chain", SHOKRI)
@dataclass(frozen=True)
class LpmT(Tracking):
    """Posterior of every slot from forward and backward passes along the linked user's chain.

    `bayes` minimises the expected contest loss under the posterior, `map` takes its largest value,
    `viterbi` the most likely way through each day (`track`).
    """

    estimate: str = parameter("bayes", ESTIMATE, words=ESTIMATES)
    link: str = parameter("weak", LINK, words=("strong", "weak"), positional=False)
    estimator: str = parameter("shrunk", ESTIMATOR, words=ESTIMATORS, positional=False)
    rounds: int = parameter(16, ROUNDS, low=0, positional=False)
    keep: float = parameter(1.0, KEEP, low=0, high=1, positional=False)
    periods: str = parameter("1", PERIODS, words=("1", "4"), positional=False)

    def infer(self, case: Case, rng: Rng = None) -> Traces:
        """Inferred traces in user order; `rng` thins the reference and fills its gaps."""
        self.check()
        random = generator(rng)
        known = thinned_case(case, self.keep, random)
        sure = self._fitted(known)
        linker = LpmR(
            self.link, estimator=self.estimator, b=self.b, start=self.start,
            emission=sure.emission, eta=sure.eta, spread=sure.spread, rounds=self.rounds,
            periods=self.periods,
        )  # fmt: skip
        chains = linker.chains(known, random)
        return sure._follow(known, linker.chain_scores(known, chains), chains)


@register("inference", "TF-T", "link with TF-R, then follow the factored chain", MURAKAMI)
@dataclass(frozen=True)
class TfT(Tracking):
    """TF-R one to one, then LPM-T's answers from the matrices that the factorisation completed."""

    z: int = parameter(16, FACTORS, low=1, high=1024)
    iterations: int = parameter(50, ITERATIONS, low=1, positional=False)
    rounds: int = parameter(0, FILLED, low=0, positional=False)
    keep: float = parameter(1.0, KEEP, low=0, high=1, positional=False)
    factors: str = parameter("em", FACTORISATION, words=("em", "ppmtf"), positional=False)

    def infer(self, case: Case, rng: Rng = None) -> Traces:
        """Inferred traces in user order; `rng` draws the start of the factorisation."""
        self.check()
        random = generator(rng)
        known = thinned_case(case, self.keep, random)
        linker = TfR(self.z, self.b, self.iterations, self.start, self.rounds, factors=self.factors)
        chains = linker.chains(known, random)
        scores = linker.chain_scores(known, chains)
        return self._fitted(known)._follow(known, scores, chains)
