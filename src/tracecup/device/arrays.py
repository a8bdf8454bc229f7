"""Where the large products run: numpy (the plain meaning of each step) or JAX on a GPU.

Both sides are dense there, (rows, columns), and come in blocks, so that memory stays bounded.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracecup.device.sparse import SparseRows
from tracecup.errors import InvalidParameter, MissingPackage

ROWS_AT_ONCE = 1 << 16
SECOND_BLOCK = 2048
ADDRESSABLE = 1 << 31
"""Entries of an array that a kernel with 32-bit offsets reaches."""

FUSED_COLUMNS = 128
"""A fused product walks over the columns in steps; columns of zeros fill up the last one."""

DEVICES = ("cpu", "cuda")

Tops = tuple[NDArray[np.float64], NDArray[np.int64]]
"""The largest numbers of every row, descending, and where they stand; both (rows, keep)."""


Asked = tuple[int, NDArray[np.int64]]
"""A chunk of the right side and the rows of the left side that are to be multiplied with it."""


class Arrays(ABC):
    """Dense matrices somewhere, and the two products that a search needs of them.

    `block` rows of the left side and `chunk` rows of the right side are multiplied at once.
    """

    block: int
    chunk: int

    @abstractmethod
    def place(self, rows: SparseRows, dtype: str, scale: float, multiple: int) -> Any:
        """The rows times `scale`, rounded to `dtype`; zero rows up to a multiple of `multiple`."""

    @abstractmethod
    def chunk_tops(self, left: Any, right: Any, n: int, keep: int) -> Tops:
        """Per row of `left` (the first n) the `keep` chunks of `right` with the largest product."""

    @abstractmethod
    def row_tops(self, left: Any, right: Any, asked: list[Asked], keep: int) -> Tops:
        """Per asked row of `left`, in turn, the `keep` largest products with that chunk's rows."""


@dataclass
class NumpyArrays(Arrays):
    """Every step in plain numpy, rounding as a device does: for tests, and to read."""

    block: int = 4096
    chunk: int = 4096

    def place(self, rows: SparseRows, dtype: str, scale: float, multiple: int) -> Any:
        out = np.zeros((_up(len(rows), multiple), rows.width), dtype=dtype)
        dense = rows.dense(np.arange(len(rows))) * scale
        out[: len(rows)] = np.rint(dense) if dtype == "int8" else dense
        return out

    def chunk_tops(self, left: Any, right: Any, n: int, keep: int) -> Tops:
        tops = np.empty((n, len(right) // self.chunk))
        for c in range(tops.shape[1]):
            tops[:, c] = _product(left[:n], self._chunk(right, c)).max(axis=1)
        return _largest(tops, keep)

    def row_tops(self, left: Any, right: Any, asked: list[Asked], keep: int) -> Tops:
        parts = [_largest(_product(left[rows], self._chunk(right, at)), keep) for at, rows in asked]
        return np.concatenate([part[0] for part in parts]), np.concatenate([p[1] for p in parts])

    def _chunk(self, right: Any, at: int) -> Any:
        return right[at * self.chunk : (at + 1) * self.chunk]


@dataclass
class JaxArrays(Arrays):
    """The same through JAX; `product` of left and right blocks is XLA's or a fused kernel's.

    A fused product (`tracecup.device.fused`) takes a block of left rows, all right rows and the
    chunk and hands back the maxima alone, (chunks, block): scores are not written to memory.
    """

    block: int = 16384
    chunk: int = 4096
    product: Any = None

    def place(self, rows: SparseRows, dtype: str, scale: float, multiple: int) -> Any:
        import jax.numpy as jnp

        longest = int(rows.lengths.max(initial=1))
        width = rows.width if self.product is None else _up(rows.width, FUSED_COLUMNS)
        out = jnp.zeros((_up(len(rows), multiple), width), dtype=dtype)
        step = min(ROWS_AT_ONCE, len(out))
        for low in range(0, len(rows), step):
            begin = min(low, len(out) - step)  # the last block overlaps, so that shapes agree
            chosen = np.arange(begin, min(begin + step, len(rows)))
            columns, values = rows.padded(chosen)
            values = np.rint(values * scale) if dtype == "int8" else values * scale
            wide = np.full((step, longest), width, dtype=np.int32)
            filled = np.zeros((step, longest), dtype=dtype)
            wide[: len(chosen), : columns.shape[1]] = np.where(columns < 0, width, columns)
            filled[: len(chosen), : columns.shape[1]] = values.astype(dtype)
            out = _jitted("scatter")(out, wide, filled, begin)
        return out.block_until_ready()

    def chunk_tops(self, left: Any, right: Any, n: int, keep: int) -> Tops:
        work = _jitted("chunk_tops")
        product = self.product if right.size < ADDRESSABLE else None
        parts = [
            work(left, right, low, block=self.block, chunk=self.chunk, keep=keep, product=product)
            for low in range(0, n, self.block)
        ]  # fmt: skip
        values, places = _gathered(parts)
        return values[:n], places[:n]

    def row_tops(self, left: Any, right: Any, asked: list[Asked], keep: int) -> Tops:
        """Per asked row of `left`, in turn, the `keep` largest products with that chunk's rows.

        All blocks are handed to the device before the first result is waited for.
        """
        work, step = _jitted("row_tops"), min(self.block, SECOND_BLOCK)
        parts, real = [], []
        for at, rows in asked:
            padded = np.zeros(_up(len(rows), step), dtype=np.int32)
            padded[: len(rows)] = rows
            for low in range(0, len(padded), step):
                part = padded[low : low + step]
                parts.append(work(left, right, part, at, chunk=self.chunk, keep=keep))
            real.append(np.arange(len(padded)) < len(rows))
        values, places = _gathered(parts)
        wanted = np.concatenate(real)
        return values[wanted], places[wanted]


def device_arrays(device: str) -> Arrays:
    """The arrays of `--device`: numpy for `cpu`, JAX for `cuda`."""
    if device == "cpu":
        return NumpyArrays()
    require_device(device)
    from tracecup.device.fused import fused_tops

    return JaxArrays(product=fused_tops)


def require_device(device: str) -> None:
    """Raise unless JAX and a GPU are there; `cpu` is always."""
    if device == "cpu":
        return
    if device != "cuda":
        raise InvalidParameter(f"no device is called {device!r}: {' or '.join(DEVICES)}")
    if find_spec("jax") is None:
        raise MissingPackage(
            "--device cuda needs JAX with CUDA, which is not installed here; "
            "install tracecup[gpu], or use --device cpu"
        )
    import jax

    try:
        jax.devices("cuda")
    except RuntimeError as error:
        found = ", ".join(sorted({d.platform for d in jax.devices()}))
        raise InvalidParameter(f"--device cuda: JAX finds no GPU here, only {found}") from error


_functions: dict[str, Any] = {}


def _jitted(name: str) -> Any:
    """The compiled steps; made when first asked for, since JAX may be missing."""
    if not _functions:
        _functions.update(_steps())
    return _functions[name]


def _steps() -> dict[str, Any]:
    import jax
    import jax.numpy as jnp
    from jax import lax

    def scatter(out: Any, columns: Any, values: Any, begin: Any) -> Any:
        block = jnp.zeros((columns.shape[0], out.shape[1]), out.dtype)
        at = jnp.arange(columns.shape[0])[:, None]
        block = block.at[at, columns].set(values, mode="drop")
        return lax.dynamic_update_slice(out, block, (begin, 0))

    def product(a: Any, b: Any) -> Any:
        kind = jnp.int32 if a.dtype == jnp.int8 else jnp.float32
        return lax.dot_general(a, b, (((1,), (1,)), ((), ())), preferred_element_type=kind)

    def plain_tops(a: Any, right: Any, chunk: int) -> Any:
        def one(c: Any) -> Any:
            b = lax.dynamic_slice_in_dim(right, c * chunk, chunk)
            return product(a, b).max(axis=1)

        return lax.map(one, jnp.arange(right.shape[0] // chunk))

    def chunk_tops(
        left: Any, right: Any, low: Any, *, block: int, chunk: int, keep: int, product: Any
    ) -> Any:
        a = lax.dynamic_slice_in_dim(left, low, block)
        tops = (product or plain_tops)(a, right, chunk)
        return lax.top_k(tops.T, min(keep, tops.shape[0]))

    def row_tops(left: Any, right: Any, rows: Any, at: Any, *, chunk: int, keep: int) -> Any:
        b = lax.dynamic_slice_in_dim(right, at * chunk, chunk)
        return lax.top_k(product(left[rows].astype(b.dtype), b), min(keep, chunk))

    static = ("block", "chunk", "keep", "product")
    return {
        "scatter": jax.jit(scatter, donate_argnums=0),
        "chunk_tops": jax.jit(chunk_tops, static_argnames=static),
        "row_tops": jax.jit(row_tops, static_argnames=("chunk", "keep")),
    }


def _up(n: int, multiple: int) -> int:
    return max(1, -(-n // multiple)) * multiple


def _product(left: Any, right: Any) -> NDArray[np.float64]:
    """Whole numbers without error; float16 entries with sums in float32, as a device has them."""
    kind = np.int32 if left.dtype == np.int8 and right.dtype == np.int8 else np.float32
    return np.asarray(left.astype(kind) @ right.astype(kind).T, dtype=np.float64)


def _largest(rows: NDArray[np.float64], keep: int) -> Tops:
    order = np.argsort(-rows, axis=1, kind="stable")[:, :keep]
    return np.take_along_axis(rows, order, axis=1), order


def _gathered(parts: list[tuple[Any, Any]]) -> Tops:
    return (
        np.concatenate([np.asarray(part[0], dtype=np.float64) for part in parts]),
        np.concatenate([np.asarray(part[1], dtype=np.int64) for part in parts]),
    )
