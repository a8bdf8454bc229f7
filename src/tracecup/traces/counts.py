"""Counts that everything later shares: visits, visits per slot, transitions within a day.

Unobserved events (-1) are skipped; a step over midnight is never a transition.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tracecup import scratch
from tracecup.engine import map_blocks
from tracecup.errors import InvalidTraces
from tracecup.kernels import kernel
from tracecup.traces.settraces import SetTraces
from tracecup.traces.traces import Traces

MOVE_BYTES = 100
"""What a move takes while it is counted: user, day, slot, both regions, and the table."""


def visit_counts(traces: Traces | SetTraces, n_regions: int) -> NDArray[np.float32]:
    """c[i, r]: how often user i was in region r, shape (users, n_regions), O(cells).

    A generalised cell adds 1/size to each member (with multiplicity), a deleted or unobserved
    one nothing. float32 holds the whole numbers of plain traces exactly.

    >>> visit_counts(Traces.of([[0, 2, 0]]), 3).tolist()
    [[2.0, 0.0, 1.0]]
    """
    _check_regions(traces.regions, n_regions)
    counts = np.zeros((traces.n_users, n_regions), dtype=np.float32)
    if isinstance(traces, Traces):
        regions = traces.regions

        def work(low: int, high: int) -> None:
            _count_visits(regions[low:high], counts[low:high])
    else:
        offsets, flat, times = traces.offsets, traces.regions, traces.times

        def work(low: int, high: int) -> None:
            _count_cells(offsets[low * times : high * times + 1], flat, times, counts[low:high])

    map_blocks(work, traces.n_users)
    return counts


def sparse_visit_counts(traces: Traces, n_regions: int) -> sparse.csr_array:
    """The same counts, those above 0 alone; in files where they are large. O(events).

    >>> sparse_visit_counts(Traces.of([[0, 2, 0]]), 3).toarray().tolist()
    [[2.0, 0.0, 1.0]]
    """
    _check_regions(traces.regions, n_regions)
    regions, m = traces.regions, traces.n_users
    lengths = np.empty(m, dtype=np.int64)
    map_blocks(lambda low, high: _count_places(regions[low:high], n_regions, lengths[low:high]), m)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    places, counts = scratch.empty(offsets[-1], np.int32), scratch.empty(offsets[-1], np.float32)
    map_blocks(
        lambda low, high: _list_places(
            regions[low:high], n_regions, offsets[low : high + 1], places, counts
        ),
        m,
    )
    table = sparse.csr_array((counts, places, offsets), shape=(m, n_regions), copy=False)
    table.has_sorted_indices = True
    return table


def slot_counts(traces: Traces, n_regions: int) -> NDArray[np.int64]:
    """Population: number of events in region r at slot t, shape (slots, n_regions)."""
    _check_regions(traces.regions, n_regions)
    slots = traces.clock.slots
    counts = np.zeros(slots * n_regions, dtype=np.int64)
    for low, high in scratch.parts(traces.n_users, 16 * traces.times):
        regions = traces.regions[low:high]
        key = traces.clock.slot_of * n_regions + regions
        counts += np.bincount(key[regions >= 0], minlength=slots * n_regions)
    return counts.reshape(slots, n_regions)


def user_slot_counts(traces: Traces, n_regions: int) -> sparse.csr_array:
    """Visits per user and slot: sparse (users, slots * n_regions), column t * n_regions + r."""
    _check_regions(traces.regions, n_regions)
    user, time = np.nonzero(traces.regions >= 0)
    column = traces.clock.slot_of[time] * n_regions + traces.regions[user, time]
    return _coordinate_counts(user, column, (traces.n_users, traces.clock.slots * n_regions))


def transition_counts(traces: Traces, n_regions: int) -> sparse.csr_array:
    """Moves from region i to region j in consecutive slots of one day, sparse (X, X), pooled."""
    _check_regions(traces.regions, n_regions)
    counts = sparse.csr_array((n_regions, n_regions), dtype=np.float64)
    for low, high in _move_blocks(traces):
        _, before, after = _transitions(traces, low, high)
        counts += _coordinate_counts(before, after, counts.shape)
    return counts


def user_transition_counts(traces: Traces, n_regions: int) -> sparse.csr_array:
    """The same for each user: sparse (users, X * X), column i * X + j.

    Counted for a block of users at a time; what is held is one entry for each different move.
    """
    _check_regions(traces.regions, n_regions)
    blocks = []
    for low, high in _move_blocks(traces):
        user, before, after = _transitions(traces, low, high)
        column = before * n_regions + after
        blocks.append(_coordinate_counts(user, column, (high - low, n_regions**2)))
    return blocks[0] if len(blocks) == 1 else sparse.vstack(blocks, format="csr")


def _move_blocks(traces: Traces) -> list[tuple[int, int]]:
    """Bounds of blocks of users whose moves take about 64 MiB while they are counted."""
    return scratch.parts(traces.n_users, MOVE_BYTES * traces.times) or [(0, 0)]


def _transitions(
    traces: Traces, low: int, high: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(user, from, to) of every transition within a day between two observed events.

    Of users low..high-1, who are counted from 0.
    """
    days = traces.regions[low:high].reshape(high - low, traces.clock.days, traces.clock.slots)
    before, after = days[:, :, :-1], days[:, :, 1:]
    user, day, slot = np.nonzero((before >= 0) & (after >= 0))
    return user, before[user, day, slot].astype(np.int64), after[user, day, slot].astype(np.int64)


def _coordinate_counts(
    row: NDArray[np.int64], column: NDArray[np.int64], shape: tuple[int, int]
) -> sparse.csr_array:
    ones = np.ones(len(row), dtype=np.float64)
    counts = sparse.coo_array((ones, (row, column)), shape=shape).tocsr()
    counts.sum_duplicates()
    return counts


def _check_regions(regions: NDArray[np.int32], n_regions: int) -> None:
    if regions.size and int(regions.max()) >= n_regions:
        raise InvalidTraces(
            f"region {int(regions.max())} (0-based) is not within 0..{n_regions - 1}"
        )


@kernel
def _count_visits(regions: NDArray[np.int32], counts: NDArray[np.float32]) -> None:
    for i in range(regions.shape[0]):
        for j in range(regions.shape[1]):
            if regions[i, j] >= 0:
                counts[i, regions[i, j]] += np.float32(1.0)


@kernel
def _count_places(regions: NDArray[np.int32], n_regions: int, lengths: NDArray[np.int64]) -> None:
    """Different regions of each user."""
    last = np.full(n_regions, -1)
    for i in range(regions.shape[0]):
        lengths[i] = 0
        for j in range(regions.shape[1]):
            r = regions[i, j]
            if r >= 0 and last[r] != i:
                last[r] = i
                lengths[i] += 1


@kernel
def _list_places(
    regions: NDArray[np.int32],
    n_regions: int,
    offsets: NDArray[np.int64],
    places: NDArray[np.int32],
    counts: NDArray[np.float32],
) -> None:
    """The different regions of each user in ascending order, and how often she was there."""
    seen = np.zeros(n_regions, dtype=np.int64)
    for i in range(regions.shape[0]):
        at = offsets[i]
        for j in range(regions.shape[1]):
            r = regions[i, j]
            if r >= 0:
                if seen[r] == 0:
                    places[at] = r
                    at += 1
                seen[r] += 1
        places[offsets[i] : at].sort()
        for k in range(offsets[i], at):
            counts[k] = seen[places[k]]
            seen[places[k]] = 0


@kernel
def _count_cells(
    offsets: NDArray[np.int64],
    regions: NDArray[np.int32],
    times: int,
    counts: NDArray[np.float32],
) -> None:
    for i in range(counts.shape[0]):
        for j in range(times):
            low, high = offsets[i * times + j], offsets[i * times + j + 1]
            if high > low:
                share = np.float32(1.0 / (high - low))
                for k in range(low, high):
                    counts[i, regions[k]] += share
