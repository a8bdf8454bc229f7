"""Files of one person each (GPX tracks, location histories): who they are, and their points.

Every path that is given is a person: a file, or a folder with files of that person.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import numpy as np

from tracecup.datasets.collect import Collector
from tracecup.errors import MAX_LISTED, InvalidFile, InvalidParameter, Problem, UnreadableFile
from tracecup.records.delimited import MAX_SECONDS, BadLines
from tracecup.records.scanners import GOOD, scan_iso_time
from tracecup.records.zones import Zone
from tracecup.safeio import show

BATCH = 1 << 16
DEGREES = "degrees within -90..90 and -180..180"


@dataclass
class PersonPoints:
    """Takes the points of one person and hands them on in batches.

    A point is given as it stands in the file; what cannot be read is a bad line.
    """

    path: str | PathLike[str]
    collector: Collector
    code: int
    clock: Zone
    bad_lines: BadLines
    _rows: list[tuple[str, float, float, str, float]] = field(default_factory=list)

    def add(
        self, where: str, latitude: object, longitude: object, time: str, accuracy: object = None
    ) -> None:
        """A point at `where` in the file; `time` is ISO text."""
        values = [_number(one) for one in (latitude, longitude, accuracy)]
        self._rows.append((where, values[0], values[1], time, values[2]))
        if len(self._rows) >= BATCH:
            self.flush()

    def bad(self, where: str, found: str, expected: str) -> None:
        """Something that is no point: an error, or counted."""
        if self.bad_lines == "raise":
            raise InvalidFile(self.path, [Problem(0, where, found, expected)])
        self.collector.bad_lines(1)

    def flush(self) -> None:
        """Hand on what has come so far."""
        if not self._rows:
            return
        where, y, x, times, near = zip(*self._rows, strict=True)
        self._rows = []
        latitude, longitude = np.array(y), np.array(x)
        words = [time.encode() for time in times]
        lengths = np.array([len(word) for word in words], dtype=np.int32)
        ends = np.cumsum(lengths, dtype=np.int32)
        joined = np.frombuffer(b"".join(words), dtype=np.uint8)
        unix, marks = scan_iso_time(joined, (ends - lengths).astype(np.int32), ends)
        placed = (np.abs(latitude) <= 90) & (np.abs(longitude) <= 180)
        timed = (marks == GOOD) & (np.abs(unix) <= MAX_SECONDS)
        good = placed & timed
        bad = np.flatnonzero(~good)
        if len(bad) and self.bad_lines == "raise":
            problems = [
                Problem(0, where[k], f"position {y[k]:g}, {x[k]:g}", DEGREES)
                if not placed[k]
                else Problem(0, where[k], f"time {show(times[k])}", "a time like 2024-05-01T09:00Z")
                for k in bad[:MAX_LISTED].tolist()
            ]
            raise InvalidFile(self.path, problems, len(bad))
        self.collector.bad_lines(len(bad))
        rows = np.flatnonzero(good)
        shift = self.clock.shift(unix[rows])
        self.collector.add_points(
            np.full(len(rows), self.code, dtype=np.int64),
            latitude[rows],
            longitude[rows],
            unix[rows] + shift,
            shift,
            np.array(near)[rows],
        )


def people_of(
    paths: Iterable[str | PathLike[str]], suffix: str
) -> list[tuple[str, Sequence[Path]]]:
    """(name, files) of every path; a person is named by the file or folder, without endings.

    Two people of one name are told apart by the whole path.
    """
    given = [Path(path) for path in paths]
    stems = [path.name.partition(".")[0] or path.name for path in given]
    often = Counter(stems)
    found: list[tuple[str, Sequence[Path]]] = []
    for path, stem in zip(given, stems, strict=True):
        files = sorted(path.rglob(f"*{suffix}*")) if path.is_dir() else [path]
        files = [file for file in files if not file.is_dir()]
        if not files:
            raise UnreadableFile(path, f"holds no {suffix} file")
        found.append((stem if often[stem] == 1 else str(path), files))
    if len({name for name, _ in found}) < len(found):
        raise InvalidParameter("every path is one person, but one path is given twice")
    return found


def _number(value: object) -> float:
    try:
        return float(value) if isinstance(value, int | float | str) else float("nan")
    except (ValueError, OverflowError):
        return float("nan")
