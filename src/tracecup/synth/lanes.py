"""Vector code for the two hot places of PPMTF: sums of outer products, and rows of weights.

Written out in vectors of eight numbers, so that speed does not hang on what a compiler guesses
and the order of every sum, hence every bit of the result, is the same on any processor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]  # ships no types
from numba import types
from numba.core import cgutils as untyped_cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from tracecup.kernels import inlined

LANES = 8
ROWS = 4
BLOCK = 32
_INT = ir.IntType(64)
_DOUBLE = ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, LANES)
_FIRST_LANE = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
_UNDEFINED = ir.Constant(_VECTOR, ir.Undefined)
_ZERO = ir.Constant(_VECTOR, [0.0] * LANES)

cgutils: Any = untyped_cgutils


def vector_code(function: Callable[..., tuple[Any, Any]]) -> Callable[..., Any]:
    """A function of addresses and numbers whose body is written as vector instructions."""
    return cast(Callable[..., Any], intrinsic(function))


def padded(z: int) -> int:
    """The smallest multiple of LANES that holds z numbers: the row length of all kernels.

    >>> padded(16), padded(20)
    (16, 24)
    """
    return -(-z // LANES) * LANES


@inlined
def add_outer_products(
    vectors: NDArray[np.float64], count: int, total: NDArray[np.float64]
) -> None:
    """total += sum of v v^T over the first `count` rows v of `vectors`, lower triangle only.

    `vectors` is (capacity, zp), `total` (zp, zp), both C-contiguous with zp a multiple of
    LANES. Entries above the diagonal within a tile of ROWS x LANES get sums too; nobody reads
    them. Every entry is one chain of fused multiply-adds in the order of the vectors.
    count * zp^2 / 2 multiply-adds, about 85 % of what a processor can do from zp = 16 on.
    """
    zp = vectors.shape[1]
    source, target = vectors.ctypes.data, total.ctypes.data
    for row in range(0, zp, ROWS):
        for column in range(0, row + ROWS, LANES):
            _add_tile(
                target + 8 * (row * zp + column), source + 8 * row, source + 8 * column, zp, count
            )


@inlined
def multiply_rows(
    left: NDArray[np.float64],
    i: int,
    right: NDArray[np.float64],
    j: int,
    out: NDArray[np.float64],
    k: int,
) -> None:
    """out[k] = left[i] * right[j], element by element; all three (any, zp) and C-contiguous."""
    zp = out.shape[1]
    _multiply(
        left.ctypes.data + 8 * zp * i,
        right.ctypes.data + 8 * zp * j,
        out.ctypes.data + 8 * zp * k,
        zp,
    )


@inlined
def dot_rows(left: NDArray[np.float64], i: int, right: NDArray[np.float64], j: int) -> float:
    """The inner product of left[i] and right[j]; both (any, zp) and C-contiguous."""
    zp = left.shape[1]
    return float(_dot(left.ctypes.data + 8 * zp * i, right.ctypes.data + 8 * zp * j, zp))


def in_blocks(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows (n, z) regrouped for `block_weights`: (ceil(n / BLOCK), z, BLOCK), zero-padded.

    >>> in_blocks(np.ones((40, 3))).shape
    (2, 3, 32)
    """
    n, z = rows.shape
    whole = np.zeros((-(-n // BLOCK) * BLOCK, z))
    whole[:n] = rows
    return np.ascontiguousarray(whole.reshape(-1, BLOCK, z).transpose(0, 2, 1))


@inlined
def block_weights(
    factors: NDArray[np.float64],
    blocks: NDArray[np.float64],
    k: int,
    floor: float,
    out: NDArray[np.float64],
) -> float:
    """out[l] = max(sum_f factors[f] * blocks[k, f, l], floor) for the BLOCK rows of block k;
    returns their sum.
    """
    z = blocks.shape[1]
    block = blocks.ctypes.data + 8 * BLOCK * z * k
    return float(_weights(factors.ctypes.data, block, z, floor, out.ctypes.data))


@vector_code
def _add_tile(
    typing: Any, target: Any, rows: Any, columns: Any, stride: Any, count: Any
) -> tuple[Any, Any]:
    """The ROWS x LANES tile at address `target` += sum of rows[k] (outer) columns[k]."""

    def build(context: Any, builder: ir.IRBuilder, _: Any, given: Any) -> Any:
        target, rows, columns, stride, count = given
        before = builder.block
        addresses = [
            _address(builder, target, builder.mul(stride, _INT(row))) for row in range(ROWS)
        ]
        start = [_load(builder, address) for address in addresses]
        loop = builder.append_basic_block("vector")
        after = builder.append_basic_block("after")
        builder.cbranch(builder.icmp_signed(">", count, _INT(0)), loop, after)

        builder.position_at_end(loop)
        k = builder.phi(_INT)
        sums = [builder.phi(_VECTOR) for _ in range(ROWS)]
        offset = builder.mul(k, stride)
        column = _load(builder, _address(builder, columns, offset))
        first = _address(builder, rows, offset)
        fused = _fused_multiply_add(builder)
        added = []
        for row in range(ROWS):
            place = builder.inttoptr(builder.add(first, _INT(8 * row)), _DOUBLE.as_pointer())
            spread = _spread(builder, builder.load(place))
            added.append(builder.call(fused, [spread, column, sums[row]]))
        following = builder.add(k, _INT(1))
        k.add_incoming(_INT(0), before)
        k.add_incoming(following, loop)
        for row in range(ROWS):
            sums[row].add_incoming(start[row], before)
            sums[row].add_incoming(added[row], loop)
        builder.cbranch(builder.icmp_signed("<", following, count), loop, after)

        builder.position_at_end(after)
        results = [builder.phi(_VECTOR) for _ in range(ROWS)]
        for row in range(ROWS):
            results[row].add_incoming(start[row], before)
            results[row].add_incoming(added[row], loop)
        for row in range(ROWS):
            _store(builder, addresses[row], results[row])
        return context.get_dummy_value()

    signature = types.void(types.intp, types.intp, types.intp, types.intp, types.intp)
    return signature, build


@vector_code
def _multiply(typing: Any, left: Any, right: Any, out: Any, length: Any) -> tuple[Any, Any]:
    """The `length` numbers (a multiple of LANES) at address `out` = those at left * right."""

    def build(context: Any, builder: ir.IRBuilder, _: Any, given: Any) -> Any:
        left, right, out, length = given
        with cgutils.for_range_slice(builder, _INT(0), length, _INT(LANES)) as (offset, _count):
            product = builder.fmul(
                _load(builder, _address(builder, left, offset)),
                _load(builder, _address(builder, right, offset)),
            )
            _store(builder, _address(builder, out, offset), product)
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, types.intp, types.intp), build


@vector_code
def _dot(typing: Any, left: Any, right: Any, length: Any) -> tuple[Any, Any]:
    """The inner product of the `length` (a multiple of LANES) numbers at two addresses."""

    def build(context: Any, builder: ir.IRBuilder, _: Any, given: Any) -> Any:
        left, right, length = given
        total = cgutils.alloca_once_value(builder, _ZERO)
        fused = _fused_multiply_add(builder)
        with cgutils.for_range_slice(builder, _INT(0), length, _INT(LANES)) as (offset, _count):
            x = _load(builder, _address(builder, left, offset))
            y = _load(builder, _address(builder, right, offset))
            builder.store(builder.call(fused, [x, y, builder.load(total)]), total)
        return _sum_of_lanes(builder, builder.load(total))

    return types.float64(types.intp, types.intp, types.intp), build


@vector_code
def _weights(
    typing: Any, factors: Any, block: Any, z: Any, floor: Any, out: Any
) -> tuple[Any, Any]:
    """`block_weights` on addresses."""

    def build(context: Any, builder: ir.IRBuilder, _: Any, given: Any) -> Any:
        factors, block, z, floor, out = given
        width = BLOCK // LANES
        totals = [cgutils.alloca_once_value(builder, _ZERO) for _ in range(width)]
        fused = _fused_multiply_add(builder)
        with cgutils.for_range(builder, z) as loop:
            place = builder.inttoptr(_address(builder, factors, loop.index), _DOUBLE.as_pointer())
            factor = _spread(builder, builder.load(place))
            first = _address(builder, block, builder.mul(loop.index, _INT(BLOCK)))
            for part, total in enumerate(totals):
                here = _load(builder, builder.add(first, _INT(8 * LANES * part)))
                builder.store(builder.call(fused, [factor, here, builder.load(total)]), total)
        least = _spread(builder, floor)
        parts = []
        for part, total in enumerate(totals):
            value = builder.load(total)
            above = builder.fcmp_ordered(">", value, least)
            parts.append(builder.select(above, value, least))
            _store(builder, builder.add(out, _INT(8 * LANES * part)), parts[-1])
        while len(parts) > 1:
            parts = [builder.fadd(x, y) for x, y in zip(parts[::2], parts[1::2], strict=True)]
        return _sum_of_lanes(builder, parts[0])

    signature = types.float64(types.intp, types.intp, types.intp, types.float64, types.intp)
    return signature, build


def _spread(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    lane = builder.insert_element(_UNDEFINED, value, ir.IntType(32)(0))
    return builder.shuffle_vector(lane, _UNDEFINED, _FIRST_LANE)


def _sum_of_lanes(builder: ir.IRBuilder, vector: ir.Value) -> ir.Value:
    """Halves added to halves: one fixed order."""
    width = LANES
    while width > 1:
        width //= 2
        undefined = ir.Constant(vector.type, ir.Undefined)
        low, high = (
            builder.shuffle_vector(
                vector,
                undefined,
                ir.Constant(ir.VectorType(ir.IntType(32), width), list(range(k, k + width))),
            )
            for k in (0, width)
        )
        vector = builder.fadd(low, high)
    return builder.extract_element(vector, ir.IntType(32)(0))


def _fused_multiply_add(builder: ir.IRBuilder) -> ir.Function:
    kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
    return cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f64")


def _address(builder: ir.IRBuilder, base: ir.Value, doubles: ir.Value) -> ir.Value:
    return builder.add(base, builder.mul(doubles, _INT(8)))


def _load(builder: ir.IRBuilder, address: ir.Value) -> ir.Value:
    return builder.load(builder.inttoptr(address, _VECTOR.as_pointer()), align=8)


def _store(builder: ir.IRBuilder, address: ir.Value, value: ir.Value) -> None:
    builder.store(value, builder.inttoptr(address, _VECTOR.as_pointer()), align=8)
