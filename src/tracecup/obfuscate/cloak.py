"""Cloak: at every event the smallest block of regions in which at least k users are.

After Gedik and Liu's spatial cloaking, without its delay; blocks are those of a fixed hierarchy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City, Grid
from tracecup.kernels import kernel
from tracecup.obfuscate.base import Knob, Obfuscator
from tracecup.registry import parameter, register
from tracecup.rng import Rng
from tracecup.traces import SetTraces, Traces

DELETED = -1

Ints = NDArray[np.int64]


@register(
    "obfuscator",
    "Cloak",
    "the smallest block of regions that holds at least k users at that event",
    "after B. Gedik, L. Liu, Protecting Location Privacy with Personalized k-Anonymity, IEEE TMC "
    "2008; C. Bettini et al. 2009; C.-Y. Chow, M. Mokbel 2011",
)
@dataclass(frozen=True)
class Cloak(Obfuscator):
    """Blocks are 1x1, 2x1, 2x2, 4x2, ... regions, aligned to their size and cut at the border.

    A user releases the first of them that holds her region and at least k users at that event;
    where not even the whole city does, the cell is deleted. With `reciprocal` the city is split
    from above instead, a block only if each half is empty or holds k users: then all users of a
    released block release that block. Nothing is random. O(m l log X).

    >>> from tracecup.city import City, Grid
    >>> city = City(Grid.from_metres(4, 2, width_m=350, height_m=350))
    >>> cells = Cloak(2).obfuscate(city, Traces.of([[0], [1], [7]]))
    >>> [cells.cell(user, 0).tolist() for user in range(3)]
    [[0, 1], [0, 1], [0, 1, 2, 3, 4, 5, 6, 7]]
    """

    k: int = parameter(20, "fewest users in a released block", low=1, high=10**6)
    tol: int = parameter(
        0, "largest block in regions, larger ones are deleted; 0: any", low=0, positional=False
    )
    time: int = parameter(
        0, "slots before and after of the same day whose users count too", low=0, positional=False
    )
    reciprocal: bool = parameter(
        False, "split from above, so that k users release the same block", positional=False
    )

    knobs: ClassVar[tuple[Knob, ...]] = (Knob("k", weak=1, strong=10**6),)

    def guarantee(self, events: int = 400) -> str:
        """Anonymity of a snapshot; nothing about a sequence of them."""
        if self.k == 1 or self.time:
            return ""
        if self.reciprocal:
            return f"at each event at least {self.k} users release the same block; not for traces"
        return f"at each event a released block holds at least {self.k} users; not for traces"

    def _obfuscate(self, city: City, original: Traces, rng: Rng) -> SetTraces:
        shapes = block_shapes(city.grid)
        numbers = [block_numbers(city.grid, *shape) for shape in shapes]
        choose = self._from_above if self.reciprocal else self._from_below
        level = choose(original, numbers)
        width, height = np.array(shapes).T
        return _blocks(city.grid, original, level, width, height, self.tol)

    def _from_below(self, original: Traces, numbers: list[Ints]) -> NDArray[np.int64]:
        """Level of the first block with k users, DELETED where there is none."""
        level = np.full(original.shape, DELETED, dtype=np.int64)
        for at, number in enumerate(numbers):
            block = number[original.regions]
            crowd = _crowds(original, block, self.time)
            level[(level == DELETED) & (crowd >= self.k)] = at
        return level

    def _from_above(self, original: Traces, numbers: list[Ints]) -> NDArray[np.int64]:
        """Level of the last block before a half would have some users, but fewer than k."""
        whole = _crowds(original, numbers[-1][original.regions], self.time)
        level = np.where(whole >= self.k, len(numbers) - 1, DELETED)
        splitting = level != DELETED
        for at in range(len(numbers) - 2, -1, -1):
            crowd = _crowds(original, numbers[at][original.regions], self.time)
            parent = _keys(original, numbers[at + 1][original.regions])
            least = np.full(int(parent.max()) + 1, np.iinfo(np.int64).max)
            np.minimum.at(least, parent.ravel(), crowd.ravel())
            splitting &= least[parent] >= self.k
            level[splitting] = at
        return level


def block_shapes(grid: Grid) -> list[tuple[int, int]]:
    """(width, height) of the blocks, each twice the one before, until one covers the grid.

    >>> block_shapes(Grid.from_metres(4, 3, width_m=350, height_m=350))
    [(1, 1), (2, 1), (2, 2), (4, 2), (4, 4)]
    """
    shapes = [(1, 1)]
    while shapes[-1][0] < grid.nx or shapes[-1][1] < grid.ny:
        width, height = shapes[-1]
        shapes.append((2 * width, height) if width == height else (width, 2 * height))
    return shapes


def block_numbers(grid: Grid, width: int, height: int) -> Ints:
    """Number of the block of every region, shape (regions,)."""
    columns = -(-grid.nx // width)
    return (grid.y // height * columns + grid.x // width).astype(np.int64)


def _keys(original: Traces, block: Ints) -> Ints:
    """Event and block as one number, shape (users, times)."""
    return np.arange(original.times) * (int(block.max()) + 1) + block


def _crowds(original: Traces, block: Ints, reach: int) -> Ints:
    """How many users were in everybody's block at that event, or up to `reach` slots around it."""
    key = _keys(original, block)
    if reach == 0:
        return np.bincount(key.ravel())[key]
    clock, per_event = original.clock, int(block.max()) + 1
    user = np.arange(original.n_users)[:, None]
    seen = []
    for shift in range(-min(reach, clock.slots - 1), min(reach, clock.slots - 1) + 1):
        there = np.arange(original.times) + shift
        inside = (there >= 0) & (there < original.times)
        inside[inside] &= clock.day_of[there[inside]] == clock.day_of[inside.nonzero()[0]]
        event = inside.nonzero()[0]
        met = event * per_event + block[:, there[inside]]
        seen.append((user * (original.times * per_event) + met).ravel())
    once = np.unique(np.concatenate(seen)) % (original.times * per_event)
    return np.bincount(once, minlength=int(key.max()) + 1)[key]


def _blocks(
    grid: Grid,
    original: Traces,
    level: NDArray[np.int64],
    width: Ints,
    height: Ints,
    most: int,
) -> SetTraces:
    """The cells that list the regions of everybody's block, ascending."""
    wide, high = width[level], height[level]
    left = grid.x[original.regions] // wide * wide
    low = grid.y[original.regions] // high * high
    wide, high = np.minimum(wide, grid.nx - left), np.minimum(high, grid.ny - low)
    kept = (level != DELETED) & ((wide * high <= most) | (most == 0))
    sizes = np.where(kept, wide * high, 0).ravel()
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    regions = np.empty(int(offsets[-1]), dtype=np.int32)
    _list_regions(offsets, (low * grid.nx + left).ravel(), wide.ravel(), grid.nx, regions)
    return SetTraces(offsets, regions, original.users, original.clock)


@kernel
def _list_regions(
    offsets: Ints, first: Ints, width: Ints, nx: int, regions: NDArray[np.int32]
) -> None:
    """Row by row from the block's first region."""
    for cell in range(len(first)):
        for n in range(offsets[cell + 1] - offsets[cell]):
            row, column = divmod(n, width[cell])
            regions[offsets[cell] + n] = first[cell] + row * nx + column
