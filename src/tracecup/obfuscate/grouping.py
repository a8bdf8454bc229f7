"""Groups of similar users of nearly equal size: who shall be taken for whom.

Recursive cuts along the direction in which the users of a group differ most.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

POWER_STEPS = 30


def similar_groups(points: NDArray[np.floating], size: int) -> list[NDArray[np.int64]]:
    """Cut U points (U, D) into max(1, round(U / size)) groups whose sizes differ by at most one.

    A group that has to become q groups is sorted along its first principal axis and cut in the
    proportion floor(q/2) : ceil(q/2). O(U D log(U / size)).

    >>> [g.tolist() for g in similar_groups(np.array([[0.0], [9.0], [1.0], [8.0]]), 2)]
    [[0, 2], [1, 3]]
    """
    ends = _ends(len(points), size)
    users, count = len(points), len(ends) - 1
    groups: list[NDArray[np.int64]] = []
    pending = [(np.arange(users), 0, count)]
    while pending:
        members, low, high = pending.pop()
        if high - low == 1:
            groups.append(np.sort(members))
            continue
        middle = (low + high) // 2
        along = _first_axis(points[members])
        ranked = members[np.argsort(along, kind="stable")]
        cut = int(ends[middle] - ends[low])
        pending += [(ranked[cut:], middle, high), (ranked[:cut], low, middle)]
    return groups


def group_sizes(users: int, size: int) -> tuple[int, ...]:
    """The sizes of the groups that `similar_groups` makes of so many users.

    >>> group_sizes(30, 25), group_sizes(310, 100)
    ((30,), (103, 104, 103))
    """
    return tuple(np.diff(_ends(users, size)).tolist())


def _ends(users: int, size: int) -> NDArray[np.int64]:
    """Where the groups begin, and where the last one ends, in the order of the cuts."""
    count = max(1, round(users / max(1, size)))
    return np.linspace(0, users, count + 1).round().astype(np.int64)


def _first_axis(points: NDArray[np.floating]) -> NDArray[np.float64]:
    """Each point's place along the first principal axis, by power iteration.

    The sign is fixed (the largest coordinate of the axis is positive), so that groups come in
    the same order everywhere.
    """
    centred = np.asarray(points - points.mean(0), dtype=np.float64)
    axis = centred[np.argmax((centred**2).sum(1))]
    for _ in range(POWER_STEPS):
        axis = centred.T @ (centred @ axis)
        length = np.linalg.norm(axis)
        if length == 0.0:
            return np.zeros(len(points))
        axis = axis / length
    axis = axis * np.sign(axis[np.argmax(np.abs(axis))])
    return np.asarray(centred @ axis)
