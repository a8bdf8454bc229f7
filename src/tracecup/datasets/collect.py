"""Collecting points of a box from a stream of blocks and making a data set of them.

What lies outside the box or the hours of the timetable is dropped at once and costs no memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress, islice
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from tracecup.city import City, Places
from tracecup.datasets.boundingbox import Box
from tracecup.datasets.cleaning import NOTHING, Cleaning, RawPoints, clean
from tracecup.datasets.dataset import Dataset, Dropped
from tracecup.datasets.splitting import keep_chains
from tracecup.engine import threads
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.records import Records, Timetable
from tracecup.records.delimited import text_of, texts_of
from tracecup.records.ordering import first_of_events, first_rows, order_by_user

# From so many rows on, columns are copied by threads.
MANY = 1 << 19
# Boxes of places are looked at through the paper's 20 x 20 grid.
PLACE_GRID = 20


@dataclass(frozen=True)
class Cut:
    """What to keep of a data set, and how to name its locations.

    `box` and `timetable` bound space and hours. Locations are the nx x ny cells of the box or,
    with `top`, the `top` most visited places in it (rank = index).
    `fewest` records a user must have to stay. `thin` keeps the first record of each user and
    instant. `exact` keeps only records whose minute begins an instant. `hair` is the rounding
    that borders may carry, in degrees (see `Box.cells`). `cleaning` comes before all of this.
    """

    box: Box
    timetable: Timetable
    nx: int = 20
    ny: int = 20
    top: int | None = None
    fewest: int = 1
    thin: bool = False
    exact: bool = False
    hair: float = 0.0
    cleaning: Cleaning = NOTHING

    def check(self) -> None:
        """Raise `InvalidParameter` for numbers that make no sense."""
        self.cleaning.check()
        if self.top is not None and self.cleaning != NOTHING:
            raise InvalidParameter("only points on a grid can be cleaned, not visits to places")
        if min(self.nx, self.ny, self.fewest) < 1 or (self.top is not None and self.top < 1):
            raise InvalidParameter(
                "nx, ny, top and fewest must be >= 1, got "
                f"{self.nx}, {self.ny}, {self.top}, {self.fewest}"
            )

    def placed(
        self,
        user: NDArray[np.int64],
        place: ArrayLike,
        local: NDArray[np.float64],
        shift: ArrayLike = 0.0,
    ) -> Placed:
        """What the cut keeps of some points; parameters as in `Collector.add`."""
        where = np.asarray(place, dtype=np.int32)
        day, instant = self.timetable.place(local, exact=self.exact)
        unix = local - np.asarray(shift, dtype=np.float64)
        inside, on_time = where >= 0, instant >= 0
        keep = inside & on_time
        kept, in_box = int(np.count_nonzero(keep)), int(np.count_nonzero(inside))
        dropped = {"outside": len(where) - in_box, "off_hours": in_box - kept}
        points = Points(user, where, day.astype(np.int32), instant, unix).take(keep)
        if self.thin and len(points.user):
            # Long runs within one instant (GPS every second) need not wait for the end.
            first = _first_of_runs(points)
            points = points.take(first)
            dropped["same_instant"] = len(first) - len(points.user)
        return Placed(points, dropped)


class Points(NamedTuple):
    """Columns of kept points: user (id or code), cell or code of a venue, day, instant, time."""

    user: NDArray[np.int64]
    where: NDArray[np.int32]
    day: NDArray[np.int32]
    instant: NDArray[np.int32]
    unix: NDArray[np.float64]

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Points:
        """Some rows, by number or by mask."""
        if rows.dtype == np.bool_ and bool(rows.all()):
            return self
        columns: tuple[NDArray[Any], ...] = self
        if len(rows) < MANY:
            return Points(*(column[rows] for column in columns))
        with threads() as pool:
            return Points(*pool.map(lambda column: column[rows], columns))


class Placed(NamedTuple):
    """Points of a cut, and how many were left out for which reason."""

    points: Points
    dropped: dict[str, int]


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
        encoded, known, before = words.dictionary_encode(), self._known, len(self._known)
        codes = [known.setdefault(word, len(known)) for word in encoded.dictionary.to_pylist()]
        self.names += list(islice(reversed(known), len(known) - before))[::-1]
        numbers = np.array(codes, dtype=np.int64)
        return np.asarray(numbers[encoded.indices.to_numpy(zero_copy_only=False)])

    def __len__(self) -> int:
        return len(self.names)


class Venues:
    """Places met so far: where each lies and of which category it is, by code.

    A place lies where its earliest visit was, whatever the order in which visits come.
    """

    def __init__(
        self, latitude: ArrayLike = (), longitude: ArrayLike = (), category: Sequence[str] = ()
    ) -> None:
        self.latitude = np.asarray(latitude, dtype=np.float64)
        self.longitude = np.asarray(longitude, dtype=np.float64)
        self.category = list(category)
        self._when = np.full(len(self.latitude), -np.inf)

    def __len__(self) -> int:
        return len(self.latitude)

    def learn(
        self,
        codes: NDArray[np.int64],
        when: NDArray[np.float64],
        latitude: NDArray[np.float64],
        longitude: NDArray[np.float64],
        categories: pa.Array | None = None,
    ) -> None:
        """Note position and category of the earliest visit of every code."""
        if not len(codes):
            return
        new = max(0, int(codes.max()) + 1 - len(self))
        self.latitude = np.append(self.latitude, np.full(new, np.inf))
        self.longitude = np.append(self.longitude, np.full(new, np.inf))
        self._when = np.append(self._when, np.full(new, np.inf))
        self.category += [""] * new
        order = np.lexsort((longitude, latitude, when, codes))
        code, first = np.unique(codes[order], return_index=True)
        row = order[first]
        known, found = (
            np.stack([self._when[code], self.latitude[code], self.longitude[code]]),
            np.stack([when[row], latitude[row], longitude[row]]),
        )
        before = found < known
        better = before[0] | (
            (found[0] == known[0]) & (before[1] | ((found[1] == known[1]) & before[2]))
        )
        code, row = code[better], row[better]
        self._when[code], self.latitude[code], self.longitude[code] = found[:, better]
        if categories is not None:
            for place, visit in zip(code.tolist(), row.tolist(), strict=True):
                self.category[place] = text_of(categories[visit].as_py())


class Collector:
    """Takes points block by block, keeps those of the cut, makes a `Dataset` in the end.

    Neither the order of the points nor the cut into blocks changes the answer.
    """

    def __init__(self, cut: Cut) -> None:
        cut.check()
        self.cut = cut
        self.dropped: Counter[str] = Counter()
        self._parts: list[Points] = []
        self._raw: list[RawPoints] = []

    def bad_lines(self, count: int) -> None:
        """Count lines that were left out on request."""
        self.dropped["bad_lines"] += count

    def inside(
        self,
        rows: NDArray[np.int64],
        latitude: NDArray[np.float64],
        longitude: NDArray[np.float64],
    ) -> NDArray[np.int64]:
        """Those of the rows that lie in the box; the others are counted."""
        fine = self.cut.box.contains(latitude[rows], longitude[rows], self.cut.hair)
        self.dropped["outside"] += int((~fine).sum())
        return rows[fine]

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
        self.keep(self.cut.placed(user, place, local, shift))

    def keep(self, found: Placed) -> None:
        """Points that were placed by the cut already."""
        self.dropped.update(found.dropped)
        self._parts.append(found.points)

    def add_points(
        self,
        user: NDArray[np.int64],
        latitude: NDArray[np.float64],
        longitude: NDArray[np.float64],
        local: NDArray[np.float64],
        shift: ArrayLike = 0.0,
        accuracy: NDArray[np.float64] | None = None,
    ) -> None:
        """Points by latitude and longitude, for locations that are cells.

        `accuracy` in metres, NaN where it is not known.
        """
        limit = self.cut.cleaning.max_accuracy
        points = RawPoints(
            user, latitude, longitude, local, np.broadcast_to(shift, local.shape).astype(np.float64)
        )
        if limit is not None:
            if accuracy is None:
                raise InvalidParameter("the data tell no accuracy: none can be asked for")
            fine = ~(accuracy > limit)
            self.dropped["inaccurate"] += int((~fine).sum())
            points = points.take(fine)
        if self.cut.cleaning.by_user:
            rows = np.arange(len(points.user))
            self._raw.append(points.take(self.inside(rows, points.latitude, points.longitude)))
        else:
            self._place(points)

    def _place(self, points: RawPoints) -> None:
        cut = self.cut
        place = cut.box.cells(points.latitude, points.longitude, cut.nx, cut.ny, cut.hair)
        self.add(points.user, place, points.local, points.shift)

    def _settle(self) -> None:
        """Clean what has waited for all points of its users."""
        if self._raw:
            together = RawPoints(*(np.concatenate(part) for part in zip(*self._raw, strict=True)))
            points, dropped = clean(together, self.cut.cleaning)
            self.dropped.update(dropped)
            self._raw = []
            self._place(points)

    def regions(
        self,
        names: list[bytes] | None = None,
        *,
        hospitals: list[int] | None = None,
        places: Places | None = None,
        chain: bool = False,
    ) -> Dataset:
        """The data set with cells as locations. `names`: of text users, by code.

        `chain` keeps one gap-free chain per user (`splitting.keep_chains`), taken as one day.
        """
        grid = self.cut.box.grid(self.cut.nx, self.cut.ny)
        city = City(grid, hospitals or [], places or Places.none())
        return self._dataset(self._points(), grid.n_regions, names, city, chain=chain)

    def places(self, venues: Venues, ids: list[bytes] | None = None) -> Dataset:
        """The data set with the most visited venues as locations; ties go by `ids`, the names of
        the codes, or by code.
        """
        points = self._points()
        counts = np.bincount(points.where, minlength=len(venues))
        by_id = np.arange(len(venues))
        if ids is not None:
            by_id[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
        order = np.lexsort((by_id, -counts))[: self.cut.top]
        order = order[counts[order] > 0]
        rank = np.full(len(venues), -1, dtype=np.int32)
        rank[order] = np.arange(len(order))
        points = points._replace(where=rank[points.where])
        self.dropped["other_places"] = int((points.where < 0).sum())
        points = points.take(points.where >= 0)
        latitude, longitude = venues.latitude[order], venues.longitude[order]
        grid = self.cut.box.grid(PLACE_GRID, PLACE_GRID)
        cells = self.cut.box.cells(latitude, longitude, PLACE_GRID, PLACE_GRID)
        table = Places(
            latitude,
            longitude,
            cells,
            tuple(venues.category[k] for k in order),
            counts[order].astype(np.int64),
        )
        city = City(grid, (), table)
        return self._dataset(points, max(len(order), 1), None, city, by_place=True)

    def _points(self) -> Points:
        """Everything collected so far, in one piece."""
        self._settle()
        if not self._parts:
            kinds = ("i8", "i4", "i4", "i4", "f8")
            self._parts.append(Points(*(np.empty(0, dtype=kind) for kind in kinds)))
        points = Points(*(np.concatenate(part) for part in zip(*self._parts, strict=True)))
        self._parts = [points]
        return points

    def _dataset(
        self,
        points: Points,
        n_locations: int,
        names: list[bytes] | None,
        city: City,
        *,
        chain: bool = False,
        by_place: bool = False,
    ) -> Dataset:
        user, ids, labels = _numbered(points.user, names)
        points = points._replace(user=user)
        rows = order_by_user(user, len(ids), points.unix, points.where)
        dropped = dict(self.dropped)
        if chain:
            kept = keep_chains(user[rows], points.instant[rows], self.cut.timetable.instants)
            dropped["unchained"] = int((~kept).sum())
            rows = rows[kept]
            points = points._replace(day=np.zeros_like(points.day))
        if self.cut.thin:
            first, sure = first_rows(rows, user, points.day, points.instant)
            if not sure:
                event = points.day.astype(np.int64) * self.cut.timetable.instants + points.instant
                first = rows[np.sort(first_of_events(user[rows], event[rows]))]
            dropped["same_instant"] = self.dropped["same_instant"] + len(rows) - len(first)
            rows = first
        points = points.take(rows)
        counts = np.bincount(points.user, minlength=len(ids))
        stays = counts >= self.cut.fewest
        dropped["few_records"] = int(counts[~stays].sum())
        points = points.take(stays[points.user])
        first_day = int(points.day.min()) if len(points.day) else 0
        records = Records(
            (np.cumsum(stays) - 1)[points.user].astype(np.int32),
            points.where,
            points.day - first_day,
            points.instant,
            points.unix,
            n_locations,
            self.cut.timetable,
            ids[stays],
            tuple(compress(labels, stays.tolist())),
        )
        return Dataset(records, city, by_place, Dropped(**dropped), first_day)


def _numbered(
    user: NDArray[np.int64], names: list[bytes] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[str]]:
    """(index of every record's user in id order, ids, names); only users with records."""
    if names is None:
        present, index = np.unique(user, return_inverse=True)
        return index.astype(np.int64).ravel(), present.astype(np.int64), []
    occurs = np.bincount(user, minlength=len(names)) > 0
    present, index = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[user]
    labels = texts_of([names[code] for code in present.tolist()])
    if all(_is_number(label) for label in labels):
        numbers = np.array([int(label) for label in labels], dtype=np.int64)
        order = np.argsort(numbers, kind="stable")
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return rank[index], numbers[order], []
    by_name = sorted(range(len(labels)), key=labels.__getitem__)
    rank = np.empty(len(labels), dtype=np.int64)
    rank[by_name] = np.arange(len(labels))
    ids = np.arange(1, len(labels) + 1, dtype=np.int64)
    return rank[index], ids, [labels[k] for k in by_name]


def _is_number(label: str) -> bool:
    """Whether an id is a whole number written plainly, so that no two ids are the same number."""
    plain = label.isascii() and label.isdigit() and len(label) <= 18
    return plain and (label == "0" or not label.startswith("0"))


def _first_of_runs(points: Points) -> NDArray[np.bool_]:
    """Which rows may be the first of their instant: not those beside an earlier one of it."""
    user, where, day, instant, unix = points
    same = (user[1:] == user[:-1]) & (day[1:] == day[:-1]) & (instant[1:] == instant[:-1])
    rising = (unix[:-1] < unix[1:]) | ((unix[:-1] == unix[1:]) & (where[:-1] <= where[1:]))
    first = np.ones(len(user), dtype=np.bool_)
    first[1:] &= ~(same & rising)
    first[:-1] &= ~(same & ~rising)
    return first


def need_records(dataset: Dataset, what: str) -> Dataset:
    """The data set, or an error if nothing of it is left, with the reasons."""
    if not len(dataset.records):
        lost = [f"{name} {count}" for name, count in vars(dataset.dropped).items() if count]
        raise InvalidTraces(
            f"no record of {what} lies in the box and the hours of the timetable "
            f"(left out: {', '.join(lost) or 'nothing, it holds none'})"
        )
    return dataset
