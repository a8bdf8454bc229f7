"""MRLH: merging regions into blocks, and location hiding.

Paper, Section 4.1; the contest's sample algorithm A2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City
from tracecup.engine import map_blocks
from tracecup.kernels import kernel
from tracecup.obfuscate.base import Knob, Obfuscator
from tracecup.obfuscate.replay import legacy_generator, replay_parameter
from tracecup.registry import parameter, register
from tracecup.rng import Rng, generator
from tracecup.traces import SetTraces, Traces

MAX_BITS = 20


@register(
    "obfuscator",
    "MRLH",
    "generalise to blocks of 2^mu_x by 2^mu_y regions, delete with probability lambda",
    "R. Shokri et al., Quantifying Location Privacy, IEEE S&P 2011",
)
@dataclass(frozen=True)
class MRLH(Obfuscator):
    """Delete with probability lambda, else all regions of the same block, in ascending order.

    The block of a region holds the regions whose column agrees with it after dropping the
    lowest mu_x bits and whose row agrees after dropping the lowest mu_y bits: 2^mu_x by 2^mu_y
    regions, fewer at the border of a grid that is no multiple of the block. The same seed
    deletes nested sets of cells for growing lambda. O(regions written): wide blocks are large,
    MRLH(5,5,0) on the contest's grid lists 1024 regions for every event.

    >>> from tracecup.city import City, Grid
    >>> city = City(Grid.from_metres(32, 32, width_m=341.25, height_m=346.875))
    >>> MRLH(1, 1, 0).obfuscate(city, Traces.of([[1]])).cell(0, 0).tolist()
    [0, 1, 32, 33]
    """

    mu_x: int = parameter(2, "bits of the column to drop", low=0, high=MAX_BITS)
    mu_y: int = parameter(2, "bits of the row to drop", low=0, high=MAX_BITS)
    lambda_: float = parameter(0.5, "probability of deletion", low=0, high=1)
    replay: bool = replay_parameter()

    knobs: ClassVar[tuple[Knob, ...]] = (Knob("lambda", weak=0.0, strong=1.0),)

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        cells = original.regions.size
        if self.replay:
            draws = legacy_generator(rng).random_sample(cells)
        else:
            draws = generator(rng).random(cells)
        grid, flat = city.grid, original.regions.ravel()
        left, bottom = (grid.x >> self.mu_x) << self.mu_x, (grid.y >> self.mu_y) << self.mu_y
        width = np.minimum(1 << self.mu_x, grid.nx - left).astype(np.int64)
        height = np.minimum(1 << self.mu_y, grid.ny - bottom).astype(np.int64)
        corner = bottom.astype(np.int64) * grid.nx + left
        offsets = np.zeros(cells + 1, dtype=np.int64)
        np.cumsum(np.where(draws < self.lambda_, 0, (width * height)[flat]), out=offsets[1:])
        regions = np.empty(int(offsets[-1]), dtype=np.int32)

        def work(low: int, high: int) -> None:
            _write_blocks(flat[low:high], offsets[low : high + 1], corner, width, grid.nx, regions)

        map_blocks(work, cells)
        return SetTraces(offsets, regions, original.users, original.clock)


@kernel
def _write_blocks(
    original: NDArray[np.int32],
    offsets: NDArray[np.int64],
    corner: NDArray[np.int64],
    width: NDArray[np.int64],
    nx: int,
    regions: NDArray[np.int32],
) -> None:
    """Row by row of the block, from its south-west corner: ascending region indices."""
    for k in range(len(original)):
        first, wide = corner[original[k]], width[original[k]]
        for n in range(offsets[k + 1] - offsets[k]):
            regions[offsets[k] + n] = first + (n // wide) * nx + n % wide
