"""LPM-R: the likelihood of a pseudonym's cells under each user's chain and a noisy channel.

After Shokri, Theodorakopoulos, Le Boudec and Hubaux, S&P 2011, whose attacker knows the
mechanism; here she assumes a channel, and the exact chain is followed on a shortlist.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tracecup import scratch
from tracecup.attack.base import ReidAttack
from tracecup.attack.case import Case
from tracecup.attack.markov import ESTIMATORS, CellScores, Chains, start_rows
from tracecup.attack.markov.chains import ESTIMATOR, FLOOR, SHRINK, Starts, day_periods
from tracecup.attack.markov.channel import fit_channel
from tracecup.attack.markov.emission import EMISSION, ETA, SPREAD, emission_stencil, smeared
from tracecup.attack.markov.forward import chain_likelihoods
from tracecup.attack.markov.gibbs import KEEP, ROUNDS, imputed_chains, thinned_case
from tracecup.attack.match import MATCH, MATCHES
from tracecup.attack.models.fuzzy import FuzzyR
from tracecup.attack.models.markov import START
from tracecup.attack.models.mmc import MmcR
from tracecup.attack.scores import TIE, MatrixScores, Scores
from tracecup.registry import parameter, register
from tracecup.rng import Rng, generator
from tracecup.traces import Traces, visit_counts

SHOKRI = (
    "after Shokri, Theodorakopoulos, Le Boudec, Hubaux, Quantifying Location Privacy, IEEE S&P 2011"
)
STRENGTH = "slots as a chain, on a shortlist (strong), or independent of each other (weak)"
PROFILE = "visit shares, for weak scores: plain, with a tiny uniform prior, or shrunk"
SHORTLIST = "strong: users per pseudonym whose chains are followed"
REACH = "strong: regions farther than so many km from a released one are left out"
PERIODS = "matrices: one for the whole day, or four for parts of it, shrunk towards the one"
EMISSIONS = ("robust", "member", "fitted")
FIT_ROUNDS = 2
BEYOND = 50.0
"""How far below the worst of the shortlist a user outside it is put."""


@register("reid", "LPM-R", "likelihood of the cells under each user's chain", SHOKRI)
@dataclass(frozen=True)
class LpmR(ReidAttack):
    """S[k, u] = log-likelihood of the cells of pseudonym k under the chain of user u.

    A cell o has f(o | x) = mean over its members s of kappa(x, s) (`emission_stencil`); deleted
    cells say nothing. weak: S = sum_t log sum_x pi_u(x) f(o_t | x). strong: the likelihood of the
    hidden chain with matrix P_u, started anew every day (`chain_likelihoods`), for `shortlist`
    users of each pseudonym by the weak scores and the best ones of MMC-R and Fuzzy-R; the others
    stand 50 below the worst of these. Users are given out one to one with the largest sum unless
    `match` says otherwise.

    >>> from tracecup.city import City, Grid
    >>> from tracecup.traces import SetTraces, Traces
    >>> city = City(Grid.from_metres(5, 1, width_m=341.25, height_m=346.875))
    >>> case = Case(city, Traces.of([[0, 1], [3, 4]]), SetTraces.of_cells([[[4], [3]], [[], [0]]]))
    >>> LpmR().identify(case).users.tolist()
    [1, 0]
    """

    strength: str = parameter("strong", STRENGTH, words=("strong", "weak"))
    shortlist: int = parameter(50, SHORTLIST, low=1, positional=False)
    profile: str = parameter("lpm", PROFILE, words=ESTIMATORS, positional=False)
    estimator: str = parameter("shrunk", ESTIMATOR, words=ESTIMATORS, positional=False)
    b: float = parameter(20.0, SHRINK, low=0, low_open=True, positional=False)
    start: str = parameter("first", START, words=("visits", "first"), positional=False)
    emission: str = parameter("robust", EMISSION, words=EMISSIONS, positional=False)
    eta: float = parameter(0.2, ETA, low=0, high=1, positional=False)
    spread: float = parameter(0.35, SPREAD, low=0, low_open=True, positional=False)
    reach: float = parameter(0.5, REACH, low=0, positional=False)
    rounds: int = parameter(16, ROUNDS, low=0, positional=False)
    keep: float = parameter(1.0, KEEP, low=0, high=1, positional=False)
    periods: str = parameter("1", PERIODS, words=("1", "4"), positional=False)
    _: KW_ONLY
    match: str = parameter("assignment", MATCH, words=MATCHES, positional=False)

    def scores(self, case: Case, rng: Rng = None) -> Scores:
        """Log-likelihoods; `rng` thins the reference and fills its gaps, if it has any."""
        self.check()
        random = generator(rng)
        known = thinned_case(case, self.keep, random)
        chains = self.chains(known, random) if self.strength == "strong" else None
        return self.fitted(known).chain_scores(known, chains)

    def fitted(self, case: Case) -> LpmR:
        """The same with (eta, spread) that fit the release, if `emission=fitted`.

        Twice: the best user of each pseudonym by the weak scores, then `fit_channel`.
        """
        if self.emission != "fitted":
            return self
        profiles = visit_profiles(case.reference, case.city.n_regions, self.profile, self.b)
        eta, spread = self.eta, self.spread
        for _ in range(FIT_ROUNDS):
            best = weak_scores(case, self.profile, self.b, "robust", eta, spread).best()
            eta, spread, _ = fit_channel(case.city, case.released, best, profiles, eta, spread)
        return replace(self, emission="robust", eta=eta, spread=spread)

    def chains(self, case: Case, rng: Rng = None) -> Chains:
        """The users' chains; gaps of the reference are filled by Gibbs sampling."""
        return lpm_chains(case, self.estimator, self.b, self.periods, self.rounds, rng)

    def chain_scores(self, case: Case, chains: Chains | None) -> Scores:
        """Weak scores, or strong ones under the given chains."""
        weak = weak_scores(case, self.profile, self.b, self.emission, self.eta, self.spread)
        if self.strength == "weak" or chains is None:
            return weak
        stencil = emission_stencil(
            case.city, self.emission, self.eta, self.spread, reach=self.reach
        )
        starts = start_rows(case.reference, case.city.n_regions, self.start, self.b)
        wanted = shortlisted(case, weak, self.shortlist)
        found = chain_likelihoods(case.city, case.released, chains, starts, stencil, wanted)
        for low, high in scratch.parts(len(found), 8 * len(found)):
            rows, followed = found[low:high], wanted[low:high]
            lowest = np.where(followed, rows, np.inf).min(axis=1, keepdims=True)
            found[low:high] = np.where(followed, rows, lowest - BEYOND)
        return MatrixScores(found)


def lpm_chains(
    case: Case, estimator: str, b: float, periods: str = "1", rounds: int = 16, rng: Rng = None
) -> Chains:
    """`imputed_chains`, with `periods=4` also by parts of the day (`day_periods`, moves seen)."""
    reference, n_regions = case.reference, case.city.n_regions
    chains = imputed_chains(reference, n_regions, estimator, b, rounds, rng)
    if periods == "1":
        return chains
    return replace(chains, periods=day_periods(reference, n_regions, b))


def weak_scores(
    case: Case, profile: str, b: float, emission: str, eta: float, spread: float
) -> Scores:
    """Slots taken as independent: S[k, u] = sum_t log sum_x pi_u(x) f(o_t | x).

    With `floor` and `member` these are the scores of VisitProb-R.
    """
    stencil = emission_stencil(case.city, emission, eta, spread)
    profiles = visit_profiles(case.reference, case.city.n_regions, profile, b)
    return CellScores(case.released, smeared(case.city, profiles, stencil))


def visit_profiles(reference: Traces, n_regions: int, profile: str, b: float) -> Starts:
    """pi_u, rows of users, from her l visits V.

    `floor`: V / l, and 1e-8 where V = 0; `lpm`: (V + 0.01) / (l + 0.01 X); `shrunk`: towards
    everybody's visits, as in `start_rows`.
    """
    if profile == "shrunk":
        return start_rows(reference, n_regions, "visits", b)

    def rows(low: int, high: int) -> NDArray[np.float64]:
        own = visit_counts(reference.take_users(slice(low, high)), n_regions).astype(np.float64)
        seen = own.sum(axis=1, keepdims=True)
        if profile == "floor":
            return np.where(own > 0, own / np.maximum(seen, 1.0), FLOOR)
        return np.asarray((own + 0.01) / (seen + 0.01 * n_regions))

    return rows


def shortlisted(case: Case, weak: Scores, size: int) -> NDArray[np.bool_]:
    """The `size` best users of each pseudonym by the weak scores, and those of MMC-R and Fuzzy-R.

    Shape (pseudonyms, users); users tied with the last one are on the list, too.
    """
    m = case.n_users
    wanted = scratch.filled((m, m), False, np.bool_)
    for low, high in weak.row_blocks():
        rows, last = weak.rows(low, high), max(0, m - size)
        wanted[low:high] = rows >= np.partition(rows, last, axis=1)[:, last, None] - TIE
    for other in (MmcR(), FuzzyR()):
        wanted[np.arange(m), other.scores(case).best()] = True
    return wanted
