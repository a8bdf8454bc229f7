"""Points in well-known text, `POINT (8.54 47.37)`: where their two numbers stand.

The numbers themselves are read like any others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.kernels import kernel
from tracecup.records.scanners import LOWER_Z, SPACE

OPEN, CLOSE, SEMICOLON, LOWER_M = 40, 41, 59, 109
POINT = np.frombuffer(b"point", dtype=np.uint8).copy()


@kernel
def point_fields(  # noqa: PLR0912 - a scanner in one loop
    text: NDArray[np.uint8], begin: NDArray[np.int32], end: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_]]:
    """Where the two numbers of `POINT (x y)` stand: (begin and end of x, of y, whether it is one).

    Letters of any case, `Z`, `M` or `ZM` and further numbers behind the two, `SRID=n;` before.
    """
    left = np.full((2, len(begin)), -1, dtype=np.int32)
    right = np.full((2, len(begin)), -1, dtype=np.int32)
    good = np.zeros(len(begin), dtype=np.bool_)
    for k in range(len(begin)):
        at, stop = begin[k], end[k]
        if at < 0:
            continue
        for j in range(at, stop):
            if text[j] == SEMICOLON:
                at = j + 1
                break
        for j in range(5):
            if at < stop and (text[at] | 32) == POINT[j]:
                at += 1
            else:
                at = stop
        while at < stop and (text[at] == SPACE or (text[at] | 32) in (LOWER_Z, LOWER_M)):
            at += 1
        if at >= stop or text[at] != OPEN:
            continue
        at += 1
        for axis in range(2):
            while at < stop and text[at] == SPACE:
                at += 1
            first = at
            while at < stop and text[at] != SPACE and text[at] != CLOSE:
                at += 1
            if axis == 0:
                left[0, k], left[1, k] = first, at
            else:
                right[0, k], right[1, k] = first, at
        while stop > at and text[stop - 1] == SPACE:
            stop -= 1
        good[k] = stop > at and text[stop - 1] == CLOSE
    return left, right, good
