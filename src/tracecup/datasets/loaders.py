"""Loaders by name: what a command needs to read any supported data set.

Locations are the cells of a grid, so that every loader answers to the same wishes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from tracecup.datasets.arrowtable import read_parquet
from tracecup.datasets.boundingbox import BEIJING, TOKYO_CENTRE, Box
from tracecup.datasets.cleaning import NOTHING, Cleaning
from tracecup.datasets.dataset import Dataset
from tracecup.datasets.foursquare import read_foursquare, read_tsmc2014
from tracecup.datasets.geolife import read_geolife
from tracecup.datasets.gowalla import read_gowalla
from tracecup.datasets.gpx import read_gpx
from tracecup.datasets.peopleflow import read_peopleflow
from tracecup.datasets.prepared import prepared_regions
from tracecup.datasets.table import read_csv
from tracecup.datasets.tableform import Columns
from tracecup.datasets.takeout import read_takeout
from tracecup.errors import InvalidParameter
from tracecup.records import CONTEST, Timetable
from tracecup.records.delimited import BadLines

Path = str | PathLike[str]
BEIJING_MINUTES = 8 * 60.0


@dataclass(frozen=True)
class Wish:
    """What to read of a data set: the cells of a box on a timetable.

    `utc_offset` in minutes or an IANA `zone` gives the hour of the day where files hold UTC
    (`None`: as the data set's own loader does it); `columns`, `time`, `delimiter` and `crs` are
    those of `read_csv`; `cleaning` is what is cleaned away before.
    """

    box: Box | None = None
    nx: int = 32
    ny: int = 32
    timetable: Timetable = CONTEST
    fewest: int = 1
    utc_offset: float | None = None
    bad_lines: BadLines = "raise"
    columns: Columns = None
    time: str | None = None
    delimiter: str | None = None
    crs: str | None = None
    zone: str | None = None
    cleaning: Cleaning = NOTHING


@dataclass(frozen=True)
class Loader:
    """A data set's loader: its name, what its files are and how many, and its own box if any."""

    name: str
    files: str
    read: Callable[[Sequence[Path], Wish, Box], Dataset]
    box: Box | None = None
    inputs: int | None = 1
    """Number of files; None for one or more."""

    def load(self, paths: Sequence[Path], wish: Wish) -> Dataset:
        """Read the files; raises `InvalidParameter` for a wish that cannot be."""
        if not paths or (self.inputs is not None and len(paths) != self.inputs):
            raise InvalidParameter(f"{self.name} reads {self.files}, got {len(paths)} files")
        if wish.zone is not None and wish.utc_offset is not None:
            raise InvalidParameter("give an offset or a zone, not both")
        box = wish.box or self.box
        if box is None:
            raise InvalidParameter(f"{self.name} has no box of its own: give one")
        return self.read(paths, wish, box)


def loader_of(name: str) -> Loader:
    """The loader of that name.

    >>> loader_of("gowalla").files
    'one file of Gowalla or Brightkite check-ins'
    """
    if name not in LOADERS:
        raise InvalidParameter(
            f"no data format is called {name[:40]!r} (known: {', '.join(LOADERS)})"
        )
    return LOADERS[name]


def _shared(wish: Wish, box: Box) -> dict[str, Any]:
    """What all loaders take."""
    return {
        "box": box,
        "nx": wish.nx,
        "ny": wish.ny,
        "timetable": wish.timetable,
        "fewest": wish.fewest,
        "bad_lines": wish.bad_lines,
        "cleaning": wish.cleaning,
    }


def _clocked(wish: Wish, box: Box) -> dict[str, Any]:
    """What loaders take whose files hold UTC."""
    return {**_shared(wish, box), "utc_offset": wish.utc_offset or 0.0, "zone": wish.zone}


def _geolife(paths: Sequence[Path], wish: Wish, box: Box) -> Dataset:
    offset = BEIJING_MINUTES if wish.utc_offset is None else wish.utc_offset
    return read_geolife(paths[0], utc_offset=offset, zone=wish.zone, **_shared(wish, box))


def _gowalla(paths: Sequence[Path], wish: Wish, box: Box) -> Dataset:
    return read_gowalla(paths[0], top=None, **_clocked(wish, box))


def _gpx(paths: Sequence[Path], wish: Wish, box: Box) -> Dataset:
    return read_gpx(paths, **_clocked(wish, box))


def _takeout(paths: Sequence[Path], wish: Wish, box: Box) -> Dataset:
    return read_takeout(paths, **_clocked(wish, box))


def _foursquare(paths: Sequence[Path], wish: Wish, box: Box) -> Dataset:
    _own_clock("foursquare", wish)
    return read_foursquare(paths[0], paths[1], top=None, local_time=True, **_shared(wish, box))


def _tsmc2014(paths: Sequence[Path], wish: Wish, box: Box) -> Dataset:
    _own_clock("tsmc2014", wish)
    return read_tsmc2014(paths[0], top=None, local_time=True, **_shared(wish, box))


def _peopleflow(paths: Sequence[Path], wish: Wish, box: Box) -> Dataset:
    _own_clock("peopleflow", wish)
    source = paths[0] if len(paths) == 1 else paths
    return read_peopleflow(source, chain=False, **_shared(wish, box))


def _prepared(paths: Sequence[Path], wish: Wish, box: Box) -> Dataset:
    _own_clock("prepared", wish)
    if (wish.fewest, wish.bad_lines, wish.cleaning) != (1, "raise", NOTHING):
        raise InvalidParameter(
            "prepared files are read as they are: no line or user of theirs is left out"
        )
    return prepared_regions(paths[0], box=box, nx=wish.nx, ny=wish.ny, timetable=wish.timetable)


def _csv(paths: Sequence[Path], wish: Wish, box: Box) -> Dataset:
    return read_csv(
        paths[0],
        columns=wish.columns,
        time=wish.time,
        delimiter=wish.delimiter,
        crs=wish.crs,
        **_clocked(wish, box),
    )


def _parquet(paths: Sequence[Path], wish: Wish, box: Box) -> Dataset:
    if wish.time is not None or wish.delimiter is not None:
        raise InvalidParameter("Parquet files know their types: time and delimiter are for text")
    return read_parquet(paths[0], columns=wish.columns, crs=wish.crs, **_clocked(wish, box))


def _own_clock(name: str, wish: Wish) -> None:
    if wish.utc_offset is not None or wish.zone is not None:
        raise InvalidParameter(f"files of {name} tell the local time: an offset makes no sense")


LOADERS = {
    loader.name: loader
    for loader in (
        Loader("csv", "one CSV file with user, time, latitude and longitude", _csv),
        Loader("parquet", "one Parquet file with user, time, latitude and longitude", _parquet),
        Loader("geoparquet", "one GeoParquet file with user, time and points", _parquet),
        Loader("gpx", "GPX files or folders of them, one for each person", _gpx, inputs=None),
        Loader(
            "google-takeout",
            "location histories or folders of them, one for each person",
            _takeout,
            inputs=None,
        ),
        Loader("geolife", "the folder that holds 000, 001, ...", _geolife, BEIJING),
        Loader("gowalla", "one file of Gowalla or Brightkite check-ins", _gowalla),
        Loader("foursquare", "a file of check-ins and one of venues", _foursquare, inputs=2),
        Loader("tsmc2014", "one file of the New York or Tokyo check-ins", _tsmc2014),
        Loader(
            "peopleflow",
            "daily files, or the folder that holds them",
            _peopleflow,
            TOKYO_CENTRE,
            inputs=None,
        ),
        Loader(
            "prepared",
            "the folder of PPMTF's files (traintraces_TK.csv, ...)",
            _prepared,
            TOKYO_CENTRE,
        ),
    )
}
