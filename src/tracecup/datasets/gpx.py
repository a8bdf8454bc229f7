"""GPX files: the points of tracks, with their times.

Read by a parser that expands no entities; a file with a document type is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from xml.parsers import expat

from tracecup.datasets.boundingbox import Box
from tracecup.datasets.cleaning import NOTHING, Cleaning
from tracecup.datasets.collect import Collector, Cut, need_records
from tracecup.datasets.dataset import Dataset
from tracecup.datasets.people import PersonPoints, people_of
from tracecup.errors import InvalidFile, InvalidParameter, Problem
from tracecup.records import CONTEST, Timetable
from tracecup.records.delimited import DATASET_LIMITS, BadLines
from tracecup.records.zones import Zone
from tracecup.safeio import read_blocks, show

Path = str | PathLike[str]
MAX_DEPTH = 64
MAX_TIME = 64
EXPECTED = "a GPX file without a document type"


def read_gpx(
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
    """Read GPX tracks: every path is one person, a file or a folder of files.

    The points of tracks (`trkpt`) count; way points and routes are plans, not records. A point
    without a time is a bad line. `utc_offset` in minutes, or an IANA `zone`, gives the hour of
    the day. The first point of each instant is kept.
    """
    if cleaning.max_accuracy is not None:
        raise InvalidParameter("GPX files tell no accuracy in metres: none can be asked for")
    cut = Cut(box, timetable, nx, ny, fewest=fewest, thin=True, cleaning=cleaning)
    collector, clock = Collector(cut), Zone(utc_offset, zone)
    people = people_of([paths] if isinstance(paths, str | PathLike) else paths, ".gpx")
    for code, (_, files) in enumerate(people):
        for path in files:
            points = PersonPoints(path, collector, code, clock, bad_lines)
            _Tracks(points).read(path)
            points.flush()
    names = [name.encode() for name, _ in people]
    return need_records(collector.regions(names), "the tracks")


class _Tracks:
    """The handlers of one file: remembers the point it is in and what its time says."""

    def __init__(self, points: PersonPoints) -> None:
        self.points = points
        self.within: list[str] = []
        self.where: dict[str, str] = {}
        self.at = ""
        self.time: str | None = None
        self.root = ""

    def read(self, path: Path) -> None:
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = self._refuse
        parser.EntityDeclHandler = self._refuse
        self.parser, self.path = parser, path
        try:
            for block in read_blocks(path, DATASET_LIMITS, foreign=True):
                parser.Parse(block, False)
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise InvalidFile(
                path, [Problem(error.lineno, "", show(str(error), 60), EXPECTED)]
            ) from error
        if self.root != "gpx":
            raise InvalidFile(path, [Problem(0, "", f"<{self.root[:40]}>", EXPECTED)])

    def _refuse(self, *_: object) -> None:
        line = self.parser.CurrentLineNumber
        raise InvalidFile(self.path, [Problem(line, "", "a document type or entity", EXPECTED)])

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        line, plain = self.parser.CurrentLineNumber, name.rpartition(":")[2]
        self.root = self.root or plain
        if len(self.within) >= MAX_DEPTH:
            found = f"more than {MAX_DEPTH} elements within each other"
            raise InvalidFile(self.path, [Problem(line, "", found, EXPECTED)])
        if plain == "trkpt":
            self.where, self.time, self.at = attributes, None, f"line {line}"
        elif plain == "time" and self.within[-1:] == ["trkpt"]:
            self.time = ""
        self.within.append(plain)

    def _end(self, name: str) -> None:
        self.within.pop()
        if name.rpartition(":")[2] != "trkpt":
            return
        if self.time is None:
            self.points.bad(self.at, "a point without a time", "a time in every trkpt")
        else:
            self.points.add(
                self.at, self.where.get("lat"), self.where.get("lon"), self.time.strip()
            )

    def _text(self, text: str) -> None:
        if self.time is not None and self.within[-2:] == ["trkpt", "time"]:
            self.time = (self.time + text)[:MAX_TIME]
