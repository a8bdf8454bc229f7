"""Location histories as Google hands them out: records, semantic history, time lines of phones.

Four shapes in the course of the years; every item of a file tells its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from os import PathLike
from typing import Any, NamedTuple

from tracecup.datasets.boundingbox import Box
from tracecup.datasets.cleaning import NOTHING, Cleaning
from tracecup.datasets.collect import Collector, Cut, need_records
from tracecup.datasets.dataset import Dataset
from tracecup.datasets.people import PersonPoints, people_of
from tracecup.records import CONTEST, Timetable
from tracecup.records.delimited import BadLines
from tracecup.records.jsonitems import read_items
from tracecup.records.zones import Zone

Path = str | PathLike[str]
E7 = 1e7
# "48.1°, 11.5°" on Android, "geo:48.1,11.5" on iPhones.
PAIR = re.compile(r"(?:geo:)?\s*(-?\d{1,3}(?:\.\d+)?)\s*°?\s*,\s*(-?\d{1,3}(?:\.\d+)?)\s*°?\s*")
MAX_VISIT = timedelta(days=31)
EXPECTED = "a position and a time"


class Point(NamedTuple):
    """A point as the file tells it: degrees, ISO time, accuracy in metres or None."""

    latitude: float
    longitude: float
    time: str
    accuracy: object = None


def read_takeout(
    paths: Path | Sequence[Path],
    *,
    box: Box,
    nx: int = 32,
    ny: int = 32,
    timetable: Timetable = CONTEST,
    fewest: int = 1,
    utc_offset: float = 0.0,
    zone: str | None = None,
    bad_lines: BadLines = "raise",
    cleaning: Cleaning = NOTHING,
) -> Dataset:
    """Read location histories of Google: every path is one person, a file or a folder of files.

    `Records.json` (`locations` with `latitudeE7`), the monthly files of the semantic location
    history (`timelineObjects`), `Timeline.json` of Android phones (`semanticSegments`,
    `rawSignals`) and `location-history.json` of iPhones (a list of segments). A visit counts at
    its begin, at its end and every `timetable.interval` minutes between; a way at its points
    that have a time, else at its ends. Items of other kinds hold no position and are passed over.
    """
    cut = Cut(box, timetable, nx, ny, fewest=fewest, thin=True, cleaning=cleaning)
    collector, clock = Collector(cut), Zone(utc_offset, zone)
    people = people_of([paths] if isinstance(paths, str | PathLike) else paths, ".json")
    step = timedelta(minutes=timetable.interval)
    for code, (_, files) in enumerate(people):
        for path in files:
            points = PersonPoints(path, collector, code, clock, bad_lines)
            for number, item in enumerate(read_items(path), start=1):
                try:
                    for point in points_of(item, step):
                        points.add(f"item {number}", *point)
                except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
                    found = f"{type(error).__name__} {str(error)[:60]}"
                    points.bad(f"item {number}", found, EXPECTED)
            points.flush()
    names = [name.encode() for name, _ in people]
    return need_records(collector.regions(names), "the location histories")


def points_of(item: dict[str, Any], step: timedelta) -> Iterator[Point]:
    """The points of one item of any shape; none where it tells no position.

    >>> item = {"latitudeE7": 473700000, "longitudeE7": 85400000, "timestampMs": "1372669200000"}
    >>> list(points_of(item, timedelta(minutes=5)))
    [Point(latitude=47.37, longitude=8.54, time='2013-07-01T09:00:00+00:00', accuracy=None)]
    """
    if "latitudeE7" in item:
        yield _e7(item, _stamp(item, "timestamp"), item.get("accuracy"))
    elif "placeVisit" in item:
        visit = item["placeVisit"]
        if "latitudeE7" in visit["location"]:
            begin, end = (
                _stamp(visit["duration"], f"{name}Timestamp") for name in ("start", "end")
            )
            yield from _stay(_e7(visit["location"], ""), begin, end, step)
    elif "activitySegment" in item:
        yield from _way(item["activitySegment"])
    elif "startTime" in item:
        yield from _segment(item, step)
    elif "position" in item:
        said = item["position"]
        where = _pair(said.get("LatLng", said.get("latLng")))
        yield Point(*where, said["timestamp"], said.get("accuracyMeters"))


def _way(way: dict[str, Any]) -> Iterator[Point]:
    """A way of the semantic history: its recorded points, else its two ends."""
    path = way.get("simplifiedRawPath", {}).get("points", [])
    for point in path:
        yield _e7(point, _stamp(point, "timestamp"), point.get("accuracyMeters"))
    if not path:
        for place, time in (("startLocation", "startTimestamp"), ("endLocation", "endTimestamp")):
            if "latitudeE7" in way.get(place, {}):
                yield _e7(way[place], _stamp(way["duration"], time))


def _segment(item: dict[str, Any], step: timedelta) -> Iterator[Point]:
    """A segment of a phone's time line: a visit, a way, or a path of points."""
    begin, end = item["startTime"], item.get("endTime", item["startTime"])
    if "visit" in item:
        place = item["visit"]["topCandidate"]["placeLocation"]
        where = _pair(place["latLng"] if isinstance(place, dict) else place)
        yield from _stay(Point(*where, ""), begin, end, step)
    elif "activity" in item:
        for name, time in (("start", begin), ("end", end)):
            place = item["activity"].get(name)
            if place is not None:
                where = _pair(place["latLng"] if isinstance(place, dict) else place)
                yield Point(*where, time)
    for point in item.get("timelinePath", []):
        time = point.get("time")
        if time is None:
            minutes = float(point["durationMinutesOffsetFromStartTime"])
            time = _written(_moment(begin) + timedelta(minutes=minutes))
        yield Point(*_pair(point["point"]), time)


def _stay(where: Point, begin: str, end: str, step: timedelta) -> Iterator[Point]:
    first, last = _moment(begin), _moment(end)
    if not timedelta(0) <= last - first <= MAX_VISIT:
        raise ValueError(f"a visit from {begin[:40]} to {end[:40]}")
    while first < last:
        yield where._replace(time=_written(first))
        first += step
    yield where._replace(time=_written(last))


def _e7(said: dict[str, Any], time: str, accuracy: object = None) -> Point:
    y = said["latitudeE7"] if "latitudeE7" in said else said["latE7"]
    x = said["longitudeE7"] if "longitudeE7" in said else said["lngE7"]
    return Point(float(y) / E7, float(x) / E7, time, accuracy)


def _stamp(said: dict[str, Any], name: str) -> str:
    """A time in ISO text, from that or from milliseconds since 1970."""
    if name in said:
        return str(said[name])
    seconds = float(said[f"{name}Ms"]) / 1e3
    if not math.isfinite(seconds):
        raise ValueError(f"{name}Ms {seconds}")
    return _written(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds))


def _pair(text: object) -> tuple[float, float]:
    found = PAIR.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise ValueError(f"position {str(text)[:40]}")
    return float(found[1]), float(found[2])


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _written(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()
