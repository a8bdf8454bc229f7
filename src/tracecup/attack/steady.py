"""Products of float32 tables in which a row does not depend on where it stands.

On some processors BLAS adds up a float32 row in another order by its place in the matrix.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ENTRIES_AT_ONCE = 1 << 21
"""Entries of the left side that are held in float64 at a time: 16 MiB."""


def steady_product(
    left: NDArray[np.float32], right: NDArray[np.float32], out: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """left @ right, summed in float64 and rounded once; shapes as np.matmul's, right of 2 axes.

    The order of users in a file then changes no score beyond a rounding of float32 that is on
    the edge in float64. Time that of the float64 product, 16 MiB beside the answer and `right`.

    >>> steady_product(np.ones((2, 3), np.float32), np.ones((3, 1), np.float32)).tolist()
    [[3.0], [3.0]]
    """
    if out is None:
        out = np.empty((*left.shape[:-1], right.shape[1]), dtype=np.float32)
    exact = right.astype(np.float64)
    step = max(1, ENTRIES_AT_ONCE // max(1, left[:1].size))
    for low in range(0, len(left), step):
        out[low : low + step] = left[low : low + step].astype(np.float64) @ exact
    return out
