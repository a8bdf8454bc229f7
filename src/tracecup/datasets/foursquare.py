"""Foursquare check-ins: the global-scale files (TIST2015, WWW2019) and NYC/Tokyo (TSMC2014).

Locations are the most visited places of a box, as in the paper's experiments, or grid cells.
"""

from __future__ import annotations

from os import PathLike

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tracecup.datasets.boundingbox import Box
from tracecup.datasets.cleaning import NOTHING, Cleaning
from tracecup.datasets.collect import Codes, Collector, Cut, Venues, need_records
from tracecup.datasets.dataset import Dataset
from tracecup.records import CHECK_INS, Timetable
from tracecup.records.delimited import BadLines, Block, TextLayout, read_text, text_of
from tracecup.records.zones import MAX_OFFSET

Path = str | PathLike[str]

CHECKINS = TextLayout(("user", "venue", "utc_time", "offset"), delimiter="\t")
# The country is missing in some lines.
VENUES = TextLayout(
    ("venue", "latitude", "longitude", "category", "country"), delimiter="\t", fewest=4
)
TSMC2014 = TextLayout(
    (
        "user",
        "venue",
        "category_id",
        "category",
        "latitude",
        "longitude",
        "offset",
        "utc_time",
    ),
    delimiter="\t",
)
TOP = 1000


def read_foursquare(
    checkins: Path,
    venues: Path,
    *,
    box: Box,
    top: int | None = TOP,
    nx: int = 20,
    ny: int = 20,
    timetable: Timetable = CHECK_INS,
    fewest: int = 1,
    local_time: bool = False,
    bad_lines: BadLines = "raise",
    cleaning: Cleaning = NOTHING,
) -> Dataset:
    """Read the global check-ins: `dataset_TIST2015_Checkins.txt` and `..._POIs.txt`.

    Tab-separated without header. Check-ins: user, venue, UTC time (`Tue Apr 03 18:00:06 +0000
    2012`), offset of the local time in minutes. Venues: id, latitude, longitude, category,
    country. The files of the later release (`raw_Checkins_anonymized.txt`, `raw_POIs.txt`) have
    the same form.

    Keeps the `top` venues of the box with most check-ins (rank = location, ties in the order of
    the venue file), or with `top=None` the nx x ny cells. Hours are taken from the time stamps
    as they stand, as the published preparation does; `local_time` adds the offset.
    `dataset.split()` then makes the published split, a fifth of the users for testing.
    """
    collector = Collector(Cut(box, timetable, nx, ny, top, fewest, cleaning=cleaning))
    ids: list[pa.Array] = []
    points: list[NDArray[np.float64]] = []
    kinds: list[str] = []
    for block in read_text(venues, VENUES):
        latitude, longitude = block.decimal("latitude"), block.decimal("longitude")
        words, categories = block.words("venue"), block.words("category")
        rows = block.settle(bad_lines)
        collector.bad_lines(len(block) - len(rows))
        inside = rows[box.contains(latitude[rows], longitude[rows])]
        ids.append(words.take(inside))
        points.append(np.stack([latitude[inside], longitude[inside]]))
        kinds += [text_of(word) for word in categories.take(inside).to_pylist()]
    venue_ids = pa.concat_arrays(ids) if ids else pa.array([], pa.binary())
    latitude, longitude = np.concatenate([np.empty((2, 0)), *points], axis=1)
    known = Venues(latitude, longitude, kinds)
    for block in read_text(checkins, CHECKINS):
        user, unix = block.whole("user"), block.time("utc_time", "tweet")
        offset = _offset(block)
        found = pc.index_in(block.words("venue"), value_set=venue_ids).fill_null(-1)
        place = found.to_numpy(zero_copy_only=False)
        rows = block.settle(bad_lines)
        collector.bad_lines(len(block) - len(rows))
        shift = 60.0 * offset[rows] if local_time else np.zeros(len(rows))
        if top is not None:
            collector.add(user[rows], place[rows], unix[rows] + shift, shift)
            continue
        y, x = (_at(axis, place[rows]) for axis in (known.latitude, known.longitude))
        collector.add_points(user[rows], y, x, unix[rows] + shift, shift)
    dataset = collector.regions() if top is None else collector.places(known)
    return need_records(dataset, "the check-ins")


def read_tsmc2014(
    path: Path,
    *,
    box: Box,
    top: int | None = TOP,
    nx: int = 20,
    ny: int = 20,
    timetable: Timetable = CHECK_INS,
    fewest: int = 1,
    local_time: bool = False,
    bad_lines: BadLines = "raise",
    cleaning: Cleaning = NOTHING,
) -> Dataset:
    """Read `dataset_TSMC2014_NYC.txt` or `..._TKY.txt`.

    Tab-separated without header: user, venue, category id, category, latitude, longitude, offset
    in minutes, UTC time. Places tie by their ids and lie where their earliest check-in was;
    otherwise as `read_foursquare`.
    """
    collector = Collector(Cut(box, timetable, nx, ny, top, fewest, cleaning=cleaning))
    codes, known = Codes(), Venues()
    for block in read_text(path, TSMC2014):
        user, unix = block.whole("user"), block.time("utc_time", "tweet")
        latitude, longitude = block.decimal("latitude"), block.decimal("longitude")
        offset = _offset(block)
        words, categories = block.words("venue"), block.words("category")
        rows = block.settle(bad_lines)
        collector.bad_lines(len(block) - len(rows))
        rows = collector.inside(rows, latitude, longitude)
        shift = 60.0 * offset[rows] if local_time else np.zeros(len(rows))
        if top is None:
            collector.add_points(
                user[rows], latitude[rows], longitude[rows], unix[rows] + shift, shift
            )
            continue
        place = codes.of(words.take(rows))
        known.learn(place, unix[rows], latitude[rows], longitude[rows], categories.take(rows))
        collector.add(user[rows], place, unix[rows] + shift, shift)
    dataset = collector.regions() if top is None else collector.places(known, codes.names)
    return need_records(dataset, "the check-ins")


def _at(axis: NDArray[np.float64], place: NDArray[np.int64]) -> NDArray[np.float64]:
    """Where each place lies along an axis; infinity, outside every box, for place -1."""
    return np.append(axis, np.inf)[place]


def _offset(block: Block) -> NDArray[np.int64]:
    offset = block.whole("offset")
    block.expect(np.abs(offset) <= MAX_OFFSET, "offset", f"minutes, {MAX_OFFSET} at most")
    return offset
