"""RareShift: regions where hardly anybody else is at that time are shifted by a few cells.

After the published strategy of team 004 in 2019; the team's own program was not followed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City
from tracecup.engine import map_blocks
from tracecup.kernels import kernel
from tracecup.obfuscate.base import PAPER, Knob, Obfuscator, single_cells
from tracecup.registry import parameter, register
from tracecup.rng import Rng, generator
from tracecup.traces import SetTraces, Traces

MAX_CELLS = 1000


@register("obfuscator", "RareShift", "shift rare and hospital regions by a few cells", PAPER)
@dataclass(frozen=True)
class RareShift(Obfuscator):
    """Replace a rare region by a random one at most `cells` columns and rows away.

    A region is rare at an event if at most `rare` users are there at that event. Visits to
    hospital regions are shifted by up to `hospital_cells`, rare or not (0: they count as any
    other). The new region is uniform over the others of the (2 cells + 1)^2 window, which is cut
    at the border of the grid; a shift of 0 cells keeps the region. One draw per cell, so with
    the same seed a larger `rare` shifts more cells and leaves the other shifts as they are.
    O(m l) time, O(l X) memory for the counts.

    >>> from tracecup.city import City, Grid
    >>> city = City(Grid.from_metres(9, 1, width_m=350, height_m=350))
    >>> crowd = Traces.of([[0], [0], [8]])
    >>> RareShift(1, rare=1).obfuscate(city, crowd, rng=1).regions.tolist()
    [0, 0, 7]
    """

    cells: int = parameter(3, "reach of a shift in cells", low=0, high=MAX_CELLS)
    rare: int = parameter(5, "most users in a rare region at an event", low=0, positional=False)
    hospital_cells: int = parameter(
        4, "reach for hospital regions", low=0, high=MAX_CELLS, positional=False
    )

    knobs: ClassVar[tuple[Knob, ...]] = (
        Knob("rare", weak=0, strong=2**31),
        Knob("cells", weak=0, strong=MAX_CELLS),
    )

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        draws = generator(rng).random(original.shape)
        times = original.times
        key = np.arange(times) * city.n_regions + original.regions
        crowd = np.bincount(key.ravel(), minlength=times * city.n_regions)
        reach = np.where(crowd.reshape(times, city.n_regions) <= self.rare, self.cells, 0)
        if self.hospital_cells:
            reach[:, city.is_hospital] = self.hospital_cells
        shifted = np.empty_like(original.regions)

        def work(low: int, high: int) -> None:
            _shift(
                original.regions[low:high],
                reach,
                draws[low:high],
                city.grid.nx,
                city.grid.ny,
                shifted[low:high],
            )

        map_blocks(work, original.n_users)
        return single_cells(shifted, original)


@kernel
def _shift(
    original: NDArray[np.int32],
    reach: NDArray[np.int64],
    draws: NDArray[np.float64],
    nx: int,
    ny: int,
    shifted: NDArray[np.int32],
) -> None:
    """The k-th other region of the window, row by row, k = floor(draw * others)."""
    for i in range(original.shape[0]):
        for j in range(original.shape[1]):
            region = original[i, j]
            cells = reach[j, region]
            x, y = region % nx, region // nx
            left, bottom = max(0, x - cells), max(0, y - cells)
            width = min(nx - 1, x + cells) - left + 1
            height = min(ny - 1, y + cells) - bottom + 1
            others = width * height - 1
            if others == 0:
                shifted[i, j] = region
                continue
            k = int(draws[i, j] * others)
            if k >= (y - bottom) * width + x - left:
                k += 1
            shifted[i, j] = (bottom + k // width) * nx + left + k % width
