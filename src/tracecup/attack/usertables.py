"""Beliefs about users, a block of users at a time: nobody has to hold P[u, t, x] as a whole.

A user's table depends on herself and on what all share, so blocks of any size hold the same bytes.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tracecup import scratch

Table = NDArray[np.float32]


class UserTables(Protocol):
    """Tables of shape (users, slots, regions), float32, made when they are asked for."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """(users, slots, regions)."""

    def block(self, low: int, high: int) -> Table:
        """The tables of users low..high-1, shape (high - low, slots, regions)."""


class HeldTables:
    """Tables that are held as one array.

    >>> HeldTables(np.zeros((5, 2, 3), dtype=np.float32)).block(1, 3).shape
    (2, 2, 3)
    """

    def __init__(self, held: Table) -> None:
        self.held = held

    @property
    def shape(self) -> tuple[int, int, int]:
        users, slots, regions = self.held.shape
        return users, slots, regions

    def block(self, low: int, high: int) -> Table:
        """A view."""
        return self.held[low:high]


def tables_of(given: UserTables | Table) -> UserTables:
    """The same, whether it is held or made."""
    return HeldTables(given) if isinstance(given, np.ndarray) else given


def tables_of_some(tables: UserTables, users: NDArray[np.integer]) -> HeldTables:
    """The tables of a few users, held, in the order asked for."""
    chosen = np.empty((len(users), *tables.shape[1:]), dtype=np.float32)
    for k, user in enumerate(users.tolist()):
        chosen[k] = tables.block(user, user + 1)[0]
    return HeldTables(chosen)


def user_blocks(tables: UserTables) -> list[tuple[int, int]]:
    """Bounds of blocks of users whose tables take about 64 MiB."""
    users, slots, regions = tables.shape
    return scratch.parts(users, 4 * slots * regions)
