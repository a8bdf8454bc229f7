"""The city's tables: `info_region.csv`, `info_time.csv` and the table of places.

These small files are 1-based as in the contest; inside, everything is 0-based.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import TypeVar

import numpy as np

from tracecup.city.clock import Clock, ContestClock
from tracecup.city.grid import (
    KM_PER_DEGREE_LATITUDE,
    KM_PER_DEGREE_LONGITUDE,
    MAX_REGIONS,
    City,
    Grid,
)
from tracecup.city.places import Places
from tracecup.errors import InvalidFile, Problem, TraceCupError, fail
from tracecup.safeio import DEFAULT_LIMITS, Limits, atomic_write, read_lines, show

Path = str | PathLike[str]
T = TypeVar("T")

REGION_HEADER = ("reg_id", "y_id", "x_id", "y(center)", "x(center)", "hospital")
KM_HEADER = (*REGION_HEADER, "km_per_y", "km_per_x")
TIME_HEADER = ("ref/org", "time_id", "day", "hour", "min")
PLACE_HEADER = ("poi_id", "y", "x", "category", "y_id", "x_id", "2D_id", "count")
# Cell sizes come from differences of centres that carry rounding in their last digits.
DEGREE_DIGITS = 10
FALLBACK_KM = 0.34125


def read_city(path: Path, places: Path | None = None, limits: Limits = DEFAULT_LIMITS) -> City:
    """The city of an `info_region.csv` (the `hospital` column may be missing: none then).

    The grid's size comes from the file: ids row by row from the south-west, complete, in order.
    A grid of one row or column has no cell height or width of its own: cells are then square.
    Two more columns, the same in every row, tell the km of a degree north and a degree east;
    without them they are the contest's 111 and 91.
    """
    rows = list(_rows(path, (REGION_HEADER, REGION_HEADER[:-1], KM_HEADER), limits))
    if not rows:
        fail(path, 0, "", "no rows", "one row for every region")
    nx = max(_whole(path, n, "x_id", row[2], 1, MAX_REGIONS) for n, row in rows)
    ny = max(_whole(path, n, "y_id", row[1], 1, MAX_REGIONS) for n, row in rows)
    if nx * ny != len(rows):
        fail(path, 0, "", f"{len(rows)} rows", f"{nx} x {ny} = {nx * ny} rows, one per region")
    latitudes: list[float] = []
    longitudes: list[float] = []
    hospitals: list[int] = []
    for k, (n, row) in enumerate(rows):
        y, x = divmod(k, nx)
        if row[6:] != rows[0][1][6:]:
            fail(path, n, KM_HEADER[6], ",".join(row[6:]), f"{','.join(rows[0][1][6:])} as above")
        for column, text, wanted in zip(REGION_HEADER, row, (k + 1, y + 1, x + 1), strict=False):
            if text != str(wanted):
                fail(path, n, column, show(text), f"{wanted} (rows go south-west to north-east)")
        _axis(path, n, "y(center)", row[3], latitudes, y)
        _axis(path, n, "x(center)", row[4], longitudes, x)
        if len(row) >= 6 and _whole(path, n, "hospital", row[5], 0, 1):
            hospitals.append(k)
    height, width = _step(path, "y(center)", latitudes), _step(path, "x(center)", longitudes)
    km = [
        _number(path, 2, name, text)
        for name, text in zip(KM_HEADER[6:], rows[0][1][6:], strict=False)
    ]
    km_y, km_x = km or (KM_PER_DEGREE_LATITUDE, KM_PER_DEGREE_LONGITUDE)
    if min(km_y, km_x) <= 0:
        fail(path, 2, KM_HEADER[6], ",".join(rows[0][1][6:]), "kilometres of a degree, above 0")
    if height is None:
        height = (width * km_x if width else FALLBACK_KM) / km_y
    if width is None:
        width = height * km_y / km_x
    grid = _guard(
        path, lambda: Grid(tuple(latitudes), tuple(longitudes), height, width, km_y, km_x)
    )
    return City(grid, hospitals, read_places(places, grid) if places else Places.none())


def write_city(path: Path, city: City) -> None:
    """Write `info_region.csv`; centres in full float precision.

    A grid with other kilometres than the contest's gets two columns that tell them.
    """
    grid = city.grid
    km = (grid.km_per_latitude, grid.km_per_longitude)
    plain = km == (KM_PER_DEGREE_LATITUDE, KM_PER_DEGREE_LONGITUDE)
    lines = [",".join(REGION_HEADER if plain else KM_HEADER)]
    tail = "" if plain else f",{km[0]!r},{km[1]!r}"
    for k in range(city.n_regions):
        y, x = divmod(k, grid.nx)
        centre = f"{grid.latitudes[y]!r},{grid.longitudes[x]!r}"
        lines.append(f"{k + 1},{y + 1},{x + 1},{centre},{int(city.is_hospital[k])}{tail}")
    _write(path, lines)


def read_clock(path: Path, limits: Limits = DEFAULT_LIMITS) -> ContestClock:
    """The contest's clock from `info_time.csv`: `ref` rows, then `org` rows, whole days."""
    rows = list(_rows(path, (TIME_HEADER,), limits))
    parts: dict[str, int] = {"ref": 0, "org": 0}
    minutes: list[int] = []
    for k, (n, row) in enumerate(rows):
        if row[0] not in parts or (row[0] == "ref" and parts["org"]):
            fail(path, n, "ref/org", show(row[0]), "ref in all first rows, org in all others")
        parts[row[0]] += 1
        if row[1] != str(k + 1):
            fail(path, n, "time_id", show(row[1]), str(k + 1))
        day = _whole(path, n, "day", row[2], 1, len(rows))
        hour = _whole(path, n, "hour", row[3], 0, 47)
        minute = _whole(path, n, "min", row[4], 0, 59)
        if day == 1 and k == len(minutes):
            if minutes and 60 * hour + minute <= minutes[-1]:
                fail(path, n, "hour", f"{hour}:{minute:02d}", "a later time than the row before")
            minutes.append(60 * hour + minute)
        elif k == 0:
            fail(path, n, "day", show(row[2]), "1 in the first row")
        expected_day, slot = k // len(minutes) + 1, k % len(minutes)
        if day != expected_day:
            fail(path, n, "day", show(row[2]), f"{expected_day} ({len(minutes)} slots a day)")
        if 60 * hour + minute != minutes[slot]:
            wanted = f"{minutes[slot] // 60}:{minutes[slot] % 60:02d}, as on day 1"
            fail(path, n, "hour", f"{hour}:{minute:02d}", wanted)
    for name, count in parts.items():
        if count == 0 or count % len(minutes):
            fail(path, 0, "", f"{count} {name} rows", "whole days of both ref and org rows")

    def build() -> ContestClock:
        reference = Clock(parts["ref"] // len(minutes), tuple(minutes))
        original = Clock(parts["org"] // len(minutes), tuple(minutes), reference.times)
        return ContestClock(reference, original)

    return _guard(path, build)


def write_clock(path: Path, clock: ContestClock) -> None:
    """Write `info_time.csv`."""
    lines, time = [",".join(TIME_HEADER)], 0
    for name, part in (("ref", clock.reference), ("org", clock.original)):
        slots, minutes = part.slots, part.minutes
        for _ in range(part.times):
            day, slot = divmod(time, slots)
            minute = minutes[slot]
            lines.append(f"{name},{time + 1},{day + 1},{minute // 60},{minute % 60}")
            time += 1
    _write(path, lines)


def read_places(path: Path, grid: Grid, limits: Limits = DEFAULT_LIMITS) -> Places:
    """A table of places, `poi_id,y,x,category,y_id,x_id,2D_id,count` (0-based region).

    The last four columns may be missing: the region then follows from the coordinates.
    A count of `-` is unknown.
    """
    latitudes, longitudes, regions, categories, counts = [], [], [], [], []
    for n, row in _rows(path, (PLACE_HEADER, PLACE_HEADER[:4]), limits):
        y = _number(path, n, "y", row[1])
        x = _number(path, n, "x", row[2])
        if len(row) == 8:
            region = _whole(path, n, "2D_id", row[6], 0, grid.n_regions - 1)
            counts.append(-1 if row[7] == "-" else _whole(path, n, "count", row[7], 0, 2**62))
        else:
            region = int(grid.region_at(y, x))
            counts.append(-1)
            if region < 0:
                fail(path, n, "y", f"({y}, {x})", "a point inside the grid")
        latitudes.append(y)
        longitudes.append(x)
        regions.append(region)
        categories.append(row[3])
    return Places(
        np.array(latitudes, dtype=np.float64),
        np.array(longitudes, dtype=np.float64),
        np.array(regions, dtype=np.int32),
        tuple(categories),
        np.array(counts, dtype=np.int64),
    )


def write_places(path: Path, places: Places, grid: Grid) -> None:
    """Write a table of places."""
    lines = [",".join(PLACE_HEADER)]
    for k in range(len(places)):
        if re.search(r"[,\r\n]", places.categories[k]):
            fail(path, k + 2, "category", show(places.categories[k]), "text without comma")
        y, x = divmod(int(places.regions[k]), grid.nx)
        where = f"{float(places.latitudes[k])!r},{float(places.longitudes[k])!r}"
        count = "-" if places.counts[k] < 0 else str(int(places.counts[k]))
        cells = f"{y},{x},{int(places.regions[k])},{count}"
        lines.append(f"{k},{where},{places.categories[k]},{cells}")
    _write(path, lines)


def _rows(
    path: Path, headers: Sequence[tuple[str, ...]], limits: Limits
) -> Iterator[tuple[int, list[str]]]:
    """(line number, fields) of every row behind a header that is one of `headers`."""
    width = 0
    for number, line in enumerate(read_lines(path, limits), start=1):
        fields = line.split(",")
        if number == 1:
            if tuple(fields) not in headers:
                fail(path, 1, "", show(line, 80), f"the header {','.join(headers[0])}")
            width = len(fields)
        elif len(fields) != width:
            fail(path, number, "", f"{len(fields)} fields ({show(line)})", f"{width} fields")
        else:
            yield number, fields
    if not width:
        fail(path, 0, "", "an empty file", f"the header {','.join(headers[0])}")


def _whole(path: Path, line: int, column: str, text: str, low: int, high: int) -> int:
    if not re.fullmatch(r"0|[1-9][0-9]{0,18}", text, re.ASCII) or not low <= int(text) <= high:
        fail(path, line, column, show(text), f"a whole number {low} to {high}")
    return int(text)


def _number(path: Path, line: int, column: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or not re.match(r"[0-9.+-]", text):
        fail(path, line, column, show(text), "a number of degrees")
    return value


def _axis(path: Path, line: int, column: str, text: str, axis: list[float], index: int) -> None:
    """Centres of one axis: the same in every row of that index, rising along the axis."""
    value = _number(path, line, column, text)
    if index == len(axis):
        if axis and value <= axis[-1]:
            fail(path, line, column, show(text), f"more than {axis[-1]!r}, the one before")
        axis.append(value)
    elif value != axis[index]:
        fail(path, line, column, show(text), f"{axis[index]!r}, as in the rows before")


def _step(path: Path, column: str, axis: list[float]) -> float | None:
    """Cell size of an axis in degrees, None if there is one cell only."""
    if len(axis) == 1:
        return None
    step = round((axis[-1] - axis[0]) / (len(axis) - 1), DEGREE_DIGITS)
    uneven = max(abs(axis[0] + k * step - value) for k, value in enumerate(axis))
    if not step > 0 or uneven > 0.01 * step:
        fail(path, 0, column, "centres at unequal distances", "an equal grid")
    return step


def _guard(path: Path, build: Callable[[], T]) -> T:
    try:
        return build()
    except InvalidFile:
        raise
    except TraceCupError as error:
        raise InvalidFile(path, [Problem(0, "", str(error), "a consistent table")]) from error


def _write(path: Path, lines: list[str]) -> None:
    with atomic_write(path) as file:
        file.write(("\n".join(lines) + "\n").encode())
