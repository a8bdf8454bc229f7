"""KMeans: users of a cluster become alike in where they go, and hospitals are exchanged.

The winning anonymization of 2019 (paper, Section 5.2); what the paper leaves open is fixed here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City
from tracecup.kernels import kernel
from tracecup.obfuscate.base import PAPER, Knob, Obfuscator, single_cells
from tracecup.obfuscate.count_moves import Moves, affordable, cheapest_moves, improving_moves
from tracecup.obfuscate.lloyd import ITERATIONS, cluster_sums, kmeans
from tracecup.registry import parameter, register
from tracecup.rng import Rng, generator
from tracecup.score import FLOOR, REACH_KM, utility_score
from tracecup.score.utility import check_originals
from tracecup.traces import SetTraces, Traces, visit_counts


@dataclass(frozen=True)
class KMeansReport:
    """What a run of `KMeans` did. Prices are in utility: the spent shares of 1 - s_U.

    `spread_before` and `spread_after` are sum |c - mu|^2 over users before and after the count
    step; `moves_left` improving moves were found and not made because the budget was spent.
    """

    labels: NDArray[np.int32]
    utility: float
    hospital_moves: int
    hospital_price: float
    count_moves: int
    count_price: float
    moves_left: int
    spread_before: float
    spread_after: float

    @property
    def finished(self) -> str:
        """Why it stopped."""
        return "budget spent" if self.moves_left else "no improving move remains"

    def __str__(self) -> str:
        sizes = np.bincount(self.labels)
        return (
            f"utility {self.utility:.7f} ({self.finished}); "
            f"{np.count_nonzero(sizes)} clusters of {sizes[sizes > 0].min()}..{sizes.max()} users; "
            f"{self.hospital_moves} hospital moves for {self.hospital_price:.4f}, "
            f"{self.count_moves} count moves for {self.count_price:.4f}; "
            f"spread {self.spread_before:.0f} -> {self.spread_after:.0f}"
        )


@register("obfuscator", "KMeans", "make users of a cluster alike; exchange hospitals", PAPER)
@dataclass(frozen=True)
class KMeans(Obfuscator):
    """Cluster users by visit counts, then spend the utility budget on making clusters uniform.

    1. k-means on the users' visit-count vectors (`lloyd.kmeans`; k is cut to the users).
    2. Hospital step: every visit to a hospital region becomes the nearest other hospital region
       (ties: smallest index), cheapest first while the budget 1 - floor lasts.
    3. Count step: visits are re-labelled one by one so that each user's counts approach the mean
       of the cluster, in order of price per gain over all users (`count_moves`), until the
       budget is spent to the last move that fits or none improves. Which of a user's visits to
       a region is re-labelled is random. Means and counts are those after the hospital step.
       With `moves=cheapest` the excess visits go to the deficits of the rounded mean by an optimal
       assignment instead, and all moves are merged by price (`count_moves.cheapest_moves`).

    No cell is moved twice; nothing is deleted or generalised. The floor is the one rule on
    utility: the result is valid and, on contest-sized traces, within 1e-6 of the floor unless no
    improving move remains. About O(m X k) per Lloyd iteration.
    """

    k: int = parameter(100, "number of clusters", low=1)
    floor: float = parameter(FLOOR, "utility to keep", low=0, high=1, positional=False)
    hospital: bool = parameter(True, "exchange hospital regions first", positional=False)
    iterations: int = parameter(ITERATIONS, "most Lloyd iterations", low=1, positional=False)

    moves: str = parameter(
        "gain",
        "order of moves: by gain for their price, or cheapest",
        words=("gain", "cheapest"),
        positional=False,
    )

    knobs: ClassVar[tuple[Knob, ...]] = (Knob("floor", weak=1.0, strong=0.0),)

    def obfuscate_with_report(
        self,
        city: City,
        original: Traces,
        rng: Rng = None,
        progress: Callable[[float, float], None] | None = None,
    ) -> tuple[SetTraces, KMeansReport]:
        """The obfuscated traces, and what was done to them.

        `progress(done, users)` is called now and then while moves are looked for.
        """
        self.check()
        check_originals(city, original)
        gen = generator(rng)
        labels = kmeans(visit_counts(original, city.n_regions), self.k, gen, self.iterations)
        regions, cells = original.regions.copy(), original.regions.size
        order = np.argsort(gen.random(regions.shape), axis=1)
        budget = (1 - self.floor) * cells
        locked = np.zeros(regions.shape, dtype=np.bool_)
        spent = _exchange_hospitals(city, regions, locked, budget) if self.hospital else 0.0

        counts = visit_counts(Traces(regions, original.users, original.clock), city.n_regions)
        movable = counts - _locked_counts(regions, locked, city.n_regions)
        sums, sizes = cluster_sums(counts, labels, int(labels.max()) + 1)
        means = sums / np.maximum(sizes, 1)[:, None]
        if self.moves == "cheapest":
            moves = cheapest_moves(counts, movable, means, labels, city.grid, REACH_KM, progress)
        else:
            moves = improving_moves(
                counts, movable, means, labels, city.grid, REACH_KM, original.times, progress
            )
        made = moves.take(affordable(moves.price, budget - spent))
        _relabel(made, order, locked, regions)

        released = single_cells(regions, original)
        after = visit_counts(released, city.n_regions)
        report = KMeansReport(
            labels=labels,
            utility=utility_score(city, original, released, floor=self.floor).value,
            hospital_moves=int(locked.sum()) - len(made),
            hospital_price=spent / cells,
            count_moves=len(made),
            count_price=float(made.price.sum()) / cells,
            moves_left=len(moves) - len(made),
            spread_before=_spread(counts, means, labels),
            spread_after=_spread(after, means, labels),
        )
        return released, report

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        return self.obfuscate_with_report(city, original, rng)[0]


def nearest_other_hospital(city: City) -> NDArray[np.int32]:
    """For each region: itself, or for a hospital region the nearest other one (if any)."""
    nearest = np.arange(city.n_regions, dtype=np.int32)
    hospitals = np.array(city.hospitals, dtype=np.int32)
    if len(hospitals) > 1:
        apart = city.grid.distance(hospitals[:, None], hospitals[None, :])
        np.fill_diagonal(apart, np.inf)
        nearest[hospitals] = hospitals[apart.argmin(axis=1)]
    return nearest


def _exchange_hospitals(
    city: City, regions: NDArray[np.int32], locked: NDArray[np.bool_], budget: float
) -> float:
    """Make the hospital moves that fit, in place; returns what they cost, in cells."""
    nearest = nearest_other_hospital(city)
    flat, flat_locked = regions.reshape(-1), locked.reshape(-1)
    visits = np.flatnonzero(nearest[flat] != flat)
    price = np.minimum(1.0, city.grid.distance(flat[visits], nearest[flat[visits]]) / REACH_KM)
    by_price = np.argsort(price, kind="stable")
    fits = int(np.searchsorted(np.cumsum(price[by_price]), budget + 1e-9, side="right"))
    chosen = visits[by_price[:fits]]
    flat[chosen] = nearest[flat[chosen]]
    flat_locked[chosen] = True
    return float(price[by_price[:fits]].sum())


def _locked_counts(
    regions: NDArray[np.int32], locked: NDArray[np.bool_], n_regions: int
) -> NDArray[np.float32]:
    """Visits per user and region that may not move any more, shape (m, X)."""
    held = Traces.of(np.where(locked, regions, -1))
    return visit_counts(held, n_regions)


def _relabel(
    made: Moves,
    order: NDArray[np.int64],
    locked: NDArray[np.bool_],
    regions: NDArray[np.int32],
) -> None:
    by_user = made.take(np.argsort(made.user, kind="stable"))
    bounds = np.searchsorted(by_user.user, np.arange(len(regions) + 1))
    _relabel_visits(bounds, by_user.source, by_user.target, order, locked, regions)


@kernel
def _relabel_visits(
    bounds: NDArray[np.int64],
    source: NDArray[np.int32],
    target: NDArray[np.int32],
    order: NDArray[np.int64],
    locked: NDArray[np.bool_],
    regions: NDArray[np.int32],
) -> None:
    """Each move takes the first visit to its source, in the user's random order, still free."""
    for i in range(len(bounds) - 1):
        for move in range(bounds[i], bounds[i + 1]):
            for j in order[i]:
                if regions[i, j] == source[move] and not locked[i, j]:
                    regions[i, j] = target[move]
                    locked[i, j] = True
                    break


def _spread(
    counts: NDArray[np.float32], means: NDArray[np.float64], labels: NDArray[np.int32]
) -> float:
    """sum over users of |c - mu|^2, a block of users at a time."""
    return float(
        sum(
            np.square(counts[low : low + 1024] - means[labels[low : low + 1024]]).sum()
            for low in range(0, len(counts), 1024)
        )
    )
