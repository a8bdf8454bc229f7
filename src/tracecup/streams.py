"""Random streams by counter: draw n of a stream is a function of (key, n) and of nothing else.

Work may be cut into any blocks and threads; every user keeps her own stream.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tracecup.kernels import kernel
from tracecup.rng import Rng, generator

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
SHIFT_30, SHIFT_27, SHIFT_31 = np.uint64(30), np.uint64(27), np.uint64(31)
SHIFT_11, SHIFT_32 = np.uint64(11), np.uint64(32)
ONE, TWO = np.uint64(1), np.uint64(2)
LOW_32 = np.uint64(0xFFFFFFFF)
UNIT = 2.0**-53


def stream_key(rng: Rng) -> tuple[np.uint64, np.uint64]:
    """The 128-bit key of a new family of streams; two words are drawn from `rng`.

    >>> stream_key(1) == stream_key(1)
    True
    """
    first, second = generator(rng).integers(0, 2**64, size=2, dtype=np.uint64)
    return np.uint64(first), np.uint64(second)


@kernel
def mixed(x: np.uint64) -> np.uint64:
    """A bijection of 64-bit words in which every input bit moves about half the output bits.

    The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
    """
    x = (x ^ (x >> SHIFT_30)) * FIRST_FACTOR
    x = (x ^ (x >> SHIFT_27)) * SECOND_FACTOR
    return x ^ (x >> SHIFT_31)


@kernel
def word(key0: np.uint64, key1: np.uint64, n: np.uint64) -> np.uint64:
    """Draw `n` of the stream (key0, key1): 64 random bits, O(1) for any n."""
    return mixed(mixed(n * GOLDEN + key0) ^ key1)


@kernel
def child(key0: np.uint64, key1: np.uint64, index: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The key of stream number `index` below the family (key0, key1)."""
    return word(key0, key1, TWO * index), word(key0, key1, TWO * index + ONE)


@kernel
def uniform(key0: np.uint64, key1: np.uint64, n: np.uint64) -> float:
    """Draw `n` as a number in [0, 1), a multiple of 2^-53."""
    return float(word(key0, key1, n) >> SHIFT_11) * UNIT


@kernel
def fill_normals(key0: np.uint64, key1: np.uint64, out: NDArray[np.float64]) -> None:
    """Fill `out` with independent standard normals, draws 0, 1, ... of the stream.

    Box-Muller: a pair of normals from a pair of draws, so that the counter stays simple.
    """
    for pair in range((len(out) + 1) // 2):
        n = TWO * np.uint64(pair)
        radius = math.sqrt(-2.0 * math.log(1.0 - uniform(key0, key1, n)))
        angle = 2.0 * math.pi * uniform(key0, key1, n + ONE)
        out[2 * pair] = radius * math.cos(angle)
        if 2 * pair + 1 < len(out):
            out[2 * pair + 1] = radius * math.sin(angle)
