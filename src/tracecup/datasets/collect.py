"""Collecting points of a box from a stream of blocks and making a data set of them.

What lies outside the box or the hours of the timetable is dropped at once and costs no memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from tracecup.city import City, Places
from tracecup.datasets.boundingbox import Box
from tracecup.datasets.dataset import Dataset
from tracecup.datasets.splitting import keep_chains
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.records import Records, Timetable
from tracecup.records.delimited import text_of

MAX_OFFSET = 24 * 60
# Boxes of places are looked at through the paper's 20 x 20 grid.
PLACE_GRID = 20


@dataclass(frozen=True)
class Cut:
    """What to keep of a data set, and how to name its locations.

    `box` and `timetable` bound space and hours. Locations are the nx x ny cells of the box or,
    with `top`, the `top` most visited places in it (rank = index; ties in file order).
    `fewest` records a user must have to stay. `thin` keeps one record per user and instant.
    `exact` keeps only records whose minute begins an instant.
    """

    box: Box
    timetable: Timetable
    nx: int = 20
    ny: int = 20
    top: int | None = None
    fewest: int = 1
    thin: bool = False
    exact: bool = False

    def check(self) -> None:
        """Raise `InvalidParameter` for numbers that make no sense."""
        if min(self.nx, self.ny, self.fewest) < 1 or (self.top is not None and self.top < 1):
            raise InvalidParameter(
                "nx, ny, top and fewest must be >= 1, got "
                f"{self.nx}, {self.ny}, {self.top}, {self.fewest}"
            )


class Points(NamedTuple):
    """Columns of kept points: user (id or code), cell or code of a venue, day, instant, time."""

    user: NDArray[np.int64]
    where: NDArray[np.int32]
    day: NDArray[np.int32]
    instant: NDArray[np.int32]
    unix: NDArray[np.float64]

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Points:
        """Some rows, by number or by mask."""
        user, where, day, instant, unix = self
        return Points(user[rows], where[rows], day[rows], instant[rows], unix[rows])


class Codes:
    """Numbers for names, in the order in which the names come up.

    >>> codes = Codes()
    >>> codes.of(pa.array([b"b", b"a", b"b"])).tolist(), codes.names
    ([0, 1, 0], [b'b', b'a'])
    """

    def __init__(self) -> None:
        self.names: list[bytes] = []
        self._known: dict[bytes, int] = {}

    def of(self, words: pa.Array) -> NDArray[np.int64]:
        """The code of every word; new words get the next numbers."""
        encoded = words.dictionary_encode()
        numbers = np.empty(len(encoded.dictionary), dtype=np.int64)
        for k, word in enumerate(encoded.dictionary.to_pylist()):
            if word not in self._known:
                self._known[word] = len(self.names)
                self.names.append(word)
            numbers[k] = self._known[word]
        return np.asarray(numbers[encoded.indices.to_numpy(zero_copy_only=False)])

    def __len__(self) -> int:
        return len(self.names)


@dataclass
class Venues:
    """Places met so far: where each lies and of which category it is, by code."""

    latitude: list[float] = field(default_factory=list)
    longitude: list[float] = field(default_factory=list)
    category: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.latitude)

    def learn(
        self,
        codes: NDArray[np.int64],
        latitude: NDArray[np.float64],
        longitude: NDArray[np.float64],
        categories: pa.Array | None = None,
    ) -> None:
        """Note the first position and category of every code not seen before."""
        new, first = np.unique(codes, return_index=True)
        for code, row in zip(new.tolist(), first.tolist(), strict=True):
            if code >= len(self):
                self.latitude.append(float(latitude[row]))
                self.longitude.append(float(longitude[row]))
                self.category.append("" if categories is None else text_of(categories[row].as_py()))


class Collector:
    """Takes points block by block, keeps those of the cut, makes a `Dataset` in the end."""

    def __init__(self, cut: Cut) -> None:
        cut.check()
        self.cut = cut
        self.skipped = self.outside = self.off_hours = 0
        self._parts: list[Points] = []

    def add(
        self,
        user: NDArray[np.int64],
        place: ArrayLike,
        local: NDArray[np.float64],
        shift: ArrayLike = 0.0,
    ) -> None:
        """Points at `place` (cell or code of a venue; -1: outside the box).

        `local` are seconds since 1970 by the clock that tells the hour; `local - shift` is the
        true time.
        """
        where = np.asarray(place, dtype=np.int32)
        day, instant = self.cut.timetable.place(local, exact=self.cut.exact)
        keep = (where >= 0) & (instant >= 0)
        self.off_hours += int(((where >= 0) & (instant < 0)).sum())
        if self.cut.thin and len(user):
            # Long runs within one instant (GPS every second) need not wait for the end.
            same = (user[1:] == user[:-1]) & (day[1:] == day[:-1]) & (instant[1:] == instant[:-1])
            keep[1:] &= ~(same & keep[:-1])
        unix = local - np.asarray(shift, dtype=np.float64)
        points = Points(user, where, day.astype(np.int32), instant, unix)
        self._parts.append(points.take(keep))

    def add_points(
        self,
        user: NDArray[np.int64],
        latitude: NDArray[np.float64],
        longitude: NDArray[np.float64],
        local: NDArray[np.float64],
        shift: ArrayLike = 0.0,
    ) -> None:
        """Points by latitude and longitude, for locations that are cells."""
        place = self.cut.box.cells(latitude, longitude, self.cut.nx, self.cut.ny)
        self.add(user, place, local, shift)

    def regions(
        self,
        names: list[bytes] | None = None,
        *,
        in_order: bool = False,
        hospitals: list[int] | None = None,
        places: Places | None = None,
        chain: bool = False,
    ) -> Dataset:
        """The data set with cells as locations. `names`: of text users, by code.

        `in_order` keeps the records of a user as they came instead of sorting by time; `chain`
        keeps one gap-free chain per user (`splitting.keep_chains`), taken as one day.
        """
        grid = self.cut.box.grid(self.cut.nx, self.cut.ny)
        city = City(grid, hospitals or [], places or Places.none())
        points = self._points()
        if chain:
            points = _chained(points, self.cut.timetable.instants)
        records = self._records(points, grid.n_regions, names, in_order)
        return Dataset(records, city, False, self.skipped, self.outside, self.off_hours)

    def places(self, venues: Venues, names: list[bytes] | None = None) -> Dataset:
        """The data set with the most visited venues as locations."""
        points = self._points()
        counts = np.bincount(points.where, minlength=len(venues))
        order = np.argsort(-counts, kind="stable")[: self.cut.top]
        order = order[counts[order] > 0]
        rank = np.full(len(venues), -1, dtype=np.int32)
        rank[order] = np.arange(len(order))
        points = points._replace(where=rank[points.where])
        points = points.take(points.where >= 0)
        latitude = np.array(venues.latitude, dtype=np.float64)[order]
        longitude = np.array(venues.longitude, dtype=np.float64)[order]
        grid = self.cut.box.grid(PLACE_GRID, PLACE_GRID)
        cells = self.cut.box.cells(latitude, longitude, PLACE_GRID, PLACE_GRID)
        table = Places(
            latitude,
            longitude,
            cells,
            tuple(venues.category[k] for k in order),
            counts[order].astype(np.int64),
        )
        records = self._records(points, max(len(order), 1), names, False)
        return Dataset(records, City(grid, (), table), True, self.skipped)

    def _points(self) -> Points:
        """Everything collected so far, in one piece."""
        if not self._parts:
            kinds = ("i8", "i4", "i4", "i4", "f8")
            self._parts.append(Points(*(np.empty(0, dtype=kind) for kind in kinds)))
        points = Points(*(np.concatenate(part) for part in zip(*self._parts, strict=True)))
        self._parts = [points]
        return points

    def _records(
        self, points: Points, n_locations: int, names: list[bytes] | None, in_order: bool
    ) -> Records:
        user, ids, labels = _numbered(points.user, names)
        points = points._replace(user=user)
        order = np.argsort(user, kind="stable") if in_order else np.lexsort((points.unix, user))
        points = points.take(order)
        if self.cut.thin:
            points = points.take(_first_of_instant(points))
        stays = np.bincount(points.user, minlength=len(ids)) >= self.cut.fewest
        points = points.take(stays[points.user])
        first_day = points.day.min() if len(points.day) else 0
        return Records(
            (np.cumsum(stays) - 1)[points.user],
            points.where,
            points.day - first_day,
            points.instant,
            points.unix,
            n_locations,
            self.cut.timetable,
            ids[stays],
            tuple(name for name, stay in zip(labels, stays, strict=True) if stay) if labels else (),
        )


def _numbered(
    user: NDArray[np.int64], names: list[bytes] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[str]]:
    """(index of every record's user in id order, ids, names); only users with records."""
    present, index = np.unique(user, return_inverse=True)
    index = index.astype(np.int64).ravel()
    if names is None:
        return index, present.astype(np.int64), []
    labels = [text_of(names[int(code)]) for code in present]
    if all(_is_number(label) for label in labels):
        numbers = np.array([int(label) for label in labels], dtype=np.int64)
        order = np.argsort(numbers, kind="stable")
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return rank[index], numbers[order], []
    by_name = sorted(range(len(labels)), key=lambda k: labels[k])
    rank = np.empty(len(labels), dtype=np.int64)
    rank[by_name] = np.arange(len(labels))
    ids = np.arange(1, len(labels) + 1, dtype=np.int64)
    return rank[index], ids, [labels[k] for k in by_name]


def _is_number(label: str) -> bool:
    """Whether an id is a whole number written plainly, so that no two ids are the same number."""
    plain = label.isascii() and label.isdigit() and len(label) <= 18
    return plain and (label == "0" or not label.startswith("0"))


def _first_of_instant(points: Points) -> NDArray[np.int64]:
    """Rows of the first record of every (user, day, instant), in order."""
    rows = np.arange(len(points.user))
    order = np.lexsort((rows, points.instant, points.day, points.user))
    user, _, day, instant, _ = points.take(order)
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = (user[1:] != user[:-1]) | (day[1:] != day[:-1]) | (instant[1:] != instant[:-1])
    return np.sort(order[first])


def _chained(points: Points, length: int) -> Points:
    points = points.take(np.argsort(points.user, kind="stable"))
    points = points.take(keep_chains(points.user, points.instant, length))
    return points._replace(day=np.zeros_like(points.day))


def shift_of(utc_offset: float) -> float:
    """Seconds to add to UTC, from minutes; a day at most."""
    if not abs(utc_offset) <= MAX_OFFSET:
        raise InvalidParameter(
            f"utc_offset must be within -{MAX_OFFSET}..{MAX_OFFSET} minutes, got {utc_offset}"
        )
    return 60.0 * utc_offset


def need_records(dataset: Dataset, what: str) -> Dataset:
    """The data set, or an error if nothing of it lies in the box and the hours."""
    if not len(dataset.records):
        raise InvalidTraces(f"no record of {what} lies in the box and the hours of the timetable")
    return dataset
