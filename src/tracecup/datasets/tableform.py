"""What the columns of a raw table mean: by names that are given, by a preset, or found out.

Presets are the habits of scikit-mobility, trackintel and MovingPandas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike

from tracecup.errors import InvalidFile, InvalidParameter, Problem
from tracecup.records.delimited import DECIMAL, first_lines
from tracecup.safeio import show

Path = str | PathLike[str]
COLUMNS = ("user", "time", "lat", "lon")
HINT = "other names are given by --columns (in Python columns=)"
TIME_KINDS = ("iso", "unix", "milliseconds", "day-first")
DELIMITERS = (",", ";", "\t", "|")
SAMPLE_LINES = 20
# Accepted names, the most telling first; letters of any case.
NAMES = {
    "user": (
        "user", "uid", "user_id", "userid", "user id", "person_id", "individual_id", "agent_id",
        "device_id", "tracker", "traj_id", "trajectory_id",
    ),
    "time": (
        "time", "datetime", "tracked_at", "timestamp", "t", "date_time", "unixtime", "unix",
        "started_at",
    ),
    "lat": ("lat", "latitude", "y"),
    "lon": ("lon", "lng", "long", "longitude", "x"),
    "geometry": ("geometry", "geom", "wkt", "the_geom"),
    "accuracy": ("accuracy", "horizontal_accuracy", "accuracy_m"),
}  # fmt: skip


@dataclass(frozen=True)
class TableForm:
    """Which columns hold what: `where` is (latitude, longitude) or one column of points.

    `accuracy` in metres may be missing. `time` is one of `TIME_KINDS` or `number` and says, with
    `delimiter`, how text is read; Parquet files and frames know their own types. `crs` names the
    coordinate system of the positions, longitude and latitude in degrees without.
    """

    user: str
    time_column: str
    where: tuple[str, ...]
    accuracy: str | None = None
    time: str = "iso"
    delimiter: str = ","
    crs: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are read."""
        return (self.user, self.time_column, *self.where, *filter(None, [self.accuracy]))

    @property
    def is_geometry(self) -> bool:
        """Whether positions are points in one column."""
        return len(self.where) == 1

    def __str__(self) -> str:
        named = f"user {self.user}, time {self.time_column}, position {' and '.join(self.where)}"
        return named if self.accuracy is None else f"{named}, accuracy {self.accuracy}"


PRESETS = {
    "scikit-mobility": TableForm("uid", "datetime", ("lat", "lng")),
    "trackintel": TableForm("user_id", "tracked_at", ("geom",)),
    "movingpandas": TableForm("traj_id", "t", ("geometry",)),
}
Columns = str | Sequence[str] | None


def form_of_names(
    path: Path | None, names: Sequence[str], columns: Columns = None, geometry: str | None = None
) -> TableForm:
    """The form of a table with columns `names`.

    `columns` names user, time, latitude and longitude, or user, time and a column of points; or
    is a preset; None looks for names that are known. `geometry` is the column that the file
    itself declares to hold its points. Raises `InvalidFile` where a column is missing.

    >>> str(form_of_names(None, ["lat", "lng", "datetime", "uid"]))
    'user uid, time datetime, position lat and lng'
    """
    if isinstance(columns, str):
        if columns not in PRESETS:
            raise InvalidParameter(
                f"columns are named one by one or by a preset ({', '.join(PRESETS)}), "
                f"got {columns[:40]!r}"
            )
        form = PRESETS[columns]
        return replace(form, accuracy=_found(names, "accuracy"))
    if columns is not None:
        given = tuple(columns)
        if len(given) not in (3, 4) or len(set(given)) != len(given):
            raise InvalidParameter(
                "columns must be four different names (user, time, latitude, longitude), or three "
                f"(user, time, points), got {given}"
            )
        return TableForm(given[0], given[1], given[2:], _other(_found(names, "accuracy"), given))
    found = {what: _found(names, what) for what in NAMES}
    points = geometry or found["geometry"]
    where = (found["lat"], found["lon"])
    missing = [what for what in ("user", "time") if found[what] is None]
    if geometry is None and None not in where:
        points = None
    elif points is None:
        missing += [what for what in ("lat", "lon") if found[what] is None]
    if missing or found["user"] is None or found["time"] is None:
        shown = show(", ".join(names), 80)
        raise InvalidFile(
            path or "the table",
            [
                Problem(1, what, f"no such column in {shown}", f"{_likely(what)}; {HINT}")
                for what in missing
            ],
        )
    chosen = (points,) if points is not None else tuple(name for name in where if name)
    return TableForm(found["user"], found["time"], chosen, found["accuracy"])


def form_of_text(
    path: Path,
    columns: Columns = None,
    time: str | None = None,
    delimiter: str | None = None,
    crs: str | None = None,
) -> TableForm:
    """The form of a delimited text file with a header, from its first lines.

    What is not given is found out: the delimiter (the one that parts the header into most
    names), the columns, and whether times are text or numbers of seconds or milliseconds. Dates
    that begin with the day are read on request only: 3/4 may be March or April.
    """
    if time is not None and time not in TIME_KINDS:
        raise InvalidParameter(f"time must be one of {', '.join(TIME_KINDS)}, got {time!r}")
    if delimiter is not None and (
        len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'
    ):
        raise InvalidParameter(f"delimiter must be one ASCII character, got {delimiter!r}")
    lines = [line.decode("utf-8", "replace") for line in first_lines(path, SAMPLE_LINES)]
    part = delimiter or max(DELIMITERS, key=lambda one: (lines[0].count(one), one == ","))
    names = [name.strip().strip('"') for name in lines[0].split(part)]
    form = form_of_names(path, names, columns)
    if time is None:
        time = _time_kind([_field(line, part, names, form.time_column) for line in lines[1:]])
    return replace(form, time=time, delimiter=part, crs=crs)


def _found(names: Sequence[str], what: str) -> str | None:
    """The column of a table that is called like `what`."""
    lower = [name.lower() for name in names]
    for known in NAMES[what]:
        if known in lower:
            return names[lower.index(known)]
    return None


def _other(name: str | None, taken: Sequence[str]) -> str | None:
    return None if name in taken else name


def _likely(what: str) -> str:
    names = ", ".join(NAMES[what][:4])
    points = f", or points in {', '.join(NAMES['geometry'][:2])}" if what in ("lat", "lon") else ""
    return f"a column called {names} or the like{points}"


def _field(line: str, delimiter: str, names: Sequence[str], column: str) -> str:
    fields = line.split(delimiter)
    at = names.index(column) if column in names else len(fields)
    return fields[at].strip().strip('"') if at < len(fields) else ""


def _time_kind(sample: Sequence[str]) -> str:
    return "number" if any(DECIMAL.fullmatch(text.encode()) for text in sample) else "iso"
