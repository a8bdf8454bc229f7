"""Randomness: every random function takes `rng`, a contest derives named child seeds.

Same seed, same bytes, whatever the number of threads.
"""

from __future__ import annotations

import hashlib

import numpy as np

from tracecup.errors import InvalidParameter

Rng = int | np.random.Generator | None


def generator(rng: Rng) -> np.random.Generator:
    """A NumPy generator from a seed, a generator (passed through) or None (system entropy).

    >>> generator(7).integers(10) == generator(7).integers(10)
    np.True_
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is not None and rng < 0:
        raise InvalidParameter(f"a seed must be a whole number >= 0, got {rng}")
    return np.random.default_rng(rng)


def child_seed(seed: int, *names: str | int) -> int:
    """A 128-bit seed that belongs to `names` under `seed`; one-way, so a child tells nothing
    about its parent or its siblings (SHA-256 over the unambiguous spelling of the path).

    >>> child_seed(1, "team", 3) == child_seed(1, "team", 3)
    True
    >>> child_seed(1, "team", 3) == child_seed(1, "team", 4)
    False
    """
    spelling = "\x1f".join([str(seed), *(f"{type(n).__name__}:{n}" for n in names)])
    return int.from_bytes(hashlib.sha256(spelling.encode()).digest()[:16], "big")
