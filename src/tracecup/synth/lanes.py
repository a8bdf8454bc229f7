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


def padded(z: int) -> int:
    """The smallest multiple of LANES that holds z numbers: the row length of all kernels.

    >>> padded(16), padded(20)
    (16, 24)
    """
    return -(-z // LANES) * LANES


@inlined
def add_outer_products(
    vectors: NDArray[np.float64], count: int, totals: NDArray[np.float64], k: int
) -> None:
    """totals[k] += sum of v v^T over the first `count` rows v of `vectors`, lower triangle only.

    `vectors` is (capacity, zp), `totals` (any, zp, zp), both C-contiguous with zp a multiple of
    LANES. Entries above the diagonal within a tile of ROWS x LANES get sums too; nobody reads
    them. Every entry is one chain of fused multiply-adds in the order of the vectors.
    count * zp^2 / 2 multiply-adds, about 85 % of what a processor can do from zp = 16 on.
    """
    zp = vectors.shape[1]
    for row in range(0, zp, ROWS):
        for column in range(0, row + ROWS, LANES):
            _add_tile(totals, (k * zp + row) * zp + column, vectors, row, column, zp, count)


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
    _multiply(left, zp * i, right, zp * j, out, zp * k, zp)


@inlined
def dot_rows(left: NDArray[np.float64], i: int, right: NDArray[np.float64], j: int) -> float:
    """The inner product of left[i] and right[j]; both (any, zp) and C-contiguous."""
    zp = left.shape[1]
    return float(_dot(left, zp * i, right, zp * j, zp))


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
    i: int,
    blocks: NDArray[np.float64],
    k: int,
    floor: float,
    out: NDArray[np.float64],
) -> float:
    """out[l] = max(sum_f factors[i, f] * blocks[k, f, l], floor) for the BLOCK rows of block k;
    returns their sum.
    """
    z = blocks.shape[1]
    return float(_weights(factors, factors.shape[1] * i, blocks, BLOCK * z * k, z, floor, out))


def vector_code(function: Callable[..., tuple[Any, Any]]) -> Callable[..., Any]:
    """A function whose body is written as vector instructions."""
    return cast(Callable[..., Any], intrinsic(function))


@vector_code
def _add_tile(
    typing: Any, target: Any, at: Any, source: Any, row: Any, column: Any, stride: Any, count: Any
) -> tuple[Any, Any]:
    """The ROWS x LANES tile from number `at` of `target` on += the sum over k of the products of
    ROWS numbers from `row` on and LANES numbers from `column` on in row k of `source`.
    """
    signature = types.void(target, types.intp, source, *[types.intp] * 4)

    def build(context: Any, builder: ir.IRBuilder, _: Any, given: Any) -> Any:
        target_data = _data(context, builder, target, given[0])
        source_data = _data(context, builder, source, given[2])
        _, at, _, row, column, stride, count = given
        before = builder.block
        places = [builder.add(at, builder.mul(stride, _INT(r))) for r in range(ROWS)]
        start = [_load(builder, target_data, place) for place in places]
        loop = builder.append_basic_block("vector")
        after = builder.append_basic_block("after")
        builder.cbranch(builder.icmp_signed(">", count, _INT(0)), loop, after)

        builder.position_at_end(loop)
        k = builder.phi(_INT)
        sums = [builder.phi(_VECTOR) for _ in range(ROWS)]
        first = builder.mul(k, stride)
        numbers = _load(builder, source_data, builder.add(first, column))
        first = builder.add(first, row)
        added = []
        for r in range(ROWS):
            factor = builder.load(builder.gep(source_data, [builder.add(first, _INT(r))]))
            added.append(_multiply_add(builder, _spread(builder, factor), numbers, sums[r]))
        following = builder.add(k, _INT(1))
        k.add_incoming(_INT(0), before)
        k.add_incoming(following, loop)
        for r in range(ROWS):
            sums[r].add_incoming(start[r], before)
            sums[r].add_incoming(added[r], loop)
        builder.cbranch(builder.icmp_signed("<", following, count), loop, after)

        builder.position_at_end(after)
        results = [builder.phi(_VECTOR) for _ in range(ROWS)]
        for r in range(ROWS):
            results[r].add_incoming(start[r], before)
            results[r].add_incoming(added[r], loop)
        for r in range(ROWS):
            _store(builder, target_data, places[r], results[r])
        return context.get_dummy_value()

    return signature, build


@vector_code
def _multiply(
    typing: Any, left: Any, i: Any, right: Any, j: Any, out: Any, k: Any, length: Any
) -> tuple[Any, Any]:
    """The `length` (a multiple of LANES) numbers from k on in `out`: left from i * right from j."""
    signature = types.void(left, types.intp, right, types.intp, out, types.intp, types.intp)

    def build(context: Any, builder: ir.IRBuilder, _: Any, given: Any) -> Any:
        x = _data(context, builder, left, given[0])
        y = _data(context, builder, right, given[2])
        product = _data(context, builder, out, given[4])
        i, j, k, length = given[1], given[3], given[5], given[6]
        with cgutils.for_range_slice(builder, _INT(0), length, _INT(LANES)) as (offset, _count):
            value = builder.fmul(
                _load(builder, x, builder.add(i, offset)), _load(builder, y, builder.add(j, offset))
            )
            _store(builder, product, builder.add(k, offset), value)
        return context.get_dummy_value()

    return signature, build


@vector_code
def _dot(typing: Any, left: Any, i: Any, right: Any, j: Any, length: Any) -> tuple[Any, Any]:
    """The inner product of `length` (a multiple of LANES) numbers, left from i, right from j."""
    signature = types.float64(left, types.intp, right, types.intp, types.intp)

    def build(context: Any, builder: ir.IRBuilder, _: Any, given: Any) -> Any:
        x = _data(context, builder, left, given[0])
        y = _data(context, builder, right, given[2])
        i, j, length = given[1], given[3], given[4]
        total = cgutils.alloca_once_value(builder, _ZERO)
        with cgutils.for_range_slice(builder, _INT(0), length, _INT(LANES)) as (offset, _count):
            value = _multiply_add(
                builder,
                _load(builder, x, builder.add(i, offset)),
                _load(builder, y, builder.add(j, offset)),
                builder.load(total),
            )
            builder.store(value, total)
        return _sum_of_lanes(builder, builder.load(total))

    return signature, build


@vector_code
def _weights(
    typing: Any, factors: Any, i: Any, blocks: Any, k: Any, z: Any, floor: Any, out: Any
) -> tuple[Any, Any]:
    """`block_weights` of the z factors from number i on and the block from number k on."""
    signature = types.float64(
        factors, types.intp, blocks, types.intp, types.intp, types.float64, out
    )

    def build(context: Any, builder: ir.IRBuilder, _: Any, given: Any) -> Any:
        x = _data(context, builder, factors, given[0])
        y = _data(context, builder, blocks, given[2])
        result = _data(context, builder, out, given[6])
        i, k, z, floor = given[1], given[3], given[4], given[5]
        totals = [cgutils.alloca_once_value(builder, _ZERO) for _ in range(BLOCK // LANES)]
        with cgutils.for_range(builder, z) as loop:
            factor = _spread(builder, builder.load(builder.gep(x, [builder.add(i, loop.index)])))
            first = builder.add(k, builder.mul(loop.index, _INT(BLOCK)))
            for part, total in enumerate(totals):
                here = _load(builder, y, builder.add(first, _INT(LANES * part)))
                builder.store(_multiply_add(builder, factor, here, builder.load(total)), total)
        least = _spread(builder, floor)
        parts = []
        for part, total in enumerate(totals):
            value = builder.load(total)
            above = builder.fcmp_ordered(">", value, least)
            parts.append(builder.select(above, value, least))
            _store(builder, result, _INT(LANES * part), parts[-1])
        while len(parts) > 1:
            parts = [builder.fadd(a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        return _sum_of_lanes(builder, parts[0])

    return signature, build


def _data(context: Any, builder: ir.IRBuilder, array: Any, value: Any) -> ir.Value:
    """The address of an array's numbers; taken inside, so that the array lives as long."""
    if array.dtype != types.float64 or array.layout != "C":
        raise TypeError(f"vector code needs C-contiguous float64 arrays, got {array}")
    return context.make_array(array)(context, builder, value).data


def _multiply_add(builder: ir.IRBuilder, x: ir.Value, y: ir.Value, z: ir.Value) -> ir.Value:
    """x * y + z, rounded once."""
    kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
    name = f"llvm.fma.v{LANES}f64"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [x, y, z])


def _spread(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """One number in all lanes."""
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


def _load(builder: ir.IRBuilder, data: ir.Value, place: ir.Value) -> ir.Value:
    pointer = builder.bitcast(builder.gep(data, [place]), _VECTOR.as_pointer())
    return builder.load(pointer, align=8)


def _store(builder: ir.IRBuilder, data: ir.Value, place: ir.Value, value: ir.Value) -> None:
    pointer = builder.bitcast(builder.gep(data, [place]), _VECTOR.as_pointer())
    builder.store(value, pointer, align=8)
