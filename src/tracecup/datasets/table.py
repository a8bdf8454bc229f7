"""Any text table of positions: a user, a time, and a latitude and longitude or a point.

What the columns mean is told, or found out from the first lines (`tableform`).
"""

from __future__ import annotations

import binascii
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tracecup.datasets.boundingbox import Box
from tracecup.datasets.cleaning import NOTHING, Cleaning
from tracecup.datasets.collect import Codes, Collector, Cut, Placed, need_records
from tracecup.datasets.dataset import Dataset
from tracecup.datasets.projection import name_of_crs, to_degrees
from tracecup.datasets.tableform import HINT, Columns, TableForm, form_of_text
from tracecup.datasets.wellknown import point_columns
from tracecup.engine import ahead, thread_count
from tracecup.records import CONTEST, Timetable
from tracecup.records.delimited import BadLines, Block, TextLayout, read_text
from tracecup.records.zones import Zone

Path = str | PathLike[str]
Axis = NDArray[np.float64]
# Every thread holds a block of some megabytes.
MOST_THREADS = 4


def read_csv(
    path: Path,
    *,
    box: Box,
    columns: Columns = None,
    time: str | None = None,
    delimiter: str | None = None,
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
    """Read a delimited file with a header (plain, gzip, zstd, xz, or the one file of a zip).

    `columns` names the columns of user, time, latitude and longitude, or of user, time and
    points (`POINT (x y)`), or is one of `tableform.PRESETS`; without it they are found by their
    usual names, whatever else the table holds. `time` is `iso` (`2013-07-01 09:00:00`, also with
    T and a zone), `unix` (seconds), `milliseconds` or `day-first` (`01/07/2013 09:00`);
    `delimiter` any character. `crs` is the coordinate system if positions are not degrees.
    Users may be any text. `utc_offset` in minutes, or an IANA `zone`, gives the hour of the day;
    times without a zone of their own are taken as they stand, that is as UTC. `thin` keeps the
    first record of each user and instant; `hair` as in `Box.cells`.
    """
    form = form_of_text(path, columns, time, delimiter, name_of_crs(crs))
    layout = TextLayout(form.columns, delimiter=form.delimiter, quoted=True, header=True, hint=HINT)
    cut = Cut(box, timetable, nx, ny, fewest=fewest, thin=thin, hair=hair, cleaning=cleaning)
    collector, codes, clock = Collector(cut), Codes(), Zone(utc_offset, zone)
    scan = partial(_scan, form=form, cut=cut, clock=clock, bad_lines=bad_lines)
    for found in ahead(scan, read_text(path, layout), min(MOST_THREADS, thread_count())):
        collector.dropped.update(bad_lines=found.bad, outside=found.outside)
        user = codes.of(found.words)
        if isinstance(found.points, Placed):
            points, dropped = found.points
            collector.keep(Placed(points._replace(user=user[points.user]), dropped))
        else:
            which, latitude, longitude, local, shift, accuracy = found.points
            collector.add_points(user[which], latitude, longitude, local, shift, accuracy)
    dataset = need_records(collector.regions(codes.names), "the table")
    return replace(dataset, notes=(f"columns: {form}", f"times: {form.time}"))


def _points(block: Block, column: str) -> tuple[Axis, Axis]:
    """(x, y) of a column of points in well-known text, or in the hexadecimal of data bases."""
    if not len(block) or not block.raw(0, column).startswith(b"0"):
        return block.points(column)
    x, y, fine = point_columns(
        pa.array(map(_unhexed, block.words(column).to_pylist()), pa.binary())
    )
    block.expect(fine, column, "a point in hexadecimal well-known binary, as in the first line")
    return x, y


def _unhexed(text: bytes) -> bytes:
    try:
        return binascii.unhexlify(text)
    except binascii.Error:
        return b""


Uncleaned = tuple[NDArray[np.int64], Axis, Axis, Axis, Axis, Axis | None]
"""Which of the words is the user, latitude, longitude, local time, its shift, accuracy."""


class _Scanned(NamedTuple):
    """What a block holds in the box, and how many lines were left out.

    Points name their user by her place among `words`; where nothing is to be cleaned first, they
    stand on grid and timetable already.
    """

    words: pa.Array
    points: Placed | Uncleaned
    bad: int
    outside: int


def _scan(block: Block, form: TableForm, cut: Cut, clock: Zone, bad_lines: BadLines) -> _Scanned:
    block.expect(block.filled(form.user), form.user, "a user id")
    unix = block.time(form.time_column, form.time)
    if form.is_geometry:
        longitude, latitude = _points(block, form.where[0])
    else:
        latitude, longitude = (block.decimal(name) for name in form.where)
    longitude, latitude = to_degrees(form.crs, longitude, latitude)
    accuracy = None
    if form.accuracy is not None and cut.cleaning.max_accuracy is not None:
        known = block.filled(form.accuracy)
        accuracy = np.where(known, block.decimal(form.accuracy, known), np.nan)
    good = block.settle(bad_lines)
    inside = cut.box.contains(latitude, longitude, cut.hair)
    rows = good[inside[good]]
    words, number = block.runs(form.user)
    which = _taken(number, rows).astype(np.int64)
    if len(rows) < len(block):  # users who are nowhere in the box get no number
        used = np.bincount(which, minlength=len(words)) > 0
        words, which = words.filter(pa.array(used)), (np.cumsum(used) - 1)[which]
    unix = _taken(unix, rows)
    shift = clock.shift(unix)
    where = (_taken(latitude, rows), _taken(longitude, rows))
    points: Placed | Uncleaned
    if cut.cleaning == NOTHING:
        cells = cut.box.cells(*where, cut.nx, cut.ny, cut.hair)
        points = cut.placed(which, cells, unix + shift, shift)
    else:
        sure = None if accuracy is None else _taken(accuracy, rows)
        points = (which, *where, unix + shift, shift, sure)
    return _Scanned(words, points, len(block) - len(good), len(good) - len(rows))


def _taken(column: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
    """Some rows, in order; the column itself if that is all of them."""
    return column if len(rows) == len(column) else column[rows]
