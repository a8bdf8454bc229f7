"""MMC-R: mobility Markov chains, compared by the places where people stop.

After Gambs, Killijian and Nunez del Prado, JCSS 2014; stops, sets and deletions are ours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup import scratch
from tracecup.attack.base import ReidAttack
from tracecup.attack.case import Case
from tracecup.attack.scores import Scores
from tracecup.city import City
from tracecup.engine import map_blocks
from tracecup.kernels import kernel
from tracecup.registry import parameter, register
from tracecup.rng import Rng
from tracecup.traces import SetTraces

GAMBS = (
    "after Gambs, Killijian, Nunez del Prado, De-anonymization Attack on Geolocated Data, "
    "JCSS 80(8), 2014"
)
DISTANCE = "distance of two chains: stationary, its symmetric form, proximity of ranks, or both"
MINVISITS = "a stop is a region with at least so many records (2 for 20 days, 1 for 2 days)"
DELTA = "k-th places at most so far apart (km) count as the same; 0.36 admits four neighbours"
RANKS = "compare so many ranks at most; 0 = all"
DWELL = "count only records whose region is also that of the slot before or after"
WEIGHT = "weight of a stop: share of the records at stops, or stationary vector of the chain"

NO_HIT = 100_000.0
"""Proximity distance of two chains whose places of equal rank are all apart."""

HALF_STEPS = 200
ROUNDING = 1e-9


@register("reid", "MMC-R", "nearest chain of stops", GAMBS)
@dataclass(frozen=True)
class MmcR(ReidAttack):
    """The user whose stops are nearest to those of the pseudonym: S = -distance.

    A trace has its stops s_i with weights w_i that sum to one, a user u her stops r_j:

        stat(k,u)     = sum_i w_i min_j d(s_i, r_j)                           km, asymmetric
        sym(k,u)      = (stat(k,u) + stat(u,k)) / 2
        prox(k,u)     = 1 / sum of 10, 5, 2, 1, 1, ... over ranks whose places are within delta
        statprox(k,u) = prox if some rank hits and stat > 2 km, else stat

    Ranks follow descending weight, then region. A generalised cell visits each member 1/size
    times. A trace without stops takes all its places; one without any place is equally far from
    everybody. O(traces x stops x X) for the nearest stops, and two products m x X x m.

    >>> from tracecup.city import City, Grid
    >>> from tracecup.traces import Traces
    >>> city = City(Grid.from_metres(4, 1, width_m=341.25, height_m=346.875))
    >>> released = SetTraces.of_cells([[[0], [0], [0], [3]]])
    >>> case = Case(city, Traces.of([[0, 2, 0, 2]]), released)
    >>> float(-MmcR(minvisits=1).score_matrix(case)[0, 0])
    0.12796875
    """

    distance: str = parameter("sym", DISTANCE, words=("stat", "sym", "prox", "statprox"))
    minvisits: int = parameter(2, MINVISITS, low=1, positional=False)
    delta: float = parameter(0.36, DELTA, low=0, positional=False)
    ranks: int = parameter(0, RANKS, low=0, positional=False)
    dwell: bool = parameter(False, DWELL, positional=False)
    weight: str = parameter("share", WEIGHT, words=("share", "stationary"), positional=False)

    def scores(self, case: Case, rng: Rng = None) -> Scores:
        """Minus the distances, row block by row block; `rng` is not used."""
        self.check()
        known = self._stops(case, SetTraces.of_traces(case.reference))
        released = self._stops(case, case.released)
        return StopScores(case.city, released, known, self.distance, self.delta, self.ranks)

    def _stops(self, case: Case, traces: SetTraces) -> NDArray[np.float64]:
        return stop_weights(
            traces, case.city.n_regions, self.minvisits, self.dwell, self.weight == "stationary"
        )


def stop_weights(
    traces: SetTraces,
    n_regions: int,
    minvisits: int = 2,
    dwell: bool = False,
    stationary: bool = False,
) -> NDArray[np.float64]:
    """Weights of the stops of every trace, shape (traces, n_regions); rows sum to 1 or are 0.

    A stop has at least `minvisits` (fractional) visits, or any if no region has so many.

    >>> stop_weights(SetTraces.of_cells([[[0], [0], [0, 1], [2]]]), 3).tolist()
    [[1.0, 0.0, 0.0]]
    """
    weights = scratch.filled((traces.n_users, n_regions), 0.0, np.float64)
    slots = traces.clock.slots

    def count(low: int, high: int) -> None:
        part = traces.take_users(slice(low, high))
        _count_stays(part.offsets, part.regions, slots, dwell, weights[low:high])

    map_blocks(count, traces.n_users)
    for low, high in scratch.parts(len(weights), 8 * n_regions):
        some = weights[low:high]
        is_stop = some >= minvisits - ROUNDING
        some[~is_stop & is_stop.any(axis=1, keepdims=True)] = 0.0
        some /= np.maximum(some.sum(axis=1, keepdims=True), ROUNDING)
    if stationary:

        def settle(low: int, high: int) -> None:
            part = traces.take_users(slice(low, high))
            _settle(part.offsets, part.regions, slots, weights[low:high])

        map_blocks(settle, traces.n_users)
    return weights


class StopScores(Scores):
    """Minus the distance of chains, from the weights of the pseudonyms' and the users' stops."""

    def __init__(
        self,
        city: City,
        released: NDArray[np.float64],
        known: NDArray[np.float64],
        distance: str = "sym",
        delta: float = 0.36,
        ranks: int = 0,
    ) -> None:
        self.n_users = len(known)
        self._city, self._released, self._known = city, released, known
        self._distance, self._delta, self._ranks = distance, delta, ranks
        self._near = near_stops(city, known)

    def rows(self, low: int, high: int) -> NDArray[np.float64]:
        """Scores of pseudonyms low..high-1."""
        mine, far = self._released[low:high], float(self._city.grid.offset_km[-1, -1])
        empty = mine.sum(axis=1) == 0
        if self._distance == "prox":
            result = self._proximity(mine)
        else:
            result = mine @ self._near.T
            if self._distance == "sym":
                back = (self._known @ near_stops(self._city, mine).T).T
                back[:, self._known.sum(axis=1) == 0] = far
                result = (result + back) / 2
            elif self._distance == "statprox":
                hits = self._proximity(mine)
                result = np.where((hits < NO_HIT) & (result > 2.0), hits, result)
        result[empty] = 0.0
        return -result

    def _proximity(self, mine: NDArray[np.float64]) -> NDArray[np.float64]:
        out = np.empty((len(mine), self.n_users))
        ranked, counts = _ranked(mine, self._ranks)
        known, known_counts = _ranked(self._known, self._ranks)
        grid = self._city.grid
        map_blocks(
            lambda low, high: _compare_ranks(
                ranked[low:high], counts[low:high], known, known_counts,
                grid.x, grid.y, grid.offset_km, self._delta + ROUNDING, out[low:high],
            ),
            len(mine),
        )  # fmt: skip
        return out


def near_stops(city: City, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distance (km) from every region to the nearest stop of each trace, shape (traces, regions).

    A trace without stops is as far from everywhere as two corners of the city are.
    """
    grid = city.grid
    near = scratch.filled(weights.shape, grid.offset_km[-1, -1], np.float64)
    map_blocks(
        lambda low, high: _fill_near(
            weights[low:high], grid.x, grid.y, grid.offset_km, near[low:high]
        ),
        len(weights),
    )
    return near


def _ranked(
    weights: NDArray[np.float64], ranks: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Stops of every trace by descending weight, then region, and how many there are."""
    counts = np.minimum((weights > 0).sum(axis=1), ranks or weights.shape[1])
    width = max(1, int(counts.max(initial=0)))
    return np.argsort(-weights, axis=1, kind="stable")[:, :width], counts


@kernel
def _count_stays(
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    slots: int,
    dwell: bool,
    visits: NDArray[np.float64],
) -> None:
    times = (len(offsets) - 1) // visits.shape[0]
    for p in range(visits.shape[0]):
        for t in range(times):
            cell = p * times + t
            low, high = offsets[cell], offsets[cell + 1]
            for k in range(low, high):
                stays = not dwell
                if dwell and t % slots > 0:
                    stays = _has(regions, offsets[cell - 1], low, regions[k])
                if not stays and t % slots < slots - 1:
                    stays = _has(regions, high, offsets[cell + 2], regions[k])
                if stays:
                    visits[p, regions[k]] += 1.0 / (high - low)


@kernel
def _has(regions: NDArray[np.int32], low: int, high: int, region: int) -> bool:
    found = False
    for k in range(low, high):
        found |= regions[k] == region
    return found


@kernel
def _settle(
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    slots: int,
    weights: NDArray[np.float64],
) -> None:
    """Replace shares by the stationary vector of the chain on the stops, from the shares on.

    At most 200 half steps (w + w M) / 2, which settle where whole steps would go round; stops
    that are never left keep what they have.
    """
    times = (len(offsets) - 1) // weights.shape[0]
    for p in range(weights.shape[0]):
        stops = np.flatnonzero(weights[p] > 0.0)
        chain = _stop_chain(offsets, regions, slots, p * times, (p + 1) * times, stops)
        vector = weights[p][stops]
        for _ in range(HALF_STEPS):
            stepped = 0.5 * vector
            for i in range(len(stops)):
                for j in range(len(stops)):
                    stepped[j] += 0.5 * vector[i] * chain[i, j]
            change = np.abs(stepped - vector).sum()
            vector = stepped
            if change < ROUNDING:
                break
        weights[p][stops] = vector


@kernel
def _stop_chain(
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    slots: int,
    begin: int,
    end: int,
    stops: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Transition matrix between the stops of a trace, which is cells begin..end-1."""
    n = len(stops)
    chain = np.zeros((n, n))
    for cell in range(begin, end):
        if (cell - begin) % slots == slots - 1:
            continue
        low, middle, high = offsets[cell], offsets[cell + 1], offsets[cell + 2]
        for k in range(low, middle):
            i = np.searchsorted(stops, regions[k])
            for q in range(middle, high):
                j = np.searchsorted(stops, regions[q])
                if i < n and j < n and stops[i] == regions[k] and stops[j] == regions[q]:
                    chain[i, j] += 1.0 / ((middle - low) * (high - middle))
    for i in range(n):
        total = chain[i].sum()
        chain[i, i] += total == 0.0
        chain[i] /= max(total, chain[i].sum())
    return chain


@kernel
def _fill_near(
    weights: NDArray[np.float64],
    x: NDArray[np.int32],
    y: NDArray[np.int32],
    offset_km: NDArray[np.float64],
    near: NDArray[np.float64],
) -> None:
    for p in range(weights.shape[0]):
        for stop in range(weights.shape[1]):
            if weights[p, stop] > 0.0:
                for r in range(weights.shape[1]):
                    apart = offset_km[abs(y[r] - y[stop]), abs(x[r] - x[stop])]
                    near[p, r] = min(near[p, r], apart)


@kernel
def _compare_ranks(
    ranked: NDArray[np.int64],
    counts: NDArray[np.int64],
    known: NDArray[np.int64],
    known_counts: NDArray[np.int64],
    x: NDArray[np.int32],
    y: NDArray[np.int32],
    offset_km: NDArray[np.float64],
    delta: float,
    out: NDArray[np.float64],
) -> None:
    for p in range(len(counts)):
        for u in range(len(known_counts)):
            score = 0.0
            for k in range(min(counts[p], known_counts[u])):
                a, b = ranked[p, k], known[u, k]
                if offset_km[abs(y[a] - y[b]), abs(x[a] - x[b])] <= delta:
                    score += 10.0 if k == 0 else 5.0 if k == 1 else 2.0 if k == 2 else 1.0
            out[p, u] = 1.0 / score if score > 0.0 else NO_HIT
