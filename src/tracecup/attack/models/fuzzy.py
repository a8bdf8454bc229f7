"""Fuzzy-R: nearest user by fuzzy counts and term weights, the best re-identification of 2019.

Paper, Section 6; completed by its author's poster and program (order, term weight).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tracecup import scratch
from tracecup.attack.base import ReidAttack
from tracecup.attack.case import Case
from tracecup.attack.models.bags import Bags, bag_visits, bags_of_counts
from tracecup.attack.models.products import product_scores
from tracecup.attack.models.visitprob import PAPER
from tracecup.attack.scores import Scores
from tracecup.city import City
from tracecup.engine import map_blocks
from tracecup.kernels import kernel
from tracecup.registry import parameter, register
from tracecup.rng import Rng
from tracecup.traces import visit_counts
from tracecup.traces.visitfiles import VisitCounts

ETA0 = "share of a visit that its own region receives"
LAMBDA0 = "decay with the distance in grid steps (the winner's program: 0.5)"
TF = "term weight: logarithm of one plus the count, or the count"
IDF = "weight of rare regions: none, or log(users / users who were there)"
ORDER = "term weight first and then spreading (the program), or the other way (the text)"


@register("reid", "Fuzzy-R", "nearest user by fuzzy counts, the 2019 winner", PAPER)
@dataclass(frozen=True)
class FuzzyR(ReidAttack):
    """Smallest Euclidean distance between term weights of a pseudonym and of a user.

    Reference side: f[u, r] = sum over regions q in the 3 x 3 neighbourhood of r (clipped at the
    border) of w(c[u, q]) eta0 exp(-lambda0 d(q, r)), d in grid steps (0, 1 or sqrt 2), with
    w(c) = log(1 + c). Released side: p[k, r] = w(count), where a generalised cell adds 1/size to
    each member; no spreading. Scores are -|p[k] - f[u]|^2, the score of the nearest user is the
    highest. O(distinct regions of the release x users), as for VisitProb-R.

    `idf=log` multiplies both sides by log(m / xi_r), xi_r = users with r in their reference
    traces (0 where nobody was). `order=spread-first` spreads counts, then weighs them.
    """

    eta0: float = parameter(0.33, ETA0, low=0, low_open=True)
    lambda0: float = parameter(1.0, LAMBDA0, low=0)
    tf: str = parameter("log", TF, words=("log", "count"), positional=False)
    idf: str = parameter("none", IDF, words=("none", "log"), positional=False)
    order: str = parameter(
        "log-first", ORDER, words=("log-first", "spread-first"), positional=False
    )

    def scores(self, case: Case, rng: Rng = None) -> Scores:
        """Negative squared distances, row block by row block.

        -|p - f|^2 = -|p|^2 - |f|^2 + 2 p.f: a constant per pseudonym, one per user, a product.
        """
        self.check()
        users, times = case.reference.shape
        events = VisitCounts(
            np.arange(users + 1, dtype=np.int64) * times,
            case.reference.regions.reshape(-1),
            np.ones(1, dtype=np.int32),
        )
        xi = np.ones(0, dtype=np.int64)
        if self.idf == "log":
            xi = (visit_counts(case.reference, case.city.n_regions) > 0).sum(axis=0)
        return self._scores(case.city, events, bag_visits(case.released, case.city.n_regions), xi)

    def scores_of_counts(self, city: City, known: VisitCounts, theirs: VisitCounts) -> Scores:
        """The same from visits alone: who was where how often, whatever the traces were.

        >>> from tracecup.city import City, Grid
        >>> city = City(Grid.from_metres(3, 1, width_m=300, height_m=300))
        >>> visits = VisitCounts(
        ...     np.array([0, 1, 2]), np.array([0, 2], "i4"), np.array([3, 1], "i4")
        ... )
        >>> FuzzyR().scores_of_counts(city, visits, visits).best().tolist()
        [0, 1]
        """
        self.check()
        xi = np.bincount(known.regions, minlength=city.n_regions)
        return self._scores(city, known, bags_of_counts(theirs, city.n_regions), xi)

    def _scores(self, city: City, known: VisitCounts, bags: Bags, xi: NDArray[np.int64]) -> Scores:
        """Scores of bags of counts; xi = users who were in each region, where that counts."""
        grid, n_regions = city.grid, city.n_regions
        idf = np.ones(n_regions)
        if self.idf == "log":
            idf = np.where(xi > 0, np.log(known.n_users / np.maximum(xi, 1)), 0.0)
        weighed, squares = _weighed(bags, idf, self.tf == "log")

        def columns(low: int, high: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            table, norms = np.zeros((n_regions, high - low)), np.empty(high - low)
            map_blocks(
                lambda begin, end: _fill_fuzzy(
                    known.offsets[low + begin : low + end + 1], known.regions, known.counts,
                    grid.nx, grid.ny, self.stencil(), idf, self.tf == "log",
                    self.order == "log-first", table[:, begin:end], norms[begin:end],
                ),
                high - low,
            )  # fmt: skip
            return table, -norms

        return product_scores(weighed, columns, -squares)

    def stencil(self) -> NDArray[np.float64]:
        """What a visit gives to the 3 x 3 regions around it.

        >>> FuzzyR(0.2, 0.5).stencil().round(3).tolist()
        [[0.099, 0.121, 0.099], [0.121, 0.2, 0.121], [0.099, 0.121, 0.099]]
        """
        step = np.array([1.0, 0.0, 1.0])
        shares = np.exp(-self.lambda0 * np.hypot(step[:, None], step[None, :]))
        return np.asarray(self.eta0 * shares, dtype=np.float64)


def _weighed(bags: Bags, idf: NDArray[np.float64], log: bool) -> tuple[Bags, NDArray[np.float64]]:
    """The bags of counts with 2 p as weights, and |p|^2 of every pseudonym."""
    weights, squares = scratch.empty(len(bags.weights)), np.empty(len(bags.lengths))
    map_blocks(
        lambda low, high: _weigh_bags(
            bags.ids, bags.weights, bags.begins[low:high], bags.lengths[low:high],
            idf, log, weights, squares[low:high],
        ),
        len(squares),
    )  # fmt: skip
    return replace(bags, weights=weights), squares


@kernel
def _term_weight(count: float, log: bool) -> float:
    return math.log(1.0 + count) if log else count


@kernel
def _weigh_bags(
    ids: NDArray[np.int32],
    counts: NDArray[np.float64],
    begins: NDArray[np.int64],
    lengths: NDArray[np.int64],
    idf: NDArray[np.float64],
    log: bool,
    weights: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> None:
    for k in range(len(lengths)):
        squares[k] = 0.0
        own = slice(begins[k], begins[k] + lengths[k])
        own_ids, own_counts, own_weights = ids[own], counts[own], weights[own]
        for j in range(lengths[k]):
            p = _term_weight(own_counts[j], log) * idf[own_ids[j]]
            own_weights[j] = 2.0 * p
            squares[k] += p * p


@kernel
def _fill_fuzzy(
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    amounts: NDArray[np.int32],
    nx: int,
    ny: int,
    stencil: NDArray[np.float64],
    idf: NDArray[np.float64],
    log: bool,
    log_first: bool,
    table: NDArray[np.float64],
    norms: NDArray[np.float64],
) -> None:
    """table[r, u] = f[u, r] and norms[u] = |f[u]|^2 of a block of users.

    User u was `amounts[i]` times in `regions[i]`, offsets[u] <= i < offsets[u + 1]; a single
    amount holds for all, and a region may come again.
    """
    several = len(amounts) > 1
    counts = np.zeros(nx * ny)
    fuzzy = np.zeros(nx * ny)
    is_touched = np.zeros(nx * ny, dtype=np.bool_)
    touched = np.empty(nx * ny, dtype=np.int32)
    for u in range(len(offsets) - 1):
        for i in range(offsets[u], offsets[u + 1]):
            if regions[i] >= 0:
                counts[regions[i]] += amounts[i if several else 0]
        n = 0
        for i in range(offsets[u], offsets[u + 1]):
            r = regions[i]
            if r < 0 or counts[r] == 0.0:
                continue
            value = _term_weight(counts[r], log) * idf[r] if log_first else counts[r]
            counts[r] = 0.0
            x, y = r % nx, r // nx
            for qy in range(max(0, y - 1), min(ny, y + 2)):
                for qx in range(max(0, x - 1), min(nx, x + 2)):
                    q = qy * nx + qx
                    fuzzy[q] += value * stencil[qy - y + 1, qx - x + 1]
                    if not is_touched[q]:
                        is_touched[q] = True
                        touched[n] = q
                        n += 1
        norms[u] = 0.0
        for j in range(n):
            q = touched[j]
            value = fuzzy[q] if log_first else _term_weight(fuzzy[q], log) * idf[q]
            norms[u] += value * value
            table[q, u] = value
            fuzzy[q] = 0.0
            is_touched[q] = False
