"""Distinct cells and moves of a release, and who has them: each needs evaluating only once.

Plain arrays in a named tuple, which kernels take as it is.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracecup.attack.models.bags import distinct_sets
from tracecup.traces import SetTraces

MEMBERS_AT_ONCE = 1 << 16
"""Members of cells that are left, over a chunk of moves: the background of a chunk is 32 MiB."""


class Events(NamedTuple):
    """Distinct things of a release, and who has them how often.

    Thing d is had by pseudonyms `who[at[d] : at[d + 1]]`, `often` times each. A cell is one
    number (`first`), a move two (`first` and `second`); cell c stands for the regions
    `cell_regions[cell_offsets[c] : cell_offsets[c + 1]]`.
    """

    cell_offsets: NDArray[np.int64]
    cell_regions: NDArray[np.int32]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    at: NDArray[np.int64]
    who: NDArray[np.int64]
    often: NDArray[np.float64]

    def chunks(self) -> list[tuple[int, int]]:
        """Bounds of chunks of things with at most `MEMBERS_AT_ONCE` first members (or one)."""
        sizes = np.diff(self.cell_offsets)[self.first]
        chunk = np.cumsum(sizes) // MEMBERS_AT_ONCE
        begins = np.flatnonzero(np.diff(chunk, prepend=-1) > 0).tolist()
        return list(pairwise([*begins, len(sizes)]))


def number_cells(
    released: SetTraces,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """The number of the distinct cell at every event (-1: deleted), and the distinct cells.

    Cells are equal if they list the same regions in the same order. O(regions in the release).

    >>> numbers, offsets, regions = number_cells(SetTraces.of_cells([[[4], [], [2, 3], [4]]]))
    >>> numbers.tolist(), offsets.tolist(), regions.tolist()
    ([[0, -1, 1, 0]], [0, 1, 3], [4, 2, 3])
    """
    sizes = np.diff(released.offsets)
    kept = np.flatnonzero(sizes)
    numbers = np.full(len(sizes), -1, dtype=np.int64)
    numbers[kept], cells = distinct_sets(released, kept)
    offsets = np.concatenate([[0], np.cumsum(sizes[cells])])
    member = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes[cells])
    regions = released.regions[np.repeat(released.offsets[cells], sizes[cells]) + member]
    return numbers.reshape(released.shape), offsets, regions


def cell_events(released: SetTraces) -> Events:
    """The distinct cells of a release."""
    numbers, offsets, regions = number_cells(released)
    who, time = np.nonzero(numbers >= 0)
    return _events(numbers[who, time], np.zeros_like(who), who, offsets, regions)


def move_events(released: SetTraces) -> Events:
    """The distinct moves: two cells in consecutive slots of a day, neither of them deleted."""
    numbers, offsets, regions = number_cells(released)
    days = numbers.reshape(released.n_users, released.clock.days, released.clock.slots)
    before, after = days[:, :, :-1], days[:, :, 1:]
    at = np.nonzero((before >= 0) & (after >= 0))
    return _events(before[at], after[at], at[0], offsets, regions)


def _events(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    who: NDArray[np.int64],
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
) -> Events:
    order = np.lexsort((who, second, first))
    first, second, who = first[order], second[order], who[order]
    new_thing = np.ones(len(who), dtype=np.bool_)
    new_thing[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    new_entry = new_thing.copy()
    new_entry[1:] |= who[1:] != who[:-1]
    entries = np.flatnonzero(new_entry)
    count = np.diff(np.append(entries, len(who))).astype(np.float64)
    at = np.append(np.flatnonzero(new_thing[entries]), len(entries))
    return Events(offsets, regions, first[new_thing], second[new_thing], at, who[entries], count)
