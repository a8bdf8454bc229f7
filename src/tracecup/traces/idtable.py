"""ID tables: which user is behind which pseudonym, as known or as guessed.

Row k is pseudonym number m+1+k in files.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tracecup.errors import InvalidTraces
from tracecup.traces.traces import frozen_int32


@dataclass(frozen=True, eq=False)
class IdTable:
    """`users[k]` is the (0-based) user behind pseudonym k.

    The judge's own table is a permutation; a guessed one may name a user twice.

    >>> truth = IdTable.of([1, 2, 0])
    >>> truth.is_permutation, truth.inverse().tolist()
    (True, [2, 0, 1])
    """

    users: NDArray[np.int32]

    def __post_init__(self) -> None:
        users = frozen_int32(self.users, "users", 1)
        bad = np.flatnonzero((users < 0) | (users >= len(users)))
        if bad.size:
            k = int(bad[0])
            raise InvalidTraces(
                f"pseudonym {k} (0-based) names user {int(users[k])}, not 0..{len(users) - 1}"
            )
        object.__setattr__(self, "users", users)

    @classmethod
    def of(cls, users: ArrayLike) -> IdTable:
        """From anything like an array of 0-based users, one per pseudonym."""
        return cls(np.asarray(users))

    def __len__(self) -> int:
        return len(self.users)

    @property
    def is_permutation(self) -> bool:
        """Whether every user stands exactly once."""
        return bool((np.bincount(self.users, minlength=len(self)) == 1).all())

    def inverse(self) -> NDArray[np.int32]:
        """Pseudonym (0-based) of every user; only for permutations."""
        if not self.is_permutation:
            raise InvalidTraces("only a one-to-one ID table can be inverted")
        inverse = np.empty(len(self), dtype=np.int32)
        inverse[self.users] = np.arange(len(self), dtype=np.int32)
        return inverse

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IdTable):
            return NotImplemented
        return np.array_equal(self.users, other.users)

    __hash__ = None  # type: ignore[assignment]  # equal by content of an array

    def __repr__(self) -> str:
        """Never shows the pairs: an ID table is a secret."""
        return f"IdTable(<{len(self)} pairs>)"
