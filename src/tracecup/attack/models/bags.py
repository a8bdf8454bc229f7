"""Released cells as bags: for each pseudonym, which distinct cells occur and how often.

A likelihood that treats slots alike needs every distinct cell once, however often it occurs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tracecup import scratch
from tracecup.device import SparseRows
from tracecup.engine import map_blocks
from tracecup.kernels import kernel
from tracecup.traces import SetTraces, Traces
from tracecup.traces.visitfiles import VisitCounts


@dataclass(frozen=True, eq=False)
class Bags:
    """Entry j of pseudonym k, j < `lengths[k]`: row `ids[i]`, weight `weights[i]`, i = begins[k]+j.

    What no bag names is undefined. A row stands for the list of regions
    `row_regions[row_offsets[d] : row_offsets[d + 1]]`; `cells[k]` counts the cells of the
    pseudonym that are not deleted, whether or not they stand in its bag.
    """

    ids: NDArray[np.int32]
    weights: NDArray[np.float64]
    begins: NDArray[np.int64]
    lengths: NDArray[np.int64]
    cells: NDArray[np.int64]
    row_offsets: NDArray[np.int64]
    row_regions: NDArray[np.int32]

    @property
    def n_rows(self) -> int:
        """Number of distinct cells, D."""
        return len(self.row_offsets) - 1

    def of(self, pseudonyms: slice | NDArray[np.int64]) -> Bags:
        """The bags of some pseudonyms; entries are not copied."""
        begins, lengths = self.begins[pseudonyms], self.lengths[pseudonyms]
        return replace(self, begins=begins, lengths=lengths, cells=self.cells[pseudonyms])


def bags_of_counts(visits: VisitCounts, n_regions: int) -> Bags:
    """Regions and how often each pseudonym was there, as bags; 8 bytes an entry are new."""
    lengths = np.diff(visits.offsets)
    weights = scratch.empty(len(visits.counts))
    weights[:] = visits.counts
    every = np.arange(n_regions + 1, dtype=np.int64)
    return Bags(
        visits.regions, weights, visits.offsets[:-1], lengths, lengths,
        every, every[:-1].astype(np.int32),
    )  # fmt: skip


def weighings(bags: Bags) -> SparseRows:
    """The entries of all bags that weigh anything, one bag after the other."""
    offsets = np.concatenate([[0], np.cumsum(bags.lengths)])
    at = np.arange(offsets[-1]) + np.repeat(bags.begins - offsets[:-1], bags.lengths)
    ids, weights = bags.ids[at], bags.weights[at]
    real = weights > 0
    before = np.concatenate([[0], np.cumsum(real)])
    return SparseRows(before[offsets], ids[real], weights[real], bags.n_rows)


def visited_regions(traces: Traces, n_regions: int) -> NDArray[np.bool_]:
    """Which regions occur at all, shape (n_regions,)."""
    seen = np.zeros(n_regions, dtype=np.bool_)
    map_blocks(lambda low, high: _mark(traces.regions[low:high], seen), traces.n_users)
    return seen


def bag_cells(
    released: SetTraces, n_regions: int, keep: NDArray[np.bool_], max_sets: int
) -> Bags | None:
    """Distinct cells and how often each pseudonym has them; None above `max_sets` distinct sets.

    Cells without any region of `keep` are left out (but counted in `cells`): nobody can be told
    from them. Cells are equal if they list the same regions in the same order. Blocks of
    pseudonyms find their distinct sets by hashing, contents are compared on every hit; then the
    blocks' sets are merged the same way. O(regions in the release), in threads.
    """
    m, times = released.shape
    ids, weights = scratch.empty(m * times, np.int32), scratch.empty(m * times)
    begins = np.arange(m, dtype=np.int64) * times
    lengths, cells = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)

    def find(low: int, high: int) -> tuple[int, int, NDArray[np.bool_], NDArray[np.int64]]:
        used = np.zeros(n_regions, dtype=np.bool_)
        first = np.empty(min(max_sets, (high - low) * times) + 1, dtype=np.int64)
        n_sets = _fill_bags(
            released.offsets, released.regions, times, low, high, used, first,
            ids, weights, begins, lengths, cells,
        )  # fmt: skip
        return low, high, used, first[:n_sets]

    blocks = map_blocks(find, m)
    if any(len(first) > max_sets for _, _, _, first in blocks):
        return None
    used = np.logical_or.reduce([block[2] for block in blocks]) & keep
    firsts = np.concatenate([block[3] for block in blocks])
    set_of, distinct = distinct_sets(released, firsts)
    if len(distinct) > max_sets:
        return None
    singles = np.flatnonzero(used).astype(np.int32)
    wanted = _sets_with(released.offsets, released.regions, distinct, keep)
    row_offsets, row_regions = _row_lists(released, singles, distinct[wanted])
    rows_of_sets = np.where(wanted, len(singles) + np.cumsum(wanted) - 1, -1).astype(np.int32)
    rows_of_singles = np.full(n_regions, -1, dtype=np.int32)
    rows_of_singles[singles] = np.arange(len(singles), dtype=np.int32)
    begin = 0
    for low, high, _, first in blocks:
        local = rows_of_sets[set_of[begin : begin + len(first)]]
        begin += len(first)
        _rename(np.concatenate([rows_of_singles, local]), low, high, ids, weights, begins, lengths)
    return Bags(ids, weights, begins, lengths, cells, row_offsets, row_regions)


def bag_visits(released: SetTraces, n_regions: int) -> Bags:
    """Visits per region: a generalised cell adds 1/size to each member, a deleted one nothing.

    Rows are regions (row d = region d); the weights are the counts, in float64.
    """
    m, times = released.shape
    most = np.minimum(np.diff(released.offsets[::times]), n_regions)
    ends = np.cumsum(most)
    begins, n_entries = ends - most, int(most.sum())
    ids, weights = scratch.empty(n_entries, np.int32), scratch.empty(n_entries)
    lengths, cells = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    map_blocks(
        lambda low, high: _fill_visits(
            released.offsets, released.regions, times, low, high, n_regions,
            ids, weights, begins, lengths, cells,
        ),
        m,
    )  # fmt: skip
    every = np.arange(n_regions + 1, dtype=np.int64)
    return Bags(ids, weights, begins, lengths, cells, every, every[:-1].astype(np.int32))


def distinct_sets(
    released: SetTraces, firsts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number of the distinct set of each representative cell, and one cell per distinct set."""
    set_of = np.empty(len(firsts), dtype=np.int64)
    distinct = np.empty(len(firsts), dtype=np.int64)
    n = _number_sets(released.offsets, released.regions, firsts, set_of, distinct)
    return set_of, distinct[:n]


def _row_lists(
    released: SetTraces, singles: NDArray[np.int32], sets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The regions of every row: first the single regions, then the sets."""
    offsets = released.offsets
    sizes = np.concatenate(
        [np.ones(len(singles), dtype=np.int64), offsets[sets + 1] - offsets[sets]]
    )
    lists = [released.regions[offsets[k] : offsets[k + 1]] for k in sets]
    return np.concatenate([[0], np.cumsum(sizes)]), np.concatenate([singles, *lists])


@kernel
def _mark(regions: NDArray[np.int32], seen: NDArray[np.bool_]) -> None:
    for i in range(regions.shape[0]):
        for j in range(regions.shape[1]):
            if regions[i, j] >= 0:
                seen[regions[i, j]] = True


@kernel
def _hash_cell(regions: NDArray[np.int32], low: int, high: int) -> np.uint64:
    """A 64-bit mix of the regions of a cell, in order; two lanes, since a lane is a long chain."""
    a = np.uint64(high - low)
    b = np.uint64(0x9E3779B97F4A7C15)
    for k in range(low, high - 1, 2):
        a = (a ^ np.uint64(regions[k])) * np.uint64(0xBF58476D1CE4E5B9)
        b = (b ^ np.uint64(regions[k + 1])) * np.uint64(0x94D049BB133111EB)
        a ^= a >> np.uint64(29)
        b ^= b >> np.uint64(29)
    if (high - low) % 2 == 1:
        a = (a ^ np.uint64(regions[high - 1])) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (a ^ (b >> np.uint64(7))) * np.uint64(0xFF51AFD7ED558CCD)
    return mixed ^ (mixed >> np.uint64(32))


@kernel
def _same_cell(offsets: NDArray[np.int64], regions: NDArray[np.int32], k: int, q: int) -> bool:
    low, other = offsets[k], offsets[q]
    size = offsets[k + 1] - low
    if offsets[q + 1] - other != size:
        return False
    different = 0
    for j in range(size):
        different |= regions[low + j] ^ regions[other + j]
    return different == 0


@kernel
def _find_set(
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    cell: int,
    slots: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    first: NDArray[np.int64],
    n_sets: int,
) -> int:
    """Number of the set of `cell`; `n_sets` if it is new (then it is entered)."""
    mask = np.uint64(len(slots) - 1)
    mixed = _hash_cell(regions, offsets[cell], offsets[cell + 1])
    at = mixed & mask
    while slots[at] >= 0:
        number = int(slots[at])
        if hashes[at] == mixed and _same_cell(offsets, regions, cell, first[number]):
            return number
        at = (at + np.uint64(1)) & mask
    slots[at], hashes[at], first[n_sets] = n_sets, mixed, cell
    return n_sets


@kernel
def _empty_slots(n_sets: int) -> NDArray[np.int32]:
    """An empty table of a power of two of slots, at most half full with `n_sets` sets."""
    size = 64
    while size < 2 * (n_sets + 1):
        size *= 2
    return np.full(size, -1, dtype=np.int32)


@kernel
def _fill_bags(
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    times: int,
    low: int,
    high: int,
    used: NDArray[np.bool_],
    first: NDArray[np.int64],
    ids: NDArray[np.int32],
    weights: NDArray[np.float64],
    begins: NDArray[np.int64],
    lengths: NDArray[np.int64],
    cells: NDArray[np.int64],
) -> int:
    """Bags of pseudonyms low..high-1 in the block's own numbers: regions, then its sets.

    Returns the number of sets; `len(first)` means that there are too many and it gave up.
    """
    n_regions = len(used)
    slots = _empty_slots(len(first))
    hashes = np.empty(len(slots), dtype=np.uint64)
    counts = np.zeros(n_regions + len(first), dtype=np.int32)
    n_sets = 0
    for p in range(low, high):
        n, kept = 0, 0
        own_ids, own_weights = ids[begins[p] :], weights[begins[p] :]
        for cell in range(p * times, (p + 1) * times):
            size = offsets[cell + 1] - offsets[cell]
            if size == 0:
                continue
            kept += 1
            if size == 1:
                symbol = np.int64(regions[offsets[cell]])
                used[symbol] = True
            else:
                number = _find_set(offsets, regions, cell, slots, hashes, first, n_sets)
                if number == n_sets:
                    n_sets += 1
                    if n_sets == len(first):
                        return n_sets
                symbol = np.int64(n_regions + number)
            if counts[symbol] == 0:
                own_ids[n] = symbol
                n += 1
            counts[symbol] += 1
        for j in range(n):
            own_weights[j] = counts[own_ids[j]]
            counts[own_ids[j]] = 0
        lengths[p] = n
        cells[p] = kept
    return n_sets


@kernel
def _number_sets(
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    chosen: NDArray[np.int64],
    set_of: NDArray[np.int64],
    first: NDArray[np.int64],
) -> int:
    """Number the distinct sets among the chosen cells, in order of appearance."""
    slots = _empty_slots(len(chosen))
    hashes = np.empty(len(slots), dtype=np.uint64)
    n_sets = 0
    for k in range(len(chosen)):
        set_of[k] = _find_set(offsets, regions, chosen[k], slots, hashes, first, n_sets)
        if set_of[k] == n_sets:
            n_sets += 1
    return n_sets


@kernel
def _sets_with(
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    sets: NDArray[np.int64],
    keep: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Whether each set has a region of `keep`."""
    wanted = np.zeros(len(sets), dtype=np.bool_)
    for k in range(len(sets)):
        for j in range(offsets[sets[k]], offsets[sets[k] + 1]):
            wanted[k] |= keep[regions[j]]
    return wanted


@kernel
def _rename(
    rows: NDArray[np.int32],
    low: int,
    high: int,
    ids: NDArray[np.int32],
    weights: NDArray[np.float64],
    begins: NDArray[np.int64],
    lengths: NDArray[np.int64],
) -> None:
    """Give the entries of pseudonyms low..high-1 their row numbers; drop those without a row."""
    for p in range(low, high):
        n = 0
        own_ids, own_weights = ids[begins[p] :], weights[begins[p] :]
        for j in range(lengths[p]):
            row = rows[own_ids[j]]
            if row >= 0:
                own_ids[n], own_weights[n] = row, own_weights[j]
                n += 1
        lengths[p] = n


@kernel
def _fill_visits(
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    times: int,
    low: int,
    high: int,
    n_regions: int,
    ids: NDArray[np.int32],
    weights: NDArray[np.float64],
    begins: NDArray[np.int64],
    lengths: NDArray[np.int64],
    cells: NDArray[np.int64],
) -> None:
    counts = np.zeros(n_regions)
    for p in range(low, high):
        n, kept = 0, 0
        own_ids, own_weights = ids[begins[p] :], weights[begins[p] :]
        for cell in range(p * times, (p + 1) * times):
            begin, end = offsets[cell], offsets[cell + 1]
            if end == begin:
                continue
            kept += 1
            for k in range(begin, end):
                if counts[regions[k]] == 0.0:
                    own_ids[n] = regions[k]
                    n += 1
                counts[regions[k]] += 1.0 / (end - begin)
        for j in range(n):
            own_weights[j] = counts[own_ids[j]]
            counts[own_ids[j]] = 0.0
        lengths[p] = n
        cells[p] = kept
