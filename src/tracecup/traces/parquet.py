"""The Parquet twin of the contest's CSV files: the same columns, sets as lists of ids.

Read batch by batch from a process that decodes them, so that a hostile file costs no more than the
limits allow.
"""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tracecup.errors import InvalidFile, Problem
from tracecup.parquetfiles import Batches, decoded
from tracecup.safeio import Limits
from tracecup.traces.columns import Columns, Layout

if TYPE_CHECKING:
    import pyarrow as pa

Path = str | PathLike[str]
GROUP_ROWS = 1 << 20
"""Rows that are written together."""


def read_parquet(
    path: Path, layout: Layout, max_id: int, rows: int | None, max_set: int, limits: Limits
) -> Columns:
    """Read a Parquet twin into columns, with the checks of the CSV reader."""
    return decoded(
        path, limits, lambda file: _columns(path, file, layout, max_id, rows, max_set, limits)
    )


def _columns(
    path: Path,
    file: Batches,
    layout: Layout,
    max_id: int,
    rows: int | None,
    max_set: int,
    limits: Limits,
) -> Columns:
    lead: list[list[NDArray[np.int32]]] = [[] for _ in layout.lead]
    sizes: list[NDArray[np.int32]] = []
    ids: list[NDArray[np.int32]] = []
    row = n_ids = 0
    names = tuple(file.schema.names)
    if names != layout.header:
        wanted = f"the columns {','.join(layout.header)}"
        raise InvalidFile(path, [Problem(0, "", f"the columns {','.join(names)[:200]}", wanted)])
    claimed = file.rows
    if rows is not None and claimed != rows:
        raise InvalidFile(path, [Problem(0, "", f"{claimed} rows", f"exactly {rows} rows")])
    for batch in file:
        for c, name in enumerate(layout.lead):
            lead[c].append(whole_numbers(path, name, batch.column(c), row, 2**31 - 1))
        cell_sizes, ids_of_cells = cell_ids(
            path, layout, batch.column(len(layout.lead)), row, max_id
        )
        if cell_sizes.size and int(cell_sizes.max()) > max_set:
            k = int(np.argmax(cell_sizes > max_set))
            found = f"{int(cell_sizes[k])} ids in a cell"
            where = Problem(row + k + 1, layout.last, found, f"at most {max_set}")
            raise InvalidFile(path, [where])
        sizes.append(cell_sizes)
        ids.append(ids_of_cells - 1)
        row += batch.num_rows
        n_ids += len(ids_of_cells)
        for count, most in ((row, limits.max_rows), (n_ids, limits.max_ids)):
            if count > most:
                raise InvalidFile(path, [Problem(0, "", f"over {most} entries", f"at most {most}")])
    if rows is not None and row != rows:
        raise InvalidFile(path, [Problem(0, "", f"{row} rows", f"exactly {rows} rows")])
    offsets = np.zeros(row + 1, dtype=np.int64)
    np.cumsum(_concat(sizes), out=offsets[1:])
    return Columns(tuple(_concat(part) for part in lead), offsets, _concat(ids))


def write_parquet(file: IO[bytes], layout: Layout, columns: Columns) -> None:
    """Write columns as Parquet (zstd), a row group at a time; cells of one id each as numbers."""
    bounds = range(0, max(1, columns.rows), GROUP_ROWS)
    parts = (columns.part(low, min(low + GROUP_ROWS, columns.rows)) for low in bounds)
    write_groups(file, layout, parts, columns.is_single)


def write_groups(file: IO[bytes], layout: Layout, parts: Iterable[Columns], single: bool) -> None:
    """Write each part as a row group; `single` says that no cell of any has more or less ids."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = pa.int32()
    last = pa.list_(number) if layout.sets and not single else number
    kinds = [*(number for _ in layout.lead), last]
    schema = pa.schema(list(zip(layout.header, kinds, strict=True)))
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for part in parts:
            ids = pa.array(part.ids + 1, number)
            if last != number:
                ids = pa.ListArray.from_arrays(pa.array(part.offsets.astype(np.int32)), ids)
            arrays = [*(pa.array(values, number) for values in part.lead), ids]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def parquet_layout(path: Path, limits: Limits) -> tuple[tuple[str, ...], bool]:
    """Column names of a Parquet file and whether the last column holds lists."""
    import pyarrow as pa

    def look(file: Batches) -> tuple[tuple[str, ...], bool]:
        last = file.schema.types[-1] if file.schema.types else pa.null()
        return tuple(file.schema.names), pa.types.is_list(last) or pa.types.is_large_list(last)

    return decoded(path, limits, look, whole=False)


def whole_numbers(
    path: Path, name: str, column: pa.Array, row: int, most: int
) -> NDArray[np.int32]:
    """The numbers of a column, 1 to `most`; `row` is how many rows stand before it."""
    import pyarrow as pa

    if not pa.types.is_integer(column.type):
        raise InvalidFile(path, [Problem(0, name, f"a column of {column.type}", "whole numbers")])
    if column.null_count:
        k = int(np.argmax(np.asarray(column.is_null())))
        raise InvalidFile(path, [Problem(row + k + 1, name, "nothing", "a whole number")])
    values = column.to_numpy(zero_copy_only=False)
    bad = (values < 1) | (values > most)
    if bad.any():
        k = int(np.argmax(bad))
        wanted = f"a whole number 1 to {most}"
        raise InvalidFile(path, [Problem(row + k + 1, name, str(values[k]), wanted)])
    return np.asarray(values, dtype=np.int32)


def cell_ids(
    path: Path, layout: Layout, column: pa.Array, row: int, max_id: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Sizes and ids of the last column's cells."""
    import pyarrow as pa

    listed = pa.types.is_list(column.type) or pa.types.is_large_list(column.type)
    if listed and layout.sets:
        if column.null_count:
            k = int(np.argmax(np.asarray(column.is_null())))
            raise InvalidFile(path, [Problem(row + k + 1, layout.last, "nothing", "a list of ids")])
        flat = column.flatten()
        sizes = np.diff(np.asarray(column.offsets)).astype(np.int32)
        try:
            return sizes, whole_numbers(path, layout.last, flat, 0, max_id)
        except InvalidFile as error:
            problem = error.problems[0]
            k = int(np.searchsorted(np.cumsum(sizes), problem.line - 1, side="right"))
            line = row + k + 1 if problem.line else 0
            moved = Problem(line, problem.column, problem.found, problem.expected)
            raise InvalidFile(path, [moved]) from None
    if listed:
        raise InvalidFile(path, [Problem(0, layout.last, "lists", "one id in each row")])
    ids = whole_numbers(path, layout.last, column, row, max_id)
    return np.ones(len(ids), dtype=np.int32), ids


def _concat(parts: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)
