"""A product of which only the maximum of every chunk is written: a GPU kernel through Pallas.

Scores of a million by a million would take terabytes to write and to read again.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple


class Tile(NamedTuple):
    """Left rows and users of a tile, bytes of a step over the columns, warps, stages of loads."""

    rows: int
    users: int
    depth: int
    warps: int = 8
    stages: int = 3


TILES = {"int8": Tile(256, 128, 128, stages=3), "float16": Tile(128, 256, 128, stages=4)}
"""The fastest of those that `benchmarks/gpu_reid.py` tried on an H200."""


def fused_tops(
    left: Any,
    right: Any,
    chunk: int,
    *,
    tile: Tile | None = None,
    interpret: bool = False,
) -> Any:
    """tops[c, k] = the largest product of row k of `left` with a row of chunk c of `right`.

    `left` (n, width) and `right` (chunks x chunk, width) are int8 or float16; sums are int32 or
    float32, and never below 0. Each program of the grid holds the rows of a `tile` (by default the
    one of `TILES`), walks over a chunk tile by tile and over the columns step by step, and keeps
    the running maximum in registers. n must be a multiple of the tile's rows, a chunk of its
    users, the width of a step.
    """
    import jax
    import jax.numpy as jnp
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton

    kind = jnp.int32 if left.dtype == jnp.int8 else jnp.float32
    rows, users, depth, warps, stages = tile or TILES[str(left.dtype)]
    n, width = left.shape
    chunks = right.shape[0] // chunk
    step = min(width, depth // left.dtype.itemsize)
    work = partial(_tops, users=users, step=step, kind=kind)
    call = pl.pallas_call(
        work,
        out_shape=jax.ShapeDtypeStruct((chunks, n), kind),
        grid=(n // rows, chunks),
        in_specs=[
            pl.BlockSpec((rows, width), lambda i, c: (i, 0)),
            pl.BlockSpec((chunk, width), lambda i, c: (c, 0)),
        ],
        out_specs=pl.BlockSpec((None, rows), lambda i, c: (c, i)),
        compiler_params=triton.CompilerParams(num_warps=warps, num_stages=stages),
        interpret=interpret,
    )
    return call(left, right)


def _tops(left: Any, right: Any, out: Any, *, users: int, step: int, kind: Any) -> None:
    """One program: a block of left rows against one chunk."""
    import jax.numpy as jnp
    from jax import lax
    from jax.experimental import pallas as pl

    n, width = left.shape

    def tile(t: Any, top: Any) -> Any:
        def deeper(d: Any, total: Any) -> Any:
            a = left[:, pl.ds(d * step, step)]
            b = right[pl.ds(t * users, users), pl.ds(d * step, step)]
            return total + lax.dot_general(
                a, b, (((1,), (1,)), ((), ())), preferred_element_type=kind
            )

        total = lax.fori_loop(0, width // step, deeper, jnp.zeros((n, users), kind))
        return jnp.maximum(top, total.max(axis=1))

    out[...] = lax.fori_loop(0, right.shape[0] // users, tile, jnp.zeros((n,), kind))
