"""Markov-R and Markov0-R: likelihood of a pseudonym's moves under each user's transition matrix.

After De Mulder et al., WPES 2008; how sets, deletions and days are treated is ours.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracecup.attack.base import ReidAttack
from tracecup.attack.case import Case
from tracecup.attack.markov import ESTIMATORS, ChainScores, start_rows, user_chains
from tracecup.attack.markov.chains import ESTIMATOR, SHRINK
from tracecup.attack.scores import Scores
from tracecup.registry import parameter, register
from tracecup.rng import Rng

DE_MULDER = (
    "after De Mulder, Danezis, Batina, Preneel, Identification via Location-Profiling in GSM "
    "Networks, WPES 2008"
)
START = "beginnings of days: from visits at all slots, or at the first slot of the day"


@register("reid", "Markov-R", "likelihood of the moves under each user's matrix", DE_MULDER)
@dataclass(frozen=True)
class MarkovR(ReidAttack):
    """The user under whose transition matrix the released moves are most likely.

    S[k, u] = sum over pairs (a, b) of consecutive cells of a day of
    log(mean over i in a, j in b of P_u(i, j)); a pair with a deleted cell is skipped. P_u by
    one of the estimators of `user_chains`. `ChainScores` tells the cost.

    >>> from tracecup.city import City, Grid
    >>> from tracecup.traces import SetTraces, Traces
    >>> city = City(Grid.from_metres(3, 1, width_m=341.25, height_m=346.875))
    >>> reference = Traces.of([[0, 0, 1, 0], [2, 2, 1, 2]])
    >>> released = SetTraces.of_cells([[[2], [2], [2], [1]], [[0], [0, 1], [], [1]]])
    >>> MarkovR().score_matrix(Case(city, reference, released)).round(4).tolist()
    [[-55.262, -2.0794], [-0.6931, -18.4207]]
    """

    estimator: str = parameter("floor", ESTIMATOR, words=ESTIMATORS, positional=False)
    b: float = parameter(20.0, SHRINK, low=0, low_open=True, positional=False)

    def scores(self, case: Case, rng: Rng = None) -> Scores:
        """Log-likelihoods of the moves, row block by row block; `rng` is not used."""
        self.check()
        chains = user_chains(case.reference, case.city.n_regions, self.estimator, self.b)
        return ChainScores(case.released, chains)


@register("reid", "Markov0-R", "the same with the beginnings of days", DE_MULDER)
@dataclass(frozen=True)
class Markov0R(ReidAttack):
    """Markov-R plus, for every day, log(mean over i in its first cell of P0_u(i)).

    P0_u by `start_rows`: `start=visits` takes her visits at all slots, `start=first` those at the
    first slot of the day, which says more where people begin the day at home.
    """

    estimator: str = parameter("shrunk", ESTIMATOR, words=ESTIMATORS, positional=False)
    b: float = parameter(20.0, SHRINK, low=0, low_open=True, positional=False)
    start: str = parameter("visits", START, words=("visits", "first"), positional=False)

    def scores(self, case: Case, rng: Rng = None) -> Scores:
        """Log-likelihoods of beginnings and moves; `rng` is not used."""
        self.check()
        n_regions = case.city.n_regions
        chains = user_chains(case.reference, n_regions, self.estimator, self.b)
        starts = start_rows(case.reference, n_regions, self.start, self.b)
        return ChainScores(case.released, chains, starts)
