"""Tables that know their types: Parquet and GeoParquet files, and frames of other libraries.

Read batch by batch; geometry columns bring their coordinate system along.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from os import PathLike
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tracecup.datasets.boundingbox import MOST_EAST, MOST_NORTH, Box
from tracecup.datasets.cleaning import NOTHING, Cleaning
from tracecup.datasets.collect import Codes, Collector, Cut, need_records
from tracecup.datasets.dataset import Dataset
from tracecup.datasets.projection import name_of_crs, to_degrees
from tracecup.datasets.tableform import HINT, Columns, TableForm, form_of_names
from tracecup.datasets.wellknown import holds_points, point_columns
from tracecup.errors import InvalidFile, InvalidParameter, Problem, TraceCupError
from tracecup.parquetfiles import Batches, decoded
from tracecup.records import CONTEST, Timetable
from tracecup.records.delimited import MAX_SECONDS, BadLines, in_seconds
from tracecup.records.scanners import GOOD, scan_iso_time
from tracecup.records.zones import Zone
from tracecup.safeio import PARQUET_MAGIC, Limits, magic_of, show

Path = str | PathLike[str]
BATCH_ROWS = 1 << 18
T = TypeVar("T")
# A table of one's own may be of any size.
RAW = Limits(max_bytes=1 << 44, max_rows=1 << 44, max_ids=1 << 44)
MOST_COLUMNS = 100_000
Axis = NDArray[np.float64]


def read_parquet(
    path: Path,
    *,
    box: Box,
    columns: Columns = None,
    crs: str | None = None,
    nx: int = 32,
    ny: int = 32,
    timetable: Timetable = CONTEST,
    fewest: int = 1,
    thin: bool = True,
    utc_offset: float = 0.0,
    zone: str | None = None,
    bad_lines: BadLines = "raise",
    hair: float = 0.0,
    cleaning: Cleaning = NOTHING,
) -> Dataset:
    """Read a Parquet or GeoParquet file batch by batch; parameters as in `read_csv`.

    The time column may hold time stamps, numbers (seconds or milliseconds since 1970) or ISO
    text; users may be numbers, text or categories. Points may be well-known binary or text, or
    pairs of numbers, in the coordinate system that the file names: it is reprojected to degrees.
    A row with a null or a number that is not finite is a bad line.
    """
    if magic_of(path) != PARQUET_MAGIC:
        raise InvalidFile(path, [Problem(0, "", "another kind of file", "a Parquet file")])
    cut = Cut(box, timetable, nx, ny, fewest=fewest, thin=thin, hair=hair, cleaning=cleaning)
    form = _decoded(path, lambda file: _form(path, file.schema, columns, crs))
    place = Zone(utc_offset, zone)
    return _decoded(
        path, lambda file: _collect(path, iter(file), form, cut, place, bad_lines), form.columns
    )


def parquet_positions(
    path: Path, *, columns: Columns = None, crs: str | None = None
) -> Iterator[tuple[Axis, Axis]]:
    """Latitudes and longitudes of a Parquet or GeoParquet file, batch by batch.

    In degrees, whatever the file's coordinate system; rows without a finite position are left
    out. Columns of users and times are not looked at.
    """
    form = _decoded(path, lambda file: _located(path, file.schema, columns, crs))

    def look(file: Batches) -> list[tuple[Axis, Axis]]:
        _check_schema(path, file.schema, form, form.where)
        return [_degrees(path, batch, form) for batch in file]

    yield from _decoded(path, look, form.where)


def _degrees(path: Path, batch: pa.RecordBatch, form: TableForm) -> tuple[Axis, Axis]:
    """Latitudes and longitudes of the rows of a batch that have such."""
    held = {name: _storage(batch.column(name)) for name in form.where}
    longitude, latitude = to_degrees(form.crs, *_positions(held, form))
    good = np.isfinite(latitude) & np.isfinite(longitude)
    latitude, longitude = latitude[good], longitude[good]
    _check_degrees(path, form.where[0], latitude, MOST_NORTH)
    _check_degrees(path, form.where[-1], longitude, MOST_EAST)
    return latitude, longitude


def _decoded(path: Path, use: Callable[[Batches], T], columns: Iterable[str] | None = None) -> T:
    """What `use` makes of these columns of a table, or, without any named, of its schema."""
    wanted = None if columns is None else list(columns)
    try:
        return decoded(
            path, RAW, use, columns=wanted, most_columns=MOST_COLUMNS, whole=wanted is not None
        )
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, TraceCupError):
            raise
        problem = Problem(0, "", f"broken content ({show(str(error), 80)})", "a Parquet file")
        raise InvalidFile(path, [problem]) from error


def from_frame(
    frame: Any,
    *,
    box: Box,
    columns: Columns = None,
    crs: str | None = None,
    nx: int = 32,
    ny: int = 32,
    timetable: Timetable = CONTEST,
    fewest: int = 1,
    thin: bool = True,
    utc_offset: float = 0.0,
    zone: str | None = None,
    bad_lines: BadLines = "raise",
    cleaning: Cleaning = NOTHING,
) -> Dataset:
    """The data set of a table in memory; parameters as in `read_parquet`.

    Takes whatever hands out Arrow data (`__arrow_c_stream__`: pandas, polars, GeoPandas, pyarrow,
    DuckDB), a frame with `to_arrow` or `to_dict`, or a mapping of columns.

    >>> rows = {
    ...     "uid": ["a", "a"],
    ...     "datetime": ["2013-07-01 09:00:00", "2013-07-02 09:30:00"],
    ...     "lat": [35.7, 35.7],
    ...     "lng": [139.7, 139.75],
    ... }
    >>> from_frame(rows, box=Box(35.65, 35.75, 139.68, 139.80)).records.days
    2
    """
    table = arrow_table(frame)
    form = _form("the frame", table.schema, columns, crs)
    cut = Cut(box, timetable, nx, ny, fewest=fewest, thin=thin, cleaning=cleaning)
    batches = table.select(list(form.columns)).to_batches(BATCH_ROWS)
    return _collect("the frame", batches, form, cut, Zone(utc_offset, zone), bad_lines)


def arrow_table(frame: Any) -> pa.Table:
    """A table in memory as an Arrow table, without naming the library that made it."""
    try:
        if isinstance(frame, pa.Table):
            return frame
        if hasattr(frame, "to_arrow"):  # before the stream: GeoPandas packs its points here only
            return pa.table(frame.to_arrow())
        if hasattr(frame, "__arrow_c_stream__"):
            return pa.table(frame)
        if hasattr(frame, "to_dict"):
            return pa.table(frame.to_dict("list"))
        if isinstance(frame, Mapping):
            return pa.table({str(name): pa.array(column) for name, column in frame.items()})
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InvalidParameter(
            f"the frame cannot be handed over: {show(str(error), 80)}"
        ) from error
    raise InvalidParameter(
        "a frame hands out Arrow data (pandas, polars, GeoPandas, pyarrow) or maps names to "
        f"columns, got {type(frame).__name__}"
    )


def _check_degrees(path: Path, name: str, values: Axis, most: float) -> None:
    bad = values[np.abs(values) > most]
    if len(bad):
        expected = f"degrees within -{most:g}..{most:g}"
        raise InvalidFile(path, [Problem(0, name, f"{bad[0]:g}", expected)], len(bad))


def _form(path: Path, schema: pa.Schema, columns: Columns, crs: str | None) -> TableForm:
    form = _located(path, schema, columns, crs)
    _check_schema(path, schema, form, form.columns)
    return form


def _located(path: Path, schema: pa.Schema, columns: Columns, crs: str | None) -> TableForm:
    geometry, own = _geometry_of(schema)
    form = form_of_names(path, schema.names, columns, geometry)
    if not form.is_geometry:
        return replace(form, crs=name_of_crs(crs))
    if crs is None and own == "":
        expected = "a coordinate system; name it by --crs (in Python crs=)"
        raise InvalidFile(path, [Problem(0, form.where[0], "none that has a name", expected)])
    return replace(form, crs=name_of_crs(crs) if crs else own or None)


def _geometry_of(schema: pa.Schema) -> tuple[str | None, str | None]:
    """(column of points that the file declares, its coordinate system: "" unknown, None degrees).

    GeoParquet says it in the metadata of the file, GeoArrow in those of the column.
    """
    try:
        geo = json.loads((schema.metadata or {}).get(b"geo", b"null"))
        if isinstance(geo, dict):
            name = str(geo["primary_column"])
            about = geo["columns"][name]
            # Without a word about it, longitude and latitude; with null, nobody knows.
            return name, (name_of_crs(about["crs"]) or "" if "crs" in about else None)
        for one in schema:
            about = one.metadata or {}
            if about.get(b"ARROW:extension:name", b"").startswith(b"geoarrow."):
                said = json.loads(about.get(b"ARROW:extension:metadata", b"") or b"{}")
                return one.name, (name_of_crs(said["crs"]) or "" if "crs" in said else None)
    except (ValueError, KeyError, TypeError, RecursionError, AttributeError) as error:
        found = f"{show(str(error), 60)} in the description of its geometry"
        raise InvalidFile("the table", [Problem(0, "", found, "GeoParquet or GeoArrow")]) from error
    return None, None


def _check_schema(path: Path, schema: pa.Schema, form: TableForm, columns: tuple[str, ...]) -> None:
    """Each of some `columns` stands there once and holds what it should."""
    allowed = {
        form.user: (("number", "text"), "numbers or text"),
        form.time_column: (("number", "text", "time"), "time stamps, numbers or ISO text"),
        **dict.fromkeys(form.where, (("number",), "numbers")),
    }
    if form.is_geometry:
        allowed[form.where[0]] = (("points",), "points: well-known binary or text, or pairs")
    if form.accuracy is not None:
        allowed[form.accuracy] = (("number",), "numbers")
    for name in columns:
        kinds, expected = allowed[name]
        if schema.names.count(name) != 1:
            found = f"{schema.names.count(name)} times among {', '.join(schema.names)[:80]}"
            raise InvalidFile(path, [Problem(0, name, found, f"this column once; {HINT}")])
        kind = _plain(schema.field(name).type)
        if not any(_is_kind(kind, one) for one in kinds):
            raise InvalidFile(path, [Problem(0, name, str(kind), expected)])


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type of the values themselves: of categories, or behind an extension."""
    if pa.types.is_dictionary(kind):
        return kind.value_type
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def _is_kind(kind: pa.DataType, name: str) -> bool:
    if name == "number":
        return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
    if name == "text":
        views = getattr(pa.types, "is_string_view", lambda _: False)
        return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or views(kind))
    if name == "time":
        return bool(pa.types.is_timestamp(kind))
    return holds_points(kind)


def _collect(
    path: Path,
    batches: Iterator[pa.RecordBatch] | list[pa.RecordBatch],
    form: TableForm,
    cut: Cut,
    clock: Zone,
    bad_lines: BadLines,
) -> Dataset:
    collector, codes, first = Collector(cut), Codes(), 1
    for batch in batches:
        columns = {name: _storage(batch.column(name)) for name in form.columns}
        words = pc.cast(pc.cast(columns[form.user], pa.string()), pa.binary()).fill_null(b"")
        unix = _seconds(columns[form.time_column])
        longitude, latitude = to_degrees(form.crs, *_positions(columns, form))
        # nan is not within bounds either.
        good = (np.abs(unix) <= MAX_SECONDS) & np.isfinite(latitude) & np.isfinite(longitude)
        good &= pc.greater(pc.binary_length(words), 0).to_numpy(zero_copy_only=False)
        _settle(path, columns, form, good, first, bad_lines)
        first += len(good)
        collector.bad_lines(int((~good).sum()))
        rows = collector.inside(np.flatnonzero(good), latitude, longitude)
        shift = clock.shift(unix[rows])
        accuracy = None if form.accuracy is None else _floats(columns[form.accuracy])[rows]
        collector.add_points(
            codes.of(words.take(pa.array(rows))),
            latitude[rows],
            longitude[rows],
            unix[rows] + shift,
            shift,
            accuracy,
        )
    found = need_records(collector.regions(codes.names), "the table")
    said = "" if form.crs is None else f", {form.crs}"
    return replace(found, notes=(f"columns: {form}{said}",))


def _storage(column: pa.Array) -> pa.Array:
    """The values themselves: categories spelled out, extensions undone."""
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _positions(columns: dict[str, pa.Array], form: TableForm) -> tuple[Axis, Axis]:
    if form.is_geometry:
        x, y, _ = point_columns(columns[form.where[0]])
        return x, y
    return _floats(columns[form.where[1]]), _floats(columns[form.where[0]])


def _seconds(time: pa.Array) -> Axis:
    if pa.types.is_timestamp(time.type):
        per_second = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[time.type.unit]
        return _floats(pc.cast(time, pa.int64())) / per_second
    if _is_kind(time.type, "text"):
        words = pc.cast(pc.cast(time, pa.string()), pa.binary()).fill_null(b"")
        joined = np.frombuffer(b"".join(words.to_pylist()), dtype=np.uint8)
        ends = np.cumsum(pc.binary_length(words).to_numpy(zero_copy_only=False), dtype=np.int32)
        begins = np.concatenate([[0], ends[:-1]]).astype(np.int32)
        values, marks = scan_iso_time(joined, begins, ends)
        return np.where(marks == GOOD, values, np.nan)
    return in_seconds(_floats(time))


def _floats(column: pa.Array) -> Axis:
    cast = pc.cast(column, pa.float64(), safe=False)
    return np.asarray(cast.fill_null(float("nan")).to_numpy(zero_copy_only=False))


def _settle(
    path: Path,
    columns: dict[str, pa.Array],
    form: TableForm,
    good: NDArray[np.bool_],
    first: int,
    bad_lines: BadLines,
) -> None:
    bad = np.flatnonzero(~good)
    if not len(bad) or bad_lines == "skip":
        return
    problems = []
    for row in bad[:10]:
        values = {name: columns[name][int(row)].as_py() for name in form.columns}
        found = ", ".join(f"{name} {show(str(value), 20)}" for name, value in values.items())
        expected = "a user, a time and a finite position"
        problems.append(Problem(first + int(row), "", found, expected))
    raise InvalidFile(path, problems, len(bad))
