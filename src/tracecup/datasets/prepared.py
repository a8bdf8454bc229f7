"""Data sets that others have prepared: the files of the published synthesizer.

`read_prepared` for PPMTF/PPMTF+ (`traintraces_TK.csv`, ...); `prepared_regions` is the same as one
data set of regions, which commands take.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City, Places
from tracecup.datasets.boundingbox import TOKYO_CENTRE, Box
from tracecup.datasets.collect import PLACE_GRID
from tracecup.datasets.dataset import Dataset, Split
from tracecup.errors import InvalidParameter, UnreadableFile, fail
from tracecup.records import PEOPLE_FLOW, Records, Timetable
from tracecup.records.delimited import TextLayout, read_text, text_of
from tracecup.records.files import PUBLISHED, one_chain, published_times
from tracecup.safeio import COMPRESSIONS

USER_INDEX = TextLayout(("user_id", "user_index"), header=True)
PLACE_INDEX = TextLayout(("poi_id", "poi_index", "category"), header=True)
PLACES = TextLayout(("poi_id", "y", "x"), header=True)
ENDINGS = ("", *(one.suffix for one in COMPRESSIONS))


def read_prepared(
    folder: str | PathLike[str],
    city: str = "TK",
    *,
    box: Box = TOKYO_CENTRE,
    nx: int = 20,
    ny: int = 20,
    timetable: Timetable = PEOPLE_FLOW,
) -> Split:
    """Read the files that the published synthesizer is trained on and evaluated with.

    `traintraces_XX.csv` and `testtraces_XX.csv` (`user_index,poi_index,category,unixtime,dow,
    hour,min`, further columns ignored), `tuserindex_XX.csv`, `euserindex_XX.csv`,
    `POIindex_XX.csv` and, for places, `POI_XX.csv`, with XX = `city`. Users are numbered from 0
    in both parts; `users` holds the ids of the source.

    With the people-flow timetable (one record in every slot) the records of a user form one
    day, whatever their dates: the published chains run over several dates. Otherwise (check-ins:
    `timetable=CHECK_INS`) days are the dates of the file.
    """
    town, n_locations, by_place = _town(folder, city, box, nx, ny)
    training, testing = (
        _records(part, n_locations, timetable)
        for part in _parts(folder, city, n_locations, timetable)
    )
    return Split(training, testing, town, by_place)


def prepared_regions(
    folder: str | PathLike[str], *, box: Box, nx: int, ny: int, timetable: Timetable
) -> Dataset:
    """The files of `read_prepared`, of the one city in a folder, with regions as locations.

    The training users come first, and stay those that train. Places become the cells of the box
    they lie in.
    """
    name = _only_city(folder)
    town, n_locations, by_place = _town(folder, name, box, nx, ny)
    first, second = _parts(folder, name, n_locations, timetable)
    records = _records(first.followed_by(second), n_locations, timetable)
    if by_place:
        cells = box.cells(town.places.latitudes, town.places.longitudes, nx, ny)
        records = replace(records, location=cells[records.location], n_locations=nx * ny)
        town = City(box.grid(nx, ny))
    said = f"{len(first.ids)} training and {len(second.ids)} testing users, as the files have them"
    day = min(first.first_day, second.first_day)
    return Dataset(records, town, first_day=day, notes=(said,), training_users=len(first.ids))


@dataclass(frozen=True, eq=False)
class _Part:
    """The rows of one part; `user` is a row of `ids`, `day` counts from 1970."""

    user: NDArray[np.int64]
    location: NDArray[np.int64]
    unix: NDArray[np.float64]
    day: NDArray[np.int64]
    instant: NDArray[np.int32]
    ids: tuple[int, ...]

    @property
    def first_day(self) -> int:
        """The earliest date, in days since 1970."""
        return int(np.min(self.day))

    def followed_by(self, other: _Part) -> _Part:
        """Both parts, the other one's users after these."""
        return _Part(
            np.concatenate([self.user, other.user + len(self.ids)]),
            np.concatenate([self.location, other.location]),
            np.concatenate([self.unix, other.unix]),
            np.concatenate([self.day, other.day]),
            np.concatenate([self.instant, other.instant]),
            self.ids + other.ids,
        )


def _only_city(folder: str | PathLike[str]) -> str:
    """XX of the one `POIindex_XX.csv` in a folder."""
    found = {path.name.split(".")[0] for path in Path(folder).glob("POIindex_*.csv*")}
    if len(found) != 1:
        raise InvalidParameter(
            f"{folder} has {len(found)} files POIindex_XX.csv: prepared files are of one city"
        )
    return found.pop().removeprefix("POIindex_")


def _town(
    folder: str | PathLike[str], name: str, box: Box, nx: int, ny: int
) -> tuple[City, int, bool]:
    """The city, the number of its locations, and whether these are places."""
    place_ids, categories, n_locations = _place_index(_find(folder, f"POIindex_{name}.csv"))
    if n_locations == nx * ny and all(category == "-" for category in categories):
        return City(box.grid(nx, ny)), n_locations, False
    places = _places(_find(folder, f"POI_{name}.csv"), place_ids, categories, box)
    return City(box.grid(PLACE_GRID, PLACE_GRID), (), places), n_locations, True


def _parts(
    folder: str | PathLike[str], name: str, n_locations: int, timetable: Timetable
) -> Iterator[_Part]:
    """The rows of the training users, then those of the testing users."""
    for letter, part in (("t", "train"), ("e", "test")):
        ids = _user_index(_find(folder, f"{letter}userindex_{name}.csv"))
        yield _part(_find(folder, f"{part}traces_{name}.csv"), ids, n_locations, timetable)


def _find(folder: str | PathLike[str], name: str) -> Path:
    for ending in ENDINGS:
        path = Path(folder) / (name + ending)
        if path.exists():
            return path
    raise UnreadableFile(Path(folder) / name, f"no such file (nor with {' or '.join(ENDINGS[1:])})")


def _user_index(path: Path) -> dict[int, int]:
    """user_index -> user_id."""
    found: dict[int, int] = {}
    for block in read_text(path, USER_INDEX):
        ids, indices = block.whole("user_id"), block.whole("user_index")
        block.settle("raise")
        for row, (user, index) in enumerate(zip(ids.tolist(), indices.tolist(), strict=True)):
            if index in found:
                fail(path, block.first_line + row, "user_index", str(index), "each index once")
            found[index] = user
    return found


def _place_index(path: Path) -> tuple[list[bytes], list[str], int]:
    """(ids, categories, number) of the locations, in the order of their indices."""
    ids: list[bytes] = []
    categories: list[str] = []
    for block in read_text(path, PLACE_INDEX):
        index = block.whole("poi_index")
        expected = len(ids) + np.arange(len(block))
        block.expect(index == expected, "poi_index", "0, 1, 2, ... in order")
        block.settle("raise")
        ids += block.words("poi_id").to_pylist()
        categories += [text_of(word) for word in block.words("category").to_pylist()]
    if not ids:
        fail(path, 0, "", "no rows", "one row for every location")
    return ids, categories, len(ids)


def _places(path: Path, wanted: list[bytes], categories: list[str], box: Box) -> Places:
    row_of = {place: k for k, place in enumerate(wanted)}
    latitude, longitude = np.full(len(wanted), np.nan), np.full(len(wanted), np.nan)
    for block in read_text(path, PLACES):
        y, x = block.decimal("y"), block.decimal("x")
        block.settle("raise")
        for row, place in enumerate(block.words("poi_id").to_pylist()):
            if place in row_of:
                latitude[row_of[place]], longitude[row_of[place]] = y[row], x[row]
    missing = np.flatnonzero(np.isnan(latitude))
    if len(missing):
        found = f"no row for place {text_of(wanted[missing[0]])}"
        fail(path, 0, "poi_id", found, "every place of the index")
    cells = box.cells(latitude, longitude, PLACE_GRID, PLACE_GRID)
    outside = np.flatnonzero(cells < 0)
    if len(outside):
        found = f"place {text_of(wanted[outside[0]])} outside the box"
        fail(path, 0, "y", found, "places inside the box")
    unknown = np.full(len(wanted), -1, dtype=np.int64)
    return Places(latitude, longitude, cells, tuple(categories), unknown)


def _part(path: Path, ids: dict[int, int], n_locations: int, timetable: Timetable) -> _Part:
    parts: list[tuple[Any, ...]] = []
    position = {index: k for k, index in enumerate(sorted(ids))}
    for block in read_text(path, PUBLISHED):
        index, where = block.whole("user_index"), block.whole("poi_index", n_locations - 1)
        user = np.array([position.get(k, -1) for k in index.tolist()], dtype=np.int64)
        block.expect(user >= 0, "user_index", "an index of the user index file")
        times = published_times(block, timetable)
        block.settle()
        parts.append((user, where, *times))
    if not parts:
        fail(path, 0, "", "no rows", "one row for every record")
    user, where, unix, day, instant = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _Part(user, where, unix, day, instant, tuple(ids[index] for index in sorted(ids)))


def _records(part: _Part, n_locations: int, timetable: Timetable) -> Records:
    # One record in every instant of a single day: dates do not count (see above).
    one_day = one_chain(part.user, part.instant, timetable)
    return Records.of(
        part.user,
        part.location,
        part.instant,
        day=None if one_day else part.day - part.first_day,
        unix=part.unix,
        n_locations=n_locations,
        timetable=timetable,
        users=np.array(part.ids, dtype=np.int64),
    )
