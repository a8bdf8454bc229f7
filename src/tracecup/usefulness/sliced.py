"""Sliced 1-Wasserstein distances between rows of sparse matrices over one set of points.

All rows share their points, so each direction sorts them once and then only visits non-zeros.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from tracecup.engine import map_blocks
from tracecup.errors import InvalidTraces
from tracecup.kernels import kernel

DIRECTIONS = 50
SEED = 0
AXIS_X = np.array([[1.0, 0.0]])
AXIS_Y = np.array([[0.0, 1.0]])

Floats = NDArray[np.float64]


def sliced_wasserstein(
    difference: sparse.csr_array, coordinates: ArrayLike, directions: ArrayLike | None = None
) -> Floats:
    """Mean over directions of the one-dimensional W1 distance, for every row, shape (rows,).

    Row r of `difference` is p_r - q_r over N points (columns) at `coordinates` (N, 2); with the
    points sorted along a direction, W1 = sum_k |F_p - F_q|(k) (x_{k+1} - x_k). `directions` is
    (D, 2), by default the 50 of `random_directions()`. O(D (N log N + non-zeros)); the value
    does not depend on the number of threads.

    >>> move_one_cell = sparse.csr_array(np.array([[1.0, -1.0]]))
    >>> sliced_wasserstein(move_one_cell, [[0, 0], [1, 0]], AXIS_X).tolist()
    [1.0]
    """
    points = check_coordinates(coordinates, difference.shape[1])
    chosen = random_directions() if directions is None else np.asarray(directions, np.float64)
    if chosen.ndim != 2 or chosen.shape[1] != 2 or not len(chosen):
        raise InvalidTraces(f"directions need the shape (D, 2), got {chosen.shape}")
    columns = difference.tocsc()
    indptr, indices = columns.indptr.astype(np.int64), columns.indices.astype(np.int64)
    values = columns.data.astype(np.float64)
    projected = chosen @ points.T
    order = np.argsort(projected, axis=1, kind="stable")
    out = np.zeros((len(chosen), difference.shape[0]))

    def work(low: int, high: int) -> None:
        _sweep(indptr, indices, values, projected[low:high], order[low:high], out[low:high])

    map_blocks(work, len(chosen))
    return np.asarray(out.mean(axis=0))


def random_directions(count: int = DIRECTIONS, seed: int = SEED) -> Floats:
    """Unit vectors from NumPy's legacy generator, as the published evaluation draws them.

    2 x count standard normals from `RandomState(seed)`, each column divided by its norm; here
    one direction per row, shape (count, 2).
    """
    # The legacy stream is the definition of the metric: other generators give other digits.
    drawn = np.random.RandomState(seed).normal(size=(2, count))
    return np.ascontiguousarray((drawn / np.sqrt((drawn**2).sum(axis=0))).T)


def grid_coordinates(nx: int, ny: int) -> Floats:
    """Integer cells (x, y) of a grid numbered row by row from the south-west, shape (nx*ny, 2).

    >>> grid_coordinates(2, 2).tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    """
    x, y = np.tile(np.arange(nx), ny), np.repeat(np.arange(ny), nx)
    return np.column_stack([x, y]).astype(np.float64)


def check_coordinates(coordinates: ArrayLike, n_locations: int) -> Floats:
    """Finite coordinates, one (x, y) for each location."""
    points = np.asarray(coordinates, dtype=np.float64)
    if points.shape != (n_locations, 2):
        raise InvalidTraces(
            f"{n_locations} locations need coordinates of shape ({n_locations}, 2), "
            f"got {points.shape}"
        )
    if not np.isfinite(points).all():
        raise InvalidTraces("coordinates must be finite numbers")
    return points


@kernel
def _sweep(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int64],
    values: Floats,
    projected: Floats,
    order: NDArray[np.int64],
    out: Floats,
) -> None:
    """Visit the points along each direction; every row keeps its CDF difference so far."""
    rows = out.shape[1]
    level = np.empty(rows)
    last = np.empty(rows)
    for d in range(order.shape[0]):
        level[:] = 0.0
        last[:] = 0.0
        for k in range(order.shape[1]):
            column = order[d, k]
            here = projected[d, column]
            for e in range(indptr[column], indptr[column + 1]):
                row = indices[e]
                out[d, row] += abs(level[row]) * (here - last[row])
                level[row] += values[e]
                last[row] = here
