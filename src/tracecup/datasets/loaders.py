"""Loaders by name: what a command needs to read any supported data set.

Locations are the cells of a grid, so that every loader answers to the same wishes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from tracecup.datasets.boundingbox import BEIJING, TOKYO_CENTRE, Box
from tracecup.datasets.dataset import Dataset
from tracecup.datasets.foursquare import read_foursquare, read_tsmc2014
from tracecup.datasets.geolife import read_geolife
from tracecup.datasets.gowalla import read_gowalla
from tracecup.datasets.peopleflow import read_peopleflow
from tracecup.datasets.table import COLUMNS, read_csv, read_parquet
from tracecup.errors import InvalidParameter
from tracecup.records import CONTEST, Timetable
from tracecup.records.delimited import BadLines

Path = str | PathLike[str]
BEIJING_MINUTES = 8 * 60.0


@dataclass(frozen=True)
class Wish:
    """What to read of a data set: the cells of a box on a timetable.

    `utc_offset` in minutes gives the hour of the day where files hold UTC (`None`: as the data
    set's own loader does it); `columns`, `time` and `delimiter` are those of `read_csv`.
    """

    box: Box | None = None
    nx: int = 32
    ny: int = 32
    timetable: Timetable = CONTEST
    fewest: int = 1
    utc_offset: float | None = None
    bad_lines: BadLines = "raise"
    columns: tuple[str, str, str, str] = COLUMNS
    time: str = "iso"
    delimiter: str = ","


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
    }


def _geolife(paths: Sequence[Path], wish: Wish, box: Box) -> Dataset:
    offset = BEIJING_MINUTES if wish.utc_offset is None else wish.utc_offset
    return read_geolife(paths[0], utc_offset=offset, **_shared(wish, box))


def _gowalla(paths: Sequence[Path], wish: Wish, box: Box) -> Dataset:
    offset = wish.utc_offset or 0.0
    return read_gowalla(paths[0], top=None, utc_offset=offset, **_shared(wish, box))


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


def _csv(paths: Sequence[Path], wish: Wish, box: Box) -> Dataset:
    return read_csv(
        paths[0],
        columns=wish.columns,
        time=wish.time,
        delimiter=wish.delimiter,
        utc_offset=wish.utc_offset or 0.0,
        **_shared(wish, box),
    )


def _parquet(paths: Sequence[Path], wish: Wish, box: Box) -> Dataset:
    offset = wish.utc_offset or 0.0
    return read_parquet(paths[0], columns=wish.columns, utc_offset=offset, **_shared(wish, box))


def _own_clock(name: str, wish: Wish) -> None:
    if wish.utc_offset is not None:
        raise InvalidParameter(f"files of {name} tell the local time: an offset makes no sense")


LOADERS = {
    loader.name: loader
    for loader in (
        Loader("csv", "one CSV file with user, time, latitude and longitude", _csv),
        Loader("parquet", "one Parquet file with user, time, latitude and longitude", _parquet),
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
    )
}
