"""An audit's subject from raw tables of positions: user, time, latitude, longitude.

Points are put on a grid and on a clock; what was not recorded stays a gap.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City, Grid
from tracecup.city.grid import KM_PER_DEGREE_LATITUDE
from tracecup.contest.judging.shuffle import pseudonymize
from tracecup.datasets import Box, Dataset, Timetable, read_csv, read_parquet
from tracecup.datasets.arrowtable import parquet_positions
from tracecup.datasets.boundingbox import MOST_EAST, MOST_NORTH
from tracecup.datasets.tableform import HINT, Columns, form_of_text
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.records.delimited import TextLayout, read_text
from tracecup.rng import Rng
from tracecup.safeio import PARQUET_MAGIC, magic_of
from tracecup.score import REACH_KM
from tracecup.study.audit import Subject
from tracecup.study.placed import PlacedRecords, coverage_of, notes_of
from tracecup.traces import SetTraces, Traces

Path = str | PathLike[str]
MAX_CELLS = 2**28
GRIDS = ((32, 32), (64, 64))
# Borders of a grid carry rounding in their last digits.
HAIR_DEGREES = 1e-9


class TooWide(InvalidParameter):
    """Regions in which people cannot be told apart."""


@dataclass(frozen=True)
class Cutting:
    """How raw tables are read and cut.

    `columns` names user, time, latitude and longitude (or is a preset, or found out), `time` the
    kind of times of a text table, both as in `read_csv`; `utc_offset` in minutes, or an IANA
    `zone`, gives the hour of the day. `timetable` holds the hours and the interval: one event per
    instant, the first record in it counts.
    """

    timetable: Timetable
    columns: Columns = None
    time: str | None = None
    utc_offset: float = 0.0
    zone: str | None = None


def read_raw(
    reference: Path,
    released: Path,
    original: Path | None = None,
    *,
    cutting: Cutting,
    city: City | None = None,
    grid: tuple[int, int] = (32, 32),
    box: Box | None = None,
    split: int | None = None,
    names: Mapping[str, str] | None = None,
    rng: Rng = None,
) -> Subject:
    """The subject of an audit from tables of positions.

    The users audited are those of `original` that also have reference records. The released
    table carries the users' own names, or pseudonyms of which `names` says who is behind them;
    they are shuffled anew here (with `rng`). Without `original` the release is taken as
    the truth: traces that were changed in nothing but the names. Days are those on which
    anything was recorded, of the reference for its part, of release and original together for
    theirs; with `split` (a day since 1970) the reference keeps what is before that day and the
    others what is from it on, so that one table may serve for all. An event without a record is
    unobserved (-1) in reference and original traces and a deleted cell in the release; a user who
    is missing from the release altogether has deleted cells only.

    Regions are those of `city`, or `grid` (columns, rows) cells of `box`, by default of the
    smallest box around all records; then a degree of longitude counts 111 km times the cosine
    of the middle latitude, and no region is a hospital. One stray record makes the smallest box
    so large that everybody is in one region and looks safe, so a box that was not given is
    refused where its regions are wider than 2 km.
    """
    paths = [reference, released, *([] if original is None else [original])]
    if city is None:
        around = bounds(paths, cutting.columns) if box is None else box
        city = City(grid_of(around, *grid))
        if box is None:
            _check_width(city.grid, around)
    elif box is not None:
        raise InvalidParameter("a city has its own box: give one of both")
    where = city.grid
    read = {path: PlacedRecords.of(_read(path, where, cutting)) for path in dict.fromkeys(paths)}
    tables = [read[path] for path in paths]
    if split is not None:
        tables = [
            one.part(str(path), split, before=k == 0)
            for k, (one, path) in enumerate(zip(tables, paths, strict=True))
        ]
    if names is not None:
        tables[1] = tables[1].renamed(names)
        if original is None:
            tables[-1] = tables[1]
    known, shown, truth = tables[0], tables[1], tables[-1]
    labels = [label for label in truth.labels if label in known.index]
    if not labels:
        raise InvalidTraces(
            "no user is in the reference and in the released or original table "
            f"({len(known.labels)} users there, {len(truth.labels)} here); a release with "
            "pseudonyms needs the table of who is behind them (--raw-ids)"
        )
    days = np.union1d(shown.days, truth.days)
    clock = cutting.timetable.clock
    past = known.dense(labels, known.days, cutting.timetable, MAX_CELLS)
    actual = truth.dense(labels, days, cutting.timetable, MAX_CELLS)
    given = actual
    if original is not None:
        given = shown.dense(labels, days, cutting.timetable, MAX_CELLS)
    ids = np.arange(1, len(labels) + 1)
    cells = SetTraces.of_traces(Traces(given, ids, clock(len(days))))
    pseudonymous, table = pseudonymize(cells, rng)
    return Subject(
        city,
        Traces(past, ids, clock(len(known.days))),
        Traces(actual, ids, clock(len(days))),
        pseudonymous,
        table,
        tuple(labels),
        tuple(notes_of(city, tables, labels, original is not None)),
        coverage_of(read[released], [shown, known] if reference == released else [shown], labels),
        tuple(int(day) for day in days),
    )


def read_settings(
    reference: Path,
    released: Path,
    original: Path | None = None,
    *,
    cuts: Sequence[Cutting],
    city: City | None = None,
    grids: Sequence[tuple[int, int]] | None = None,
    box: Box | None = None,
    split: int | None = None,
    names: Mapping[str, str] | None = None,
    rng: Rng = None,
) -> list[tuple[str, Subject]]:
    """The same tables on several grids and time steps, each with its setting in words.

    Without `grids` those of `GRIDS` whose regions are narrow enough. Other parameters as in
    `read_raw`.
    """
    found: list[tuple[str, Subject]] = []
    refused: InvalidParameter | None = None
    for grid in (GRIDS[:1] if city else GRIDS) if grids is None else grids:
        try:
            for cutting in cuts:
                subject = read_raw(
                    reference, released, original, cutting=cutting, city=city, grid=grid, box=box,
                    split=split, names=names, rng=rng,
                )  # fmt: skip
                where = subject.city.grid
                words = f"{where.nx} x {where.ny} regions every {cutting.timetable.interval} min"
                found.append((words, subject))
        except TooWide as error:
            if grids is not None:
                raise
            refused = error
    if refused is not None and not found:
        raise refused
    return found


def bounds(paths: Sequence[Path], columns: Columns = None) -> Box:
    """The smallest box around all positions of some tables; columns as in `read_csv`."""
    low, high = np.full(2, np.inf), np.full(2, -np.inf)
    for path in paths:
        read = _parquet_points if magic_of(path) == PARQUET_MAGIC else _csv_points
        for points in read(path, columns):
            if points.shape[1]:
                low = np.minimum(low, points.min(axis=1))
                high = np.maximum(high, points.max(axis=1))
    if not bool(np.isfinite(low).all()):
        raise InvalidTraces("the tables hold no record")
    if not bool((low < high).all()):
        raise InvalidTraces("all positions lie on one line; give a box or a city")
    return Box(float(low[0]), float(high[0]), float(low[1]), float(high[1]))


def grid_of(box: Box, nx: int, ny: int) -> Grid:
    """A box as a grid whose kilometres are right for its latitude.

    >>> round(grid_of(Box(59.9, 60.1, 24.0, 25.0), 10, 10).km_x, 2)
    5.55
    """
    middle = math.radians((box.south + box.north) / 2)
    if not -80 <= box.south <= box.north <= 80 or not -180 <= box.west <= box.east <= 180:
        raise InvalidParameter(
            f"a box lies within 80 degrees south and north, 180 west and east, got {box}"
        )
    return replace(box.grid(nx, ny), km_per_longitude=KM_PER_DEGREE_LATITUDE * math.cos(middle))


def _check_width(grid: Grid, box: Box) -> None:
    if max(grid.km_x, grid.km_y) > REACH_KM:
        raise TooWide(
            f"the smallest box around all records ({box.south:g} to {box.north:g} north, "
            f"{box.west:g} to {box.east:g} east) makes regions of {grid.km_x:.3g} km x "
            f"{grid.km_y:.3g} km, in which people cannot be told apart; is a stray record among "
            "them? Give a box, or a finer grid"
        )


def _read(path: Path, grid: Grid, cutting: Cutting) -> Dataset:
    south, west = grid.latitudes[0] - grid.height / 2, grid.longitudes[0] - grid.width / 2
    north = grid.latitudes[-1] + grid.height / 2
    box = Box(south, north, west, grid.longitudes[-1] + grid.width / 2)
    shared: dict[str, Any] = {
        "columns": cutting.columns,
        "nx": grid.nx,
        "ny": grid.ny,
        "timetable": cutting.timetable,
        "utc_offset": cutting.utc_offset,
        "zone": cutting.zone,
        "hair": HAIR_DEGREES,
    }
    try:
        if magic_of(path) == PARQUET_MAGIC:
            return read_parquet(path, box=box, **shared)
        return read_csv(path, box=box, time=cutting.time, **shared)
    except InvalidTraces as error:
        raise InvalidTraces(f"{path}: {error}") from error


def _csv_points(path: Path, columns: Columns) -> Iterator[NDArray[np.float64]]:
    """Latitudes and longitudes, block by block, shape (2, n)."""
    form = form_of_text(path, columns)
    layout = TextLayout(form.where, delimiter=form.delimiter, quoted=True, header=True, hint=HINT)
    for block in read_text(path, layout):
        if form.is_geometry:
            x, y = block.points(form.where[0])
            points = np.stack([y, x])
        else:
            points = np.stack([block.decimal(name) for name in form.where])
        for k, (values, most) in enumerate(zip(points, (MOST_NORTH, MOST_EAST), strict=True)):
            name = form.where[min(k, len(form.where) - 1)]
            block.expect(np.abs(values) <= most, name, f"degrees within -{most:g}..{most:g}")
        yield points[:, block.settle("raise")]


def _parquet_points(path: Path, columns: Columns) -> Iterator[NDArray[np.float64]]:
    for latitude, longitude in parquet_positions(path, columns=columns):
        yield np.stack([latitude, longitude])
