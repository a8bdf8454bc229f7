"""All usefulness metrics of one synthetic data set, beside those of real and uniform data.

Real = testing against training traces; uniform = the same probability everywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from tracecup.errors import InvalidTraces
from tracecup.records import Records
from tracecup.usefulness.daytraces import DayTraces
from tracecup.usefulness.metric import Measurement
from tracecup.usefulness.sliced import check_coordinates, grid_coordinates
from tracecup.usefulness.timepopulation import (
    population,
    tp_swd,
    tp_tv,
    tp_tv_top50,
    uniform_population,
)
from tracecup.usefulness.transitions import (
    tm_emd,
    tm_tv,
    transition_matrices,
    uniform_transitions,
)
from tracecup.usefulness.visit_fraction import (
    comparable_locations,
    uniform_fractions,
    vf_tv,
    visit_fractions,
)

Row = dict[str, Measurement]


@dataclass(frozen=True, eq=False)
class Usefulness:
    """The metrics by name, for the synthetic, the real and the uniform data set.

    VF-TV is absent where no location has visit fractions in both training and testing data.
    """

    synthetic: Row
    real: Row
    uniform: Row


def evaluate_synthetic(
    train: Records, test: Records, synthetic: DayTraces, coordinates: ArrayLike | None = None
) -> Usefulness:
    """TP-TV, TP-TV-Top50, TP-SWD, TM-TV, TM-EMD and VF-TV against the training records.

    Synthetic traces are evaluated day by day and averaged. `coordinates` (N, 2) are the integer
    cells of the locations; by default the locations are a square grid, row by row.
    """
    _check_alike(train, test, synthetic)
    points = _coordinates(coordinates, train.n_locations)
    truth = _Statistics.of(train)
    testing = _Statistics.of(test)
    judge = _Judge(truth, testing.fractions, points)
    return Usefulness(
        judge.measure(_Statistics.of(synthetic)),
        judge.measure(testing),
        judge.measure(_Statistics.uniform(train)),
    )


@dataclass(frozen=True, eq=False)
class _Statistics:
    """What all the metrics compare."""

    population: NDArray[np.float64]
    transitions: list[sparse.csr_array]
    fractions: NDArray[np.int64]

    @classmethod
    def of(cls, events: Records | DayTraces) -> _Statistics:
        return cls(population(events), transition_matrices(events), visit_fractions(events))

    @classmethod
    def uniform(cls, like: Records) -> _Statistics:
        n = like.n_locations
        return cls(
            uniform_population(like.slots, n), [uniform_transitions(n)], uniform_fractions(n)
        )


@dataclass(frozen=True, eq=False)
class _Judge:
    truth: _Statistics
    testing_fractions: NDArray[np.int64]
    coordinates: NDArray[np.float64]

    def measure(self, other: _Statistics) -> Row:
        truth = self.truth
        found = [
            tp_tv(truth.population, other.population),
            tp_tv_top50(truth.population, other.population),
            tp_swd(truth.population, other.population, self.coordinates),
            tm_tv(truth.transitions[0], other.transitions),
            tm_emd(truth.transitions[0], other.transitions, self.coordinates),
        ]
        if comparable_locations(truth.fractions, self.testing_fractions).any():
            found.append(vf_tv(truth.fractions, self.testing_fractions, other.fractions))
        return {measurement.name: measurement for measurement in found}


def _coordinates(given: ArrayLike | None, n_locations: int) -> NDArray[np.float64]:
    if given is not None:
        return check_coordinates(given, n_locations)
    side = math.isqrt(n_locations)
    if side * side != n_locations:
        raise InvalidTraces(
            f"{n_locations} locations are no square grid: coordinates have to be given"
        )
    return grid_coordinates(side, side)


def _check_alike(train: Records, test: Records, synthetic: DayTraces) -> None:
    for name, other in (("testing", test), ("synthetic", synthetic)):
        for what in ("n_locations", "slots", "instants_per_slot"):
            ours, theirs = getattr(train, what), getattr(other, what)
            if ours != theirs:
                raise InvalidTraces(f"{what}: {ours} in training, {theirs} in {name} traces")
