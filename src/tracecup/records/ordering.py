"""Putting records in order: by user, then time, then place, in time linear in the users.

Files are mostly grouped by user and in order of time, which a general sort does not use.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.engine import map_blocks
from tracecup.kernels import kernel


def order_by_user(
    user: NDArray[np.int64],
    n_users: int,
    time: NDArray[np.float64],
    place: NDArray[np.int32],
) -> NDArray[np.int64]:
    """Rows sorted by user (0..n_users-1), then time, then place; rows alike keep their order.

    A counting sort by user, then, in threads, a merge sort of each user's times, left out where
    they are in order, and one pass that sorts places of equal times. O(n + users) for rows in
    order, else O(n log(records of a user)).

    >>> columns = np.array([1, 0, 1]), 2, np.array([5.0, 1.0, 3.0]), np.array([0, 0, 0])
    >>> order_by_user(*columns).tolist()
    [1, 2, 0]
    """
    start, order = _grouped(user, n_users)

    def work(low: int, high: int) -> None:
        _sort_users(low, high, start, order, time, place)

    map_blocks(work, n_users)
    return np.asarray(order)


@kernel
def _grouped(user: NDArray[np.int64], n_users: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(where each user's rows begin, rows by user in their order)."""
    start = np.zeros(n_users + 1, dtype=np.int64)
    for k in range(len(user)):
        start[user[k] + 1] += 1
    for u in range(n_users):
        start[u + 1] += start[u]
    order = np.empty(len(user), dtype=np.int64)
    free = start[:-1].copy()
    for k in range(len(user)):
        order[free[user[k]]] = k
        free[user[k]] += 1
    return start, order


@kernel
def _sort_users(
    low: int,
    high: int,
    start: NDArray[np.int64],
    order: NDArray[np.int64],
    time: NDArray[np.float64],
    place: NDArray[np.int32],
) -> None:
    for u in range(low, high):
        rows = order[start[u] : start[u + 1]]
        rising = True
        for k in range(1, len(rows)):
            if time[rows[k]] < time[rows[k - 1]]:
                rising = False
                break
        if not rising:
            rows[:] = rows[np.argsort(time[rows], kind="mergesort")]
        for k in range(1, len(rows)):
            row = rows[k]
            at = k
            while at > 0 and time[rows[at - 1]] == time[row] and place[rows[at - 1]] > place[row]:
                rows[at] = rows[at - 1]
                at -= 1
            rows[at] = row


def first_of_events(
    user: NDArray[np.int32] | NDArray[np.int64], event: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Rows of the first record of every user's every event, by user and event.

    Rows come sorted by user; where a clock was put back, events of a user may fall. O(n), or
    O(n log n) where they do.

    >>> first_of_events(np.array([0, 0, 0, 1]), np.array([3, 3, 4, 3])).tolist()
    [0, 2, 3]
    """
    same, step = np.diff(user) == 0, np.diff(event)
    first = np.ones(len(user), dtype=np.bool_)
    if not bool((same & (step < 0)).any()):
        first[1:] = ~same | (step != 0)
        return np.flatnonzero(first)
    order = np.lexsort((np.arange(len(user)), event, user))
    first[1:] = (np.diff(user[order]) != 0) | (np.diff(event[order]) != 0)
    return np.asarray(order[first])


@kernel
def first_rows(
    rows: NDArray[np.int64],
    user: NDArray[np.int64],
    day: NDArray[np.int32],
    instant: NDArray[np.int32],
) -> tuple[NDArray[np.int64], bool]:
    """Those of `rows`, sorted by user and time, that are the first of their user's event.

    Also whether that is sure: not where the events of a user fall (see `first_of_events`). One
    pass without copies of the columns.

    >>> columns = np.array([0, 0, 1]), np.array([5, 5, 5]), np.array([2, 2, 2])
    >>> found, sure = first_rows(np.arange(3), *columns)
    >>> found.tolist(), sure
    ([0, 2], True)
    """
    kept = np.empty(len(rows), dtype=np.int64)
    found, sure = 0, True
    for k in range(len(rows)):
        row = rows[k]
        if k > 0:
            before = rows[k - 1]
            if user[row] == user[before]:
                step = day[row] - day[before]
                if step == 0:
                    step = instant[row] - instant[before]
                sure &= step >= 0
                if step == 0:
                    continue
        kept[found] = row
        found += 1
    return kept[:found], sure
