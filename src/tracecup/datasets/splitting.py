"""Which users train and which test, and the gap-free chains of the people-flow data.

Both as the published preparation does it, so that its files come out again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.errors import InvalidParameter
from tracecup.kernels import kernel

TESTING_SHARE = 0.2


def split_users(
    n: int, training: int | None = None, testing: int | None = None, seed: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Indices of training and of testing users among `n` users in id order, each ascending.

    Positions 0..n-1 are shuffled once by NumPy's legacy generator; the first `training` train,
    the next `testing` test. Without numbers a fifth (rounded down) tests and the rest trains
    (Foursquare); the people-flow data uses 500 and 500.

    >>> [part.tolist() for part in split_users(5, 3, 2)]
    [[1, 2, 4], [0, 3]]
    """
    if n < 0 or seed < 0:
        raise InvalidParameter(f"users and seed must be >= 0, got {n} and {seed}")
    if testing is None:
        testing = int(n * TESTING_SHARE) if training is None else n - training
    if training is None:
        training = n - testing
    if training < 0 or testing < 0 or training + testing > n:
        raise InvalidParameter(
            f"{n} users cannot be split into {training} training and {testing} testing users"
        )
    order = np.arange(n)
    # The published preparation uses this generator; no other gives its split.
    np.random.RandomState(seed).shuffle(order)
    return np.sort(order[:training]), np.sort(order[training : training + testing])


@kernel
def keep_chains(
    user: NDArray[np.int64], instant: NDArray[np.int32], length: int
) -> NDArray[np.bool_]:
    """Mark one gap-free chain per user: instants 0, 1, ..., length - 1 in record order.

    The first record kept has instant 0, each next one follows it by exactly one instant; what
    does not fit is passed over. As in the published preparation the date is not looked at, so
    that a chain broken on one day may go on at the same hour of a later one. Users who do not
    reach `length` lose all records. Records must be grouped by user. O(records).
    """
    keep = np.zeros(len(user), dtype=np.bool_)
    begin = 0
    while begin < len(user):
        end = begin
        wanted = 0
        while end < len(user) and user[end] == user[begin]:
            if wanted < length and instant[end] == wanted:
                keep[end] = True
                wanted += 1
            end += 1
        if wanted < length:
            keep[begin:end] = False
        begin = end
    return keep
