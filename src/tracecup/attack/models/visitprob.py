"""VisitProb-R and HomeProb-R: likelihood of a pseudonym under each user's visit probabilities.

Paper, Section 4.2 (sample attacks).
"""

from __future__ import annotations

from dataclasses import dataclass

from tracecup.attack.base import ReidAttack
from tracecup.attack.case import Case
from tracecup.attack.models.likelihood import visit_scores
from tracecup.attack.models.subsample import subsample
from tracecup.attack.scores import Scores
from tracecup.registry import parameter, register
from tracecup.rng import Rng

PAPER = "Murakami et al., Designing a Location Trace Anonymization Contest, PoPETs 2023"
CELLS = "probability with which each cell is used (organisers' program: 0.1)"
MEMBERS = "at most so many random members of a generalised cell; 0 = all (organisers: 10)"
HOME_SLOTS = "number of slots at the beginning of the day at which people are at home"


@register("reid", "VisitProb-R", "likelihood under each user's visit probabilities", PAPER)
@dataclass(frozen=True)
class VisitProbR(ReidAttack):
    """The user under whose reference visits the released cells are most likely.

    S[k, u] = sum over cells of log(mean over members r of V[u, r]), V = visit frequencies of
    the reference traces with 1e-8 for regions never visited; deleted cells contribute nothing.
    `VisitProb-R(cells=0.1,members=10)` is what the organisers' program did. See
    `tracecup.attack.models.likelihood.visit_scores` for the cost.

    >>> from tracecup.city import City, Grid
    >>> from tracecup.traces import SetTraces, Traces
    >>> city = City(Grid.from_metres(5, 1, width_m=341.25, height_m=346.875))
    >>> case = Case(city, Traces.of([[0, 1], [3, 4]]), SetTraces.of_cells([[[4], [3]], [[], [0]]]))
    >>> VisitProbR().identify(case).users.tolist()
    [1, 0]
    """

    cells: float = parameter(1.0, CELLS, low=0, low_open=True, high=1, positional=False)
    members: int = parameter(0, MEMBERS, low=0, positional=False)

    def scores(self, case: Case, rng: Rng = None) -> Scores:
        """Log-likelihoods, row block by row block."""
        self.check()
        released = subsample(case.released, self.cells, self.members, rng)
        return visit_scores(case.reference, released, case.city.n_regions)


@register("reid", "HomeProb-R", "the same in the first two slots of every day only", PAPER)
@dataclass(frozen=True)
class HomeProbR(ReidAttack):
    """VisitProb-R restricted to the slots at which people are at home, 08:00 and 08:30.

    Both the reference counts and the released cells of other slots are left out. A day with
    fewer than `slots` slots is used whole. With two days that leaves four events a user, and
    ties are common.
    """

    slots: int = parameter(2, HOME_SLOTS, low=1, positional=False)
    cells: float = parameter(1.0, CELLS, low=0, low_open=True, high=1, positional=False)
    members: int = parameter(0, MEMBERS, low=0, positional=False)

    def scores(self, case: Case, rng: Rng = None) -> Scores:
        """Log-likelihoods of the home slots, row block by row block."""
        self.check()
        home = range(min(self.slots, case.released.clock.slots))
        released = subsample(case.released.take_slots(home), self.cells, self.members, rng)
        return visit_scores(case.reference.take_slots(home), released, case.city.n_regions)
