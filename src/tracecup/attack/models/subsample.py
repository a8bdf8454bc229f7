"""The organisers' sub-sampling: a random part of the cells, a few members of each set.

The paper states neither; the published sample results were made this way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.kernels import kernel
from tracecup.rng import Rng, generator
from tracecup.traces import SetTraces


def subsample(released: SetTraces, cells: float, members: int, rng: Rng = None) -> SetTraces:
    """Keep each cell with probability `cells`, and at most `members` members of it (0 = all).

    Cells that are not kept become deleted cells. Members are drawn without replacement from the
    positions of the list. With `cells=1, members=0` nothing is drawn and the release itself
    comes back.

    >>> released = SetTraces.of_cells([[[0, 1, 2], [3]]])
    >>> subsample(released, 1, 2, rng=1).sizes.tolist()
    [[2, 1]]
    """
    random = generator(rng)
    sizes = np.diff(released.offsets)
    if cells < 1:
        sizes = np.where(random.random(len(sizes)) < cells, sizes, 0)
    if members:
        sizes = np.minimum(sizes, members)
    elif cells >= 1:
        return released
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    cut = (sizes > 0) & (sizes < np.diff(released.offsets))
    draws = random.random((int(cut.sum()), members)) if members else np.empty((0, 0))
    regions = np.empty(int(offsets[-1]), dtype=np.int32)
    _draw_members(released.offsets, released.regions, offsets, cut, draws, regions)
    return SetTraces(offsets, regions, released.users, released.clock)


@kernel
def _draw_members(
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    new_offsets: NDArray[np.int64],
    cut: NDArray[np.bool_],
    draws: NDArray[np.float64],
    new_regions: NDArray[np.int32],
) -> None:
    """Copy whole cells; of cells that are cut take a random part (partial Fisher-Yates)."""
    drawn = 0
    for cell in range(len(cut)):
        low, size = offsets[cell], offsets[cell + 1] - offsets[cell]
        target, wanted = new_offsets[cell], new_offsets[cell + 1] - new_offsets[cell]
        if not cut[cell]:
            for j in range(wanted):
                new_regions[target + j] = regions[low + j]
            continue
        members = regions[low : low + size].copy()
        for j in range(wanted):
            pick = j + int(draws[drawn, j] * (size - j))
            members[j], members[pick] = members[pick], members[j]
            new_regions[target + j] = members[j]
        drawn += 1
