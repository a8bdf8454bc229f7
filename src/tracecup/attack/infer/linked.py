"""VisitProb-T and HomeProb-T: link pseudonyms to users one to one, then copy their cells.

Paper, Section 4.2 (sample attacks).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracecup.attack.base import InferenceAttack
from tracecup.attack.case import Case
from tracecup.attack.infer.copy import copy_cells, fill_uniformly
from tracecup.attack.match import LINKS, ONE_TO_ONE, TAU, link_one_to_one
from tracecup.attack.models.visitprob import (
    CELLS,
    HOME_SLOTS,
    MEMBERS,
    PAPER,
    HomeProbR,
    VisitProbR,
)
from tracecup.registry import parameter, register
from tracecup.rng import Rng, generator
from tracecup.traces import IdTable, Traces


@register("inference", "VisitProb-T", "link with VisitProb-R one to one, copy the cells", PAPER)
@dataclass(frozen=True)
class VisitProbT(InferenceAttack):
    """VisitProb-R without giving a user twice; then the cells of each user's pseudonym.

    A single region is copied, of a generalised cell a uniform member is drawn, a deleted cell
    becomes a uniform region of the city.
    """

    cells: float = parameter(1.0, CELLS, low=0, low_open=True, high=1, positional=False)
    members: int = parameter(0, MEMBERS, low=0, positional=False)
    match: str = parameter("greedy", ONE_TO_ONE, words=LINKS, positional=False)
    tau: float = parameter(1.0, TAU, low=0, low_open=True, positional=False)

    def infer(self, case: Case, rng: Rng = None) -> Traces:
        self.check()
        random = generator(rng)
        scores = VisitProbR(self.cells, self.members).scores(case, random)
        return copy_linked(case, link_one_to_one(scores, self.match, self.tau), random)


@register("inference", "HomeProb-T", "link with HomeProb-R one to one, copy the cells", PAPER)
@dataclass(frozen=True)
class HomeProbT(InferenceAttack):
    """HomeProb-R without giving a user twice; then as VisitProb-T."""

    slots: int = parameter(2, HOME_SLOTS, low=1, positional=False)
    cells: float = parameter(1.0, CELLS, low=0, low_open=True, high=1, positional=False)
    members: int = parameter(0, MEMBERS, low=0, positional=False)
    match: str = parameter("greedy", ONE_TO_ONE, words=LINKS, positional=False)
    tau: float = parameter(1.0, TAU, low=0, low_open=True, positional=False)

    def infer(self, case: Case, rng: Rng = None) -> Traces:
        self.check()
        random = generator(rng)
        scores = HomeProbR(self.slots, self.cells, self.members).scores(case, random)
        return copy_linked(case, link_one_to_one(scores, self.match, self.tau), random)


def copy_linked(case: Case, table: IdTable, rng: Rng = None) -> Traces:
    """The traces that follow from a one-to-one table: every user gets her pseudonym's cells."""
    random = generator(rng)
    regions = copy_cells(case.released, random)
    fill_uniformly(regions, case.city.n_regions, random)
    return Traces(
        np.ascontiguousarray(regions[table.inverse()]), case.reference.users, case.released.clock
    )
