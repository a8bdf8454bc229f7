"""Gowalla and Brightkite check-ins as the Stanford collection distributes them.

One tab-separated file: user, time, latitude, longitude, location.
"""

from __future__ import annotations

from os import PathLike

from tracecup.datasets.boundingbox import Box
from tracecup.datasets.cleaning import NOTHING, Cleaning
from tracecup.datasets.collect import Codes, Collector, Cut, Venues, need_records
from tracecup.datasets.dataset import Dataset
from tracecup.records import CHECK_INS, Timetable
from tracecup.records.delimited import BadLines, TextLayout, read_text
from tracecup.records.zones import Zone

COLUMNS = ("user", "time", "latitude", "longitude", "location")
LAYOUT = TextLayout(COLUMNS, delimiter="\t", fewest=1)


def read_gowalla(
    path: str | PathLike[str],
    *,
    box: Box,
    top: int | None = 1000,
    nx: int = 20,
    ny: int = 20,
    timetable: Timetable = CHECK_INS,
    fewest: int = 1,
    utc_offset: float = 0.0,
    zone: str | None = None,
    bad_lines: BadLines = "raise",
    cleaning: Cleaning = NOTHING,
) -> Dataset:
    """Read `loc-gowalla_totalCheckins.txt` or `loc-brightkite_totalCheckins.txt` (also .gz).

    A line is like `0 <tab> 2010-10-19T23:55:27Z <tab> 30.2359091167 <tab> -97.7951395833 <tab>
    22847`; Brightkite's locations are text. Brightkite has some lines with a user and nothing
    else: they are no check-ins and are passed over silently. `utc_offset` in minutes or an
    IANA `zone` turns UTC into the city's time. Locations tie by their ids; the position of a
    location is that of its earliest check-in in the box.
    """
    collector = Collector(Cut(box, timetable, nx, ny, top, fewest, cleaning=cleaning))
    codes, known = Codes(), Venues()
    clock = Zone(utc_offset, zone)
    for block in read_text(path, LAYOUT):
        user = block.whole("user")
        empty = block.good & ~block.filled("time", "latitude", "longitude")
        block.good &= ~empty
        unix = block.time("time", "iso")
        latitude, longitude = block.decimal("latitude"), block.decimal("longitude")
        words = block.words("location")
        if top is not None:
            block.expect(block.filled("location"), "location", "a location id")
        rows = block.settle(bad_lines)
        collector.bad_lines(len(block) - len(rows) - int(empty.sum()))
        rows = collector.inside(rows, latitude, longitude)
        shift = clock.shift(unix[rows])
        local = unix[rows] + shift
        if top is None:
            collector.add_points(user[rows], latitude[rows], longitude[rows], local, shift)
            continue
        place = codes.of(words.take(rows))
        known.learn(place, unix[rows], latitude[rows], longitude[rows])
        collector.add(user[rows], place, local, shift)
    dataset = collector.regions() if top is None else collector.places(known, codes.names)
    return need_records(dataset, "the check-ins")
