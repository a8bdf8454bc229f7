"""A product of which only the maximum of every chunk is written: a GPU kernel through Pallas.

Scores of a million by a million would take terabytes to write and to read again.
"""

from __future__ import annotations

from functools import partial
from typing import Any

TILE_ROWS, TILE_USERS, TILE_BYTES = 128, 256, 128
WARPS, STAGES = 8, 3


def fused_tops(
    left: Any,
    right: Any,
    chunk: int,
    *,
    rows: int = TILE_ROWS,
    users: int = TILE_USERS,
    depth: int = TILE_BYTES,
    warps: int = WARPS,
    stages: int = STAGES,
    interpret: bool = False,
) -> Any:
    """tops[c, k] = the largest product of row k of `left` with a row of chunk c of `right`.

    `left` (n, width) and `right` (chunks x chunk, width) are int8 or float16; sums are int32 or
    float32, and never below 0. Each program of the grid holds `rows` left rows, walks over a chunk
    in tiles of `users` and over the columns in steps of `depth` bytes, and keeps the running
    maximum in registers. n must be a multiple of `rows`, a chunk of `users`, the width of a step.
    """
    import jax
    import jax.numpy as jnp
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton

    kind = jnp.int32 if left.dtype == jnp.int8 else jnp.float32
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
