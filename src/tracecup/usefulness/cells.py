"""Equal cells of a release found once, so that blocks and repeated sets cost their number only.

A generalisation to blocks makes a handful of different cells out of hundreds of thousands.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.kernels import kernel


def distinct_cells(
    offsets: NDArray[np.int64], regions: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the different cells: (number of every cell, -1 for empty; first cell of each).

    >>> kind, first = distinct_cells(np.array([0, 2, 3, 3, 5]), np.array([4, 5, 4, 4, 5]))
    >>> kind.tolist(), first.tolist()
    ([0, 1, -1, 0], [0, 1])
    """
    table = np.full(1 << int(2 * len(offsets)).bit_length(), -1, dtype=np.int64)
    return _number_cells(offsets, regions, table)


@kernel
def _number_cells(
    offsets: NDArray[np.int64], regions: NDArray[np.integer], table: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Open addressing over the content of the cells; `table` holds numbers of cells or -1."""
    cells = len(offsets) - 1
    mask = np.uint64(len(table) - 1)
    kind = np.full(cells, -1, dtype=np.int64)
    first = np.empty(cells, dtype=np.int64)
    used = 0
    for k in range(cells):
        low, size = offsets[k], offsets[k + 1] - offsets[k]
        if size == 0:
            continue
        mix = np.uint64(0x9E3779B97F4A7C15)
        for e in range(size):
            mix = (mix ^ np.uint64(regions[low + e])) * np.uint64(0xBF58476D1CE4E5B9)
            mix ^= mix >> np.uint64(29)
        place = mix & mask
        while True:
            number = table[place]
            if number < 0:
                table[place] = used
                first[used] = k
                kind[k] = used
                used += 1
                break
            other = offsets[first[number]]
            if offsets[first[number] + 1] - other == size:
                same = True
                for e in range(size):
                    if regions[other + e] != regions[low + e]:
                        same = False
                        break
                if same:
                    kind[k] = number
                    break
            place = (place + np.uint64(1)) & mask
    return kind, first[:used].copy()
