"""Fuzzy-T: the 2019 winner's trace inference, which trusts habits more than released cells.

Paper, Section 6; completed by its author's poster and program.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.base import InferenceAttack
from tracecup.attack.case import Case
from tracecup.attack.infer.copy import DELETED, copy_cells
from tracecup.attack.infer.frequent import frequent_regions
from tracecup.attack.match import LINKS, TAU, link_one_to_one
from tracecup.attack.models.fuzzy import ETA0, IDF, LAMBDA0, ORDER, TF, FuzzyR
from tracecup.attack.models.visitprob import PAPER
from tracecup.registry import parameter, register
from tracecup.rng import Rng, generator
from tracecup.traces import IdTable, Traces

THRESHOLD = (
    "days on which a region must occur at a slot to replace the released cell; "
    "0 = max(2, a quarter of the reference days, rounded up)"
)
FIRST = (
    "how users are given out: to the first pseudonym that names them (the winner's program), "
    "greedily, by optimal assignment or by soft links"
)


@register("inference", "Fuzzy-T", "habits first, then linked cells: the 2019 winner", PAPER)
@dataclass(frozen=True)
class FuzzyT(InferenceAttack):
    """Fuzzy-R made one-to-one, then for each user and event:

    the region she was most often in at that time of day, if it occurs on at least `threshold`
    reference days or if the cell is deleted; else a uniform member of the cell.

    One-to-one (`match=first`): pseudonyms in ascending order keep their user if she is still
    free; the leftover pseudonyms are matched at random to the leftover users (the program; the
    paper refers to VisitProb-T).
    """

    eta0: float = parameter(0.33, ETA0, low=0, low_open=True)
    lambda0: float = parameter(1.0, LAMBDA0, low=0)
    threshold: int = parameter(0, THRESHOLD, low=0)
    tf: str = parameter("log", TF, words=("log", "count"), positional=False)
    idf: str = parameter("none", IDF, words=("none", "log"), positional=False)
    order: str = parameter(
        "log-first", ORDER, words=("log-first", "spread-first"), positional=False
    )
    match: str = parameter("first", FIRST, words=("first", *LINKS), positional=False)
    tau: float = parameter(1.0, TAU, low=0, low_open=True, positional=False)

    def infer(self, case: Case, rng: Rng = None) -> Traces:
        self.check()
        random = generator(rng)
        model = FuzzyR(self.eta0, self.lambda0, self.tf, self.idf, self.order)
        if self.match == "first":
            table = keep_first(model.identify(case).users, random)
        else:
            table = link_one_to_one(model.scores(case), self.match, self.tau)
        clock, reference = case.released.clock, case.reference
        habit, count = frequent_regions(reference, case.city.n_regions)
        habit, count = habit[:, clock.slot_of], count[:, clock.slot_of]
        cells = copy_cells(case.released, random)[table.inverse()]
        threshold = self.threshold or default_threshold(reference.clock.days)
        regions = np.where((count >= threshold) | (cells == DELETED), habit, cells)
        return Traces(regions, reference.users, clock)


def default_threshold(days: int) -> int:
    """max(2, ceil(days / 4)): 5 of 20 days, 2 of 2 days.

    >>> default_threshold(20), default_threshold(2)
    (5, 2)
    """
    return max(2, math.ceil(days / 4))


def keep_first(users: NDArray[np.int32], rng: Rng = None) -> IdTable:
    """One-to-one from a table with repetitions: the first pseudonym keeps a user, others draw.

    >>> keep_first(np.array([1, 1, 0], dtype=np.int32), rng=1).users.tolist()
    [1, 2, 0]
    """
    m = len(users)
    first = np.full(m, m, dtype=np.int64)
    np.minimum.at(first, users, np.arange(m))
    table = np.full(m, -1, dtype=np.int32)
    taken = first < m
    table[first[taken]] = np.flatnonzero(taken)
    table[table < 0] = generator(rng).permutation(np.flatnonzero(~taken))
    return IdTable(table)
