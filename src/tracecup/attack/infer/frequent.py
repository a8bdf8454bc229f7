"""Habits: the region each user is most often in, overall and at each time of day.

Ties go to the region that was seen first, as in the winner's program.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.engine import map_blocks
from tracecup.kernels import kernel
from tracecup.traces import Traces


def frequent_regions(traces: Traces, n_regions: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Most frequent region of every user and slot over the days, and how often it occurs.

    Both of shape (users, slots). Where a user was never observed at a slot the count is 0 and
    the region is that of `usual_regions`. O(events).

    >>> from tracecup.city import Clock
    >>> days = Traces.of([[3, 1, 4, 1, 3, 0]], Clock.regular(days=3, slots=2))
    >>> [found.tolist() for found in frequent_regions(days, 5)]
    [[[3, 1]], [[2, 2]]]
    """
    slots = traces.clock.slots
    regions = np.empty((traces.n_users, slots), dtype=np.int32)
    counts = np.empty((traces.n_users, slots), dtype=np.int32)
    map_blocks(
        lambda low, high: _count_slots(
            traces.regions[low:high], slots, n_regions, regions[low:high], counts[low:high]
        ),
        traces.n_users,
    )
    if int(counts.min(initial=1)) == 0:
        usual = np.broadcast_to(usual_regions(traces, n_regions)[:, None], regions.shape)
        regions = np.where(counts == 0, usual, regions)
    return regions, counts


def usual_regions(traces: Traces, n_regions: int) -> NDArray[np.int32]:
    """Most frequent region of every user over all events, shape (users,).

    A user without any observation gets the most visited region of all users (ties: smallest).
    """
    regions = np.empty((traces.n_users, 1), dtype=np.int32)
    counts = np.empty((traces.n_users, 1), dtype=np.int32)
    map_blocks(
        lambda low, high: _count_slots(
            traces.regions[low:high], 1, n_regions, regions[low:high], counts[low:high]
        ),
        traces.n_users,
    )
    seen = traces.regions[traces.regions >= 0]
    popular = np.bincount(seen, minlength=n_regions).argmax()
    return np.where(counts[:, 0] == 0, popular, regions[:, 0]).astype(np.int32)


@kernel
def _count_slots(
    traces: NDArray[np.int32],
    slots: int,
    n_regions: int,
    regions: NDArray[np.int32],
    counts: NDArray[np.int32],
) -> None:
    """Most frequent region and its count for each user and each residue of the event number."""
    times = traces.shape[1]
    visits = np.zeros(n_regions, dtype=np.int32)
    for i in range(traces.shape[0]):
        for slot in range(slots):
            for j in range(slot, times, slots):
                if traces[i, j] >= 0:
                    visits[traces[i, j]] += 1
            regions[i, slot], counts[i, slot] = -1, 0
            for j in range(slot, times, slots):
                r = traces[i, j]
                if r >= 0 and visits[r] > counts[i, slot]:
                    regions[i, slot], counts[i, slot] = r, visits[r]
            for j in range(slot, times, slots):
                if traces[i, j] >= 0:
                    visits[traces[i, j]] = 0
