"""The order of rows never changes an answer: a property of every loader."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracecup.datasets import (
    Box,
    Dataset,
    from_frame,
    read_csv,
    read_foursquare,
    read_geolife,
    read_gowalla,
    read_gpx,
    read_parquet,
    read_peopleflow,
    read_takeout,
    read_tsmc2014,
)
from tracecup.datasets.geolife import DAYS_TO_1970
from tracecup.records import CHECK_INS, PEOPLE_FLOW

BOX = Box(0, 4, 0, 4)
# User, hour, minute, latitude, longitude, place: several records in one instant, ties in time at
# different places, places as popular as others, a point outside, users with a single record.
ROWS = [
    (1, 9, 0, 0.5, 0.5, "a"),
    (1, 9, 20, 3.5, 3.5, "d"),
    (1, 9, 40, 1.5, 0.5, "b"),
    (1, 10, 0, 1.5, 0.5, "b"),
    (1, 10, 0, 0.5, 0.6, "a"),
    (2, 9, 20, 2.5, 2.5, "c"),
    (2, 9, 20, 3.5, 3.4, "d"),
    (2, 9, 0, 9.0, 9.0, "far"),
    (3, 23, 40, 2.5, 2.5, "c"),
]
TWEET = "Tue Apr 03 {:02d}:{:02d}:06 +0000 2012"


def table(folder: Path, rows: Sequence[tuple]) -> Dataset:
    lines = [f"u{u},2012-04-03 {h:02d}:{m:02d}:00,{y},{x}" for u, h, m, y, x, _ in rows]
    (folder / "t.csv").write_text("user,time,lat,lon\n" + "\n".join(lines) + "\n")
    return read_csv(folder / "t.csv", box=BOX, nx=4, ny=4, timetable=CHECK_INS)


def parquet(folder: Path, rows: Sequence[tuple]) -> Dataset:
    import pyarrow as pa
    import pyarrow.parquet as pq

    user, hour, minute, y, x, _ = zip(*rows, strict=True)
    seconds = [3600 * h + 60 * m for h, m in zip(hour, minute, strict=True)]
    pq.write_table(pa.table({"user": user, "time": seconds, "lat": y, "lon": x}), folder / "t.pq")
    return read_parquet(folder / "t.pq", box=BOX, nx=4, ny=4, timetable=CHECK_INS)


def gowalla(folder: Path, rows: Sequence[tuple]) -> Dataset:
    lines = [f"{u}\t2012-04-03T{h:02d}:{m:02d}:00Z\t{y}\t{x}\t{p}" for u, h, m, y, x, p in rows]
    (folder / "g.txt").write_text("\n".join(lines) + "\n")
    return read_gowalla(folder / "g.txt", box=BOX, top=3)


def foursquare(folder: Path, rows: Sequence[tuple]) -> Dataset:
    (folder / "v.txt").write_text(
        "".join(
            f"{p}\t{y}\t{y}\tBar\tUS\n" for p, y in zip("abcd", (0.5, 1.5, 2.5, 3.5), strict=True)
        )
    )
    lines = [f"{u}\t{p}\t{TWEET.format(h, m)}\t60" for u, h, m, _, _, p in rows]
    (folder / "c.txt").write_text("\n".join(lines) + "\n")
    return read_foursquare(folder / "c.txt", folder / "v.txt", box=BOX, top=3)


def tsmc2014(folder: Path, rows: Sequence[tuple]) -> Dataset:
    lines = [
        f"{u}\t{p}\t0\tBar {h}\t{y}\t{x}\t60\t{TWEET.format(h, m)}" for u, h, m, y, x, p in rows
    ]
    (folder / "t.txt").write_text("\n".join(lines) + "\n")
    return read_tsmc2014(folder / "t.txt", box=BOX, top=3)


def geolife(folder: Path, rows: Sequence[tuple]) -> Dataset:
    for user in {row[0] for row in rows}:
        trajectory = folder / f"{user:03d}" / "Trajectory"
        trajectory.mkdir(parents=True, exist_ok=True)
        lines = [
            f"{y},{x},0,0,{DAYS_TO_1970 + (h + m / 60) / 24},2012-04-03,{h:02d}:{m:02d}:00"
            for u, h, m, y, x, _ in rows
            if u == user
        ]
        (trajectory / "1.plt").write_text("head\n" * 6 + "\n".join(lines) + "\n")
    return read_geolife(folder, box=BOX, nx=4, ny=4, timetable=CHECK_INS, utc_offset=0)


def peopleflow(folder: Path, rows: Sequence[tuple]) -> Dataset:
    lines = [
        f"{u},1,2012-04-03 {h:02d}:{m:02d}:00,{y},{x},shop{m},food,STAY,7"
        for u, h, m, y, x, _ in rows
    ]
    (folder / "2012-04-03.csv").write_text("head\n" + "\n".join(lines) + "\n")
    return read_peopleflow(folder, box=BOX, nx=4, ny=4, timetable=PEOPLE_FLOW, chain=False)


def points(folder: Path, rows: Sequence[tuple]) -> Dataset:
    lines = [f"u{u};2012-04-03 {h:02d}:{m:02d}:00+00;POINT ({x} {y})" for u, h, m, y, x, _ in rows]
    (folder / "t.csv").write_text("uid;t;geometry\n" + "\n".join(lines) + "\n")
    return read_csv(folder / "t.csv", box=BOX, nx=4, ny=4, timetable=CHECK_INS)


def frame(_: Path, rows: Sequence[tuple]) -> Dataset:
    user, hour, minute, y, x, _ = zip(*rows, strict=True)
    columns = {
        "uid": [f"u{u}" for u in user],
        "t": [1000 * (3600 * h + 60 * m + 10**9) for h, m in zip(hour, minute, strict=True)],
        "geom": [f"POINT ({x} {y})" for x, y in zip(x, y, strict=True)],
    }
    return from_frame(columns, box=BOX, nx=4, ny=4, timetable=CHECK_INS)


def gpx(folder: Path, rows: Sequence[tuple]) -> Dataset:
    paths = []
    for user in sorted({row[0] for row in rows}):
        lines = [
            f'<trkpt lat="{y}" lon="{x}"><time>2012-04-03T{h:02d}:{m:02d}:00Z</time></trkpt>'
            for u, h, m, y, x, _ in rows
            if u == user
        ]
        path = folder / f"{user}.gpx"
        path.write_text("<gpx><trk><trkseg>" + "".join(lines) + "</trkseg></trk></gpx>")
        paths.append(path)
    return read_gpx(paths, box=BOX, nx=4, ny=4, timetable=CHECK_INS)


def takeout(folder: Path, rows: Sequence[tuple]) -> Dataset:
    paths = []
    for user in sorted({row[0] for row in rows}):
        items = [
            {
                "latitudeE7": round(1e7 * y),
                "longitudeE7": round(1e7 * x),
                "timestamp": f"2012-04-03T{h:02d}:{m:02d}:00Z",
            }
            for u, h, m, y, x, _ in rows
            if u == user
        ]
        path = folder / f"{user}.json"
        path.write_text(json.dumps({"locations": items}))
        paths.append(path)
    return read_takeout(paths, box=BOX, nx=4, ny=4, timetable=CHECK_INS)


LOADERS = [
    table, parquet, points, frame, gpx, takeout, gowalla, foursquare, tsmc2014, geolife, peopleflow,
]  # fmt: skip


@pytest.mark.parametrize("load", LOADERS)
class TestRowOrder:
    @settings(max_examples=12)
    @given(order=st.permutations(range(len(ROWS))))
    def test_shuffled_and_reversed_rows_give_the_same(
        self, load: Callable[..., Dataset], order: list[int], tmp_path_factory
    ):
        found = [
            load(tmp_path_factory.mktemp("order"), [ROWS[k] for k in rows])
            for rows in (range(len(ROWS)), order, order[::-1])
        ]
        for other in found[1:]:
            assert other.records == found[0].records
            assert other.dropped == found[0].dropped
            assert other.city.places.categories == found[0].city.places.categories
            assert np.array_equal(other.city.places.latitudes, found[0].city.places.latitudes)

    def test_what_lies_outside_is_counted(self, load: Callable[..., Dataset], tmp_path: Path):
        assert load(tmp_path, ROWS).dropped.outside == 1
