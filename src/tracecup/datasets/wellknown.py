"""Points in columns of Arrow tables: well-known binary, well-known text, or pairs of numbers.

GeoParquet, GeoArrow and geometry columns of spatial data bases use these three.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tracecup.kernels import kernel
from tracecup.records.delimited import decimals
from tracecup.records.pointtext import point_fields

Axis = NDArray[np.float64]
# A type's number in well-known binary, and the flags that PostGIS adds to it.
POINT, SRID_FLAG, TYPE_MASK, ISO_STEP = 1, 0x20000000, 0x0FFFFFFF, 1000


def point_columns(column: pa.Array) -> tuple[Axis, Axis, NDArray[np.bool_]]:
    """(x, y, which rows hold a point) of a column of points; NaN where there is none.

    >>> x, y, good = point_columns(pa.array(["POINT (8.5 47.3)", None]))
    >>> x.tolist(), y.tolist(), good.tolist()
    ([8.5, nan], [47.3, nan], [True, False])
    """
    kind = column.type
    if pa.types.is_struct(kind):
        parts = [_numbers(column.field(name)) for name in ("x", "y")]
        x, y = parts
        present = column.is_valid().to_numpy(zero_copy_only=False)
        good = present & np.isfinite(x) & np.isfinite(y)
    elif pa.types.is_fixed_size_list(kind):
        flat = _numbers(column.flatten()).reshape(-1, kind.list_size)
        present = column.is_valid().to_numpy(zero_copy_only=False)
        x, y = np.full(len(column), np.nan), np.full(len(column), np.nan)
        x[present], y[present] = flat[:, 0], flat[:, 1]
        good = present & np.isfinite(x) & np.isfinite(y)
    else:
        text, begin, end = _bytes_of(column)
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            left, right, fine = point_fields(text, begin, end)
            (x, good_x), (y, good_y) = decimals(text, *left), decimals(text, *right)
            good = fine & good_x & good_y
        else:
            x, y, good = _binary_points(text, begin, end)
            good &= np.isfinite(x) & np.isfinite(y)
    return np.where(good, x, np.nan), np.where(good, y, np.nan), np.asarray(good)


def holds_points(kind: pa.DataType) -> bool:
    """Whether a column of that type may hold points."""
    if pa.types.is_struct(kind):
        names = [kind.field(k).name for k in range(kind.num_fields)]
        return names[:2] == ["x", "y"]
    if pa.types.is_fixed_size_list(kind):
        return bool(kind.list_size >= 2 and pa.types.is_floating(kind.value_type))
    tests = (pa.types.is_binary, pa.types.is_large_binary)
    return any(t(kind) for t in (*tests, pa.types.is_string, pa.types.is_large_string))


def _numbers(column: pa.Array) -> Axis:
    cast = pc.cast(column, pa.float64()).fill_null(float("nan"))
    return np.asarray(cast.to_numpy(zero_copy_only=False))


def _bytes_of(
    column: pa.Array,
) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.int32]]:
    """(all bytes, begin, end) of a column of text or bytes; a null is empty."""
    words = pc.cast(column, pa.binary()).fill_null(b"")
    lengths = pc.binary_length(words).to_numpy(zero_copy_only=False)
    end = np.cumsum(lengths, dtype=np.int32)
    joined = np.frombuffer(b"".join(words.to_pylist()), dtype=np.uint8)
    return joined, (end - lengths).astype(np.int32), end


@kernel
def _binary_points(
    text: NDArray[np.uint8], begin: NDArray[np.int32], end: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    x = np.full(len(begin), np.nan)
    y = np.full(len(begin), np.nan)
    good = np.zeros(len(begin), dtype=np.bool_)
    word = np.empty(8, dtype=np.uint8)
    number = word.view(np.float64)
    for k in range(len(begin)):
        at = begin[k]
        if end[k] - at < 21 or text[at] > 1:
            continue
        little = text[at] == 1
        code = 0
        for j in range(4):
            code = code * 256 + int(text[at + 4 - j] if little else text[at + 1 + j])
        at += 5
        if code & SRID_FLAG:
            at += 4
        if (code & TYPE_MASK) % ISO_STEP != POINT or end[k] - at < 16:
            continue
        for axis in range(2):
            for j in range(8):
                word[j if little else 7 - j] = text[at + 8 * axis + j]
            if axis == 0:
                x[k] = number[0]
            else:
                y[k] = number[0]
        good[k] = True
    return x, y, good
