"""Replay of the organisers' programs: their generator, seeded as they seeded it.

Only for matching published numbers; everything else uses NumPy's modern generators.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tracecup.errors import InvalidParameter
from tracecup.registry import parameter
from tracecup.rng import Rng

DEFAULT_SEED = 1
MAX_SEED = 2**32 - 1


def replay_parameter() -> Any:
    """The option `replay` as every replayable method declares it."""
    return parameter(
        False,
        "draw what the organisers' 2019 program drew (legacy generator; seed 1 unless given)",
        positional=False,
    )


def legacy_generator(rng: Rng) -> np.random.RandomState:
    """The legacy generator for `rng`: a seed, or None for the organisers' seed 1.

    >>> round(float(legacy_generator(None).random_sample()), 6)
    0.417022
    """
    seed = DEFAULT_SEED if rng is None else rng
    if not isinstance(seed, int) or not 0 <= seed <= MAX_SEED:
        raise InvalidParameter(f"a replay needs a whole seed within 0..{MAX_SEED}, got {seed!r}")
    return np.random.RandomState(seed)
