"""From cells to regions: keep single regions, draw a member of sets, fill in deletions.

The de-obfuscation step of the sample trace inferences.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.rng import Rng, generator
from tracecup.traces import SetTraces

DELETED = -1


def copy_cells(released: SetTraces, rng: Rng = None) -> NDArray[np.int32]:
    """A region per cell, shape (pseudonyms, times): the only one, a uniform member, or -1.

    Deleted cells become -1. Members count with multiplicity. One uniform number is drawn per
    generalised cell, in order of the cells. O(cells).

    >>> copy_cells(SetTraces.of_cells([[[4], [2, 2], []]]), rng=1).tolist()
    [[4, 2, -1]]
    """
    low, sizes = released.offsets[:-1], np.diff(released.offsets)
    chosen = np.full(len(sizes), DELETED, dtype=np.int32)
    single = sizes == 1
    chosen[single] = released.regions[low[single]]
    several = np.flatnonzero(sizes > 1)
    draws = generator(rng).random(len(several))
    picks = (draws * sizes[several]).astype(np.int64)
    chosen[several] = released.regions[low[several] + picks]
    return chosen.reshape(released.shape)


def fill_uniformly(regions: NDArray[np.int32], n_regions: int, rng: Rng = None) -> None:
    """Replace deleted cells, in place, by independent uniform regions of the city."""
    deleted = regions == DELETED
    regions[deleted] = generator(rng).integers(n_regions, size=int(deleted.sum()), dtype=np.int32)
