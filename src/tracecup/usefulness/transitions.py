"""How people move: pooled transition matrices, TM-TV, TM-EMD and the older per-axis TM-EMD.

Sparse row-stochastic matrices; a row without transitions stays where it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from tracecup.errors import InvalidTraces
from tracecup.records import Records
from tracecup.usefulness.daytraces import DayTraces
from tracecup.usefulness.metric import Measurement, Metric, distance_metric, total_variation_metric
from tracecup.usefulness.sliced import AXIS_X, AXIS_Y, sliced_wasserstein

TM_TV = total_variation_metric("TM-TV", "total variation between rows of transition matrices")
TM_EMD = distance_metric(
    "TM-EMD", "sliced Wasserstein distance between rows of transition matrices"
)
TM_EMD_X = distance_metric("TM-EMD-X", "Wasserstein distance between the rows' x marginals")
TM_EMD_Y = distance_metric("TM-EMD-Y", "Wasserstein distance between the rows' y marginals")


def transition_matrices(events: Records | DayTraces) -> list[sparse.csr_array]:
    """Pooled transition matrices, one (N, N) matrix per day; records are one day as a whole.

    Q[i, j] = transitions from i to j / transitions from i, over all users; the unit vector on
    itself for a location that nobody left. Records count pairs of consecutive instants
    (`Records.steps`), synthetic days all consecutive instants. O(transitions + N) per day.

    >>> from tracecup.records import Timetable
    >>> day = Timetable(0, 60, 2, 2)
    >>> records = Records.of([0, 0], [0, 1], [0, 1], n_locations=2, timetable=day)
    >>> transition_matrices(records)[0].toarray().tolist()
    [[0.0, 1.0], [0.0, 1.0]]
    """
    n = events.n_locations
    if isinstance(events, Records):
        _, before, after = events.steps()
        return [_counted(before.astype(np.int64), after.astype(np.int64), n)]
    return [_counted(*events.steps(day), n) for day in range(events.days)]


def stochastic(counts: sparse.csr_array) -> sparse.csr_array:
    """Counts with every row divided by its sum; empty rows become self-loops."""
    total = np.asarray(counts.sum(axis=1)).ravel()
    empty = total == 0
    scaled = sparse.diags_array(1.0 / np.where(empty, 1.0, total)) @ counts
    return sparse.csr_array(scaled + sparse.diags_array(empty.astype(np.float64)))


def uniform_transitions(n_locations: int) -> sparse.csr_array:
    """From everywhere to everywhere with the same probability."""
    return sparse.csr_array(np.full((n_locations, n_locations), 1.0 / n_locations))


def tm_tv(truth: sparse.csr_array, others: Sequence[sparse.csr_array]) -> Measurement:
    """TM-TV: mean over all N rows of 1/2 sum_j |truth[i, j] - other[i, j]|, per day, averaged."""
    rows = np.asarray(abs(_differences(truth, others)).sum(axis=1)).reshape(len(others), -1)
    return TM_TV.measured(0.5 * rows.mean(axis=1))


def tm_emd(
    truth: sparse.csr_array,
    others: Sequence[sparse.csr_array],
    coordinates: ArrayLike,
    directions: ArrayLike | None = None,
) -> Measurement:
    """TM-EMD: mean over all N rows of the sliced 1-Wasserstein distance between the rows.

    Rows empty on both sides count with distance 0. `coordinates` (N, 2) are the integer cells
    of the locations, so the unit is cells. O(50 non-zeros) per day.
    """
    return _row_distances(TM_EMD, truth, others, coordinates, directions)


def tm_emd_x(
    truth: sparse.csr_array, others: Sequence[sparse.csr_array], coordinates: ArrayLike
) -> Measurement:
    """The earlier TM-EMD-X: W1 distance of the rows' marginals on the x cells, mean over rows.

    The earlier evaluation takes the *testing* traces as truth.
    """
    return _row_distances(TM_EMD_X, truth, others, coordinates, AXIS_X)


def tm_emd_y(
    truth: sparse.csr_array, others: Sequence[sparse.csr_array], coordinates: ArrayLike
) -> Measurement:
    """The earlier TM-EMD-Y: the same on the y cells."""
    return _row_distances(TM_EMD_Y, truth, others, coordinates, AXIS_Y)


def _row_distances(
    metric: Metric,
    truth: sparse.csr_array,
    others: Sequence[sparse.csr_array],
    coordinates: ArrayLike,
    directions: ArrayLike | None,
) -> Measurement:
    rows = sliced_wasserstein(_differences(truth, others), coordinates, directions)
    return metric.measured(rows.reshape(len(others), -1).mean(axis=1))


def _differences(truth: sparse.csr_array, others: Sequence[sparse.csr_array]) -> sparse.csr_array:
    """truth - other for every day, one below the other."""
    if not others:
        raise InvalidTraces("transition metrics need at least one day")
    for other in others:
        if other.shape != truth.shape:
            raise InvalidTraces(f"the truth has the shape {truth.shape}, another {other.shape}")
    return sparse.vstack([truth - other for other in others], format="csr")


def _counted(
    before: NDArray[np.int64], after: NDArray[np.int64], n_locations: int
) -> sparse.csr_array:
    ones = np.ones(len(before))
    counts = sparse.coo_array((ones, (before, after)), shape=(n_locations, n_locations))
    return stochastic(counts.tocsr())
