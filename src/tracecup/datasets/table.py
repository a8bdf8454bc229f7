"""Any table of positions: CSV or Parquet with a user, a time, a latitude and a longitude.

Columns are found by name; times are ISO text, time stamps or seconds since 1970.
"""

from __future__ import annotations

from os import PathLike

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from tracecup.datasets.boundingbox import Box
from tracecup.datasets.collect import Codes, Collector, Cut, need_records, shift_of
from tracecup.datasets.dataset import Dataset
from tracecup.errors import InvalidFile, InvalidParameter, Problem
from tracecup.records import CONTEST, Timetable
from tracecup.records.delimited import MAX_SECONDS, BadLines, TextLayout, read_text
from tracecup.safeio import PARQUET_MAGIC, magic_of, open_regular, show

Path = str | PathLike[str]
COLUMNS = ("user", "time", "lat", "lon")
BATCH_ROWS = 1 << 18
TIME_KINDS = ("iso", "unix")
HINT = "other names are given by --columns (in Python columns=)"


def read_csv(
    path: Path,
    *,
    box: Box,
    columns: tuple[str, str, str, str] = COLUMNS,
    time: str = "iso",
    delimiter: str = ",",
    nx: int = 32,
    ny: int = 32,
    timetable: Timetable = CONTEST,
    fewest: int = 1,
    thin: bool = True,
    utc_offset: float = 0.0,
    bad_lines: BadLines = "raise",
    hair: float = 0.0,
) -> Dataset:
    """Read a CSV file (plain, gzip or zstd) with a header.

    `columns` names the columns of user, time, latitude and longitude; others are ignored.
    `time` is `iso` (`2013-07-01 09:00:00`, also with T and a zone) or `unix` (seconds). Users may
    be any text. `utc_offset` in minutes is added to get the hour of the day. `thin` keeps the
    first record of each user and instant; `hair` as in `Box.cells`.
    """
    if time not in TIME_KINDS:
        raise InvalidParameter(f"time must be one of {', '.join(TIME_KINDS)}, got {time!r}")
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        raise InvalidParameter(f"delimiter must be one ASCII character, got {delimiter!r}")
    _check_columns(columns)
    user_column, time_column, y_column, x_column = columns
    layout = TextLayout(columns, delimiter=delimiter, quoted=True, header=True, hint=HINT)
    collector = Collector(Cut(box, timetable, nx, ny, fewest=fewest, thin=thin, hair=hair))
    codes, shift = Codes(), shift_of(utc_offset)
    for block in read_text(path, layout):
        block.expect(block.filled(user_column), user_column, "a user id")
        unix = block.time(time_column, time)
        latitude, longitude = block.decimal(y_column), block.decimal(x_column)
        words = block.words(user_column)
        rows = block.settle(bad_lines)
        collector.bad_lines(len(block) - len(rows))
        rows = collector.inside(rows, latitude, longitude)
        collector.add_points(
            codes.of(words.take(rows)), latitude[rows], longitude[rows], unix[rows] + shift, shift
        )
    return need_records(collector.regions(codes.names), "the table")


def read_parquet(
    path: Path,
    *,
    box: Box,
    columns: tuple[str, str, str, str] = COLUMNS,
    nx: int = 32,
    ny: int = 32,
    timetable: Timetable = CONTEST,
    fewest: int = 1,
    thin: bool = True,
    utc_offset: float = 0.0,
    bad_lines: BadLines = "raise",
    hair: float = 0.0,
) -> Dataset:
    """Read a Parquet file batch by batch; parameters as in `read_csv`.

    The time column may hold time stamps, numbers (seconds since 1970) or ISO text; users may be
    numbers or text. A row with a null or a number that is not finite is a bad line.
    """
    _check_columns(columns)
    if magic_of(path) != PARQUET_MAGIC:
        raise InvalidFile(path, [Problem(0, "", "another kind of file", "a Parquet file")])
    collector = Collector(Cut(box, timetable, nx, ny, fewest=fewest, thin=thin, hair=hair))
    codes, shift = Codes(), shift_of(utc_offset)
    first = 1
    with open_regular(path) as file:
        try:
            table = pq.ParquetFile(file)
            _check_schema(path, table.schema_arrow, columns)
            for batch in table.iter_batches(batch_size=BATCH_ROWS, columns=list(columns)):
                names, unix, latitude, longitude, good = _batch(path, batch, columns)
                _settle(path, batch, columns, good, first, bad_lines)
                first += len(good)
                collector.bad_lines(int((~good).sum()))
                rows = collector.inside(np.flatnonzero(good), latitude, longitude)
                collector.add_points(
                    codes.of(names.take(pa.array(rows))),
                    latitude[rows],
                    longitude[rows],
                    unix[rows] + shift,
                    shift,
                )
        except (pa.ArrowException, OSError, ValueError) as error:
            if isinstance(error, InvalidFile):
                raise
            problem = Problem(0, "", f"broken content ({show(str(error), 80)})", "a Parquet file")
            raise InvalidFile(path, [problem]) from error
    return need_records(collector.regions(codes.names), "the table")


def _check_columns(columns: tuple[str, ...]) -> None:
    if len(columns) != 4 or len(set(columns)) != 4:
        raise InvalidParameter(
            f"columns must be four different names (user, time, latitude, longitude), got {columns}"
        )


def _check_schema(path: Path, schema: pa.Schema, columns: tuple[str, ...]) -> None:
    for k, name in enumerate(columns):
        if schema.names.count(name) != 1:
            found = f"{schema.names.count(name)} times among {', '.join(schema.names)[:80]}"
            raise InvalidFile(path, [Problem(0, name, found, f"this column once; {HINT}")])
        kind = schema.field(name).type
        number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        allowed = (
            (pa.types.is_integer(kind) or text, "whole numbers or text"),
            (number or text or pa.types.is_timestamp(kind), "time stamps, numbers or ISO text"),
            (number, "numbers"),
            (number, "numbers"),
        )[k]
        if not allowed[0]:
            raise InvalidFile(path, [Problem(0, name, str(kind), allowed[1])])


def _batch(
    path: Path, batch: pa.RecordBatch, columns: tuple[str, ...]
) -> tuple[
    pa.Array, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]
]:
    """(users as bytes, seconds, latitude, longitude, which rows are good)."""
    user, time, y, x = (batch.column(batch.schema.get_field_index(name)) for name in columns)
    words = pc.cast(pc.cast(user, pa.string()), pa.binary()).fill_null(b"")
    unix = _seconds(time)
    latitude, longitude = _floats(y), _floats(x)
    # nan is not within bounds either.
    good = (np.abs(unix) <= MAX_SECONDS) & np.isfinite(latitude) & np.isfinite(longitude)
    good &= pc.greater(pc.binary_length(words), 0).to_numpy(zero_copy_only=False)
    return words, unix, latitude, longitude, good


def _seconds(time: pa.Array) -> NDArray[np.float64]:
    if pa.types.is_timestamp(time.type):
        per_second = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[time.type.unit]
        return _floats(pc.cast(time, pa.int64())) / per_second
    if pa.types.is_string(time.type) or pa.types.is_large_string(time.type):
        from tracecup.records.scanners import GOOD, scan_iso_time

        words = pc.cast(pc.cast(time, pa.string()), pa.binary()).fill_null(b"")
        joined = np.frombuffer(b"".join(words.to_pylist()), dtype=np.uint8)
        ends = np.cumsum(pc.binary_length(words).to_numpy(zero_copy_only=False), dtype=np.int32)
        begins = np.concatenate([[0], ends[:-1]]).astype(np.int32)
        values, marks = scan_iso_time(joined, begins, ends)
        return np.where(marks == GOOD, values, np.nan)
    return _floats(time)


def _floats(column: pa.Array) -> NDArray[np.float64]:
    cast = pc.cast(column, pa.float64(), safe=False)
    return np.asarray(cast.fill_null(float("nan")).to_numpy(zero_copy_only=False))


def _settle(
    path: Path,
    batch: pa.RecordBatch,
    columns: tuple[str, ...],
    good: NDArray[np.bool_],
    first: int,
    bad_lines: BadLines,
) -> None:
    bad = np.flatnonzero(~good)
    if not len(bad) or bad_lines == "skip":
        return
    problems = []
    for row in bad[:10]:
        values = {name: batch.column(name)[int(row)].as_py() for name in columns}
        found = ", ".join(f"{name} {show(str(value), 20)}" for name, value in values.items())
        expected = "a user, a time and finite numbers"
        problems.append(Problem(first + int(row), "", found, expected))
    raise InvalidFile(path, problems, len(bad))
