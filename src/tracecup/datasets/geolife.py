"""GeoLife GPS trajectories: folders `Data/<user>/Trajectory/*.plt`.

Six header lines, then latitude, longitude, 0, altitude, days since 1899, date, time (GMT).
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np

from tracecup.datasets.boundingbox import BEIJING, Box
from tracecup.datasets.cleaning import NOTHING, Cleaning
from tracecup.datasets.collect import Collector, Cut, need_records
from tracecup.datasets.dataset import Dataset
from tracecup.errors import UnreadableFile
from tracecup.records import CONTEST, Timetable
from tracecup.records.delimited import BadLines, TextLayout, read_text
from tracecup.records.zones import Zone

COLUMNS = ("latitude", "longitude", "zero", "altitude", "days", "date", "time")
LAYOUT = TextLayout(COLUMNS, skip=6)
SECONDS_A_DAY = 86_400.0
# Field 5 counts days from 30 December 1899.
DAYS_TO_1970 = 25_569
MAX_DAYS = 1_000_000


def read_geolife(
    folder: str | PathLike[str],
    *,
    box: Box = BEIJING,
    nx: int = 32,
    ny: int = 32,
    timetable: Timetable = CONTEST,
    fewest: int = 1,
    utc_offset: float = 8 * 60.0,
    zone: str | None = None,
    bad_lines: BadLines = "raise",
    cleaning: Cleaning = NOTHING,
) -> Dataset:
    """Read the trajectories of all users below `folder` (the one that holds 000, 001, ...).

    Points come every few seconds: the first one of each instant is kept. Times in the files
    are GMT; `utc_offset` in minutes (Beijing by default) or an IANA `zone` gives the hour of the
    day. Days are real ones, so traces have many gaps. Altitude and date are not looked at.
    """
    collector = Collector(Cut(box, timetable, nx, ny, fewest=fewest, thin=True, cleaning=cleaning))
    clock = Zone(0.0, zone) if zone else Zone(utc_offset)
    names: list[bytes] = []
    for user, files in _users(Path(folder)):
        code = len(names)
        names.append(user.encode())
        for path in files:
            for block in read_text(path, LAYOUT):
                latitude, longitude = block.decimal("latitude"), block.decimal("longitude")
                days = block.decimal("days")
                block.expect(np.abs(days) <= MAX_DAYS, "days", "days since 30 December 1899")
                rows = block.settle(bad_lines)
                collector.bad_lines(len(block) - len(rows))
                # Whole seconds: the count of days is rounded to some tenths of a millisecond.
                unix = np.round((days[rows] - DAYS_TO_1970) * SECONDS_A_DAY)
                who = np.full(len(rows), code, dtype=np.int64)
                shift = clock.shift(unix)
                collector.add_points(who, latitude[rows], longitude[rows], unix + shift, shift)
    return need_records(collector.regions(names), "the trajectories")


def _users(folder: Path) -> list[tuple[str, list[Path]]]:
    """(user, trajectory files in order of time), users in order of their names."""
    if not folder.is_dir():
        raise UnreadableFile(folder, "no such folder")
    found = [
        (user.name, sorted((user / "Trajectory").glob("*.plt")))
        for user in sorted(folder.iterdir())
        if (user / "Trajectory").is_dir()
    ]
    if not found:
        raise UnreadableFile(folder, "holds no folder USER/Trajectory with .plt files")
    return found
