"""SNS-based People Flow Data: the raw daily files (a position every five minutes per person).

Licence CC BY 4.0; name Nightley, Inc. and the University of Tokyo's projects when using it.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tracecup.city import Places
from tracecup.datasets.boundingbox import TOKYO_CENTRE, Box
from tracecup.datasets.cleaning import NOTHING, Cleaning
from tracecup.datasets.collect import Codes, Collector, Cut, need_records
from tracecup.datasets.dataset import Dataset
from tracecup.errors import UnreadableFile
from tracecup.records import PEOPLE_FLOW, Timetable
from tracecup.records.delimited import BadLines, Block, TextLayout, read_text, text_of

COLUMNS = (
    "user_id",
    "gender",
    "datetime",
    "latitude",
    "longitude",
    "category",
    "subcategory",
    "state",
    "category_id",
)
LAYOUT = TextLayout(COLUMNS, quoted=True, skip=1)
JAPAN_SECONDS = 9 * 3600
HOSPITAL = "building/Hospital"


def read_peopleflow(
    paths: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    box: Box = TOKYO_CENTRE,
    nx: int = 20,
    ny: int = 20,
    timetable: Timetable = PEOPLE_FLOW,
    chain: bool = True,
    fewest: int = 1,
    places: bool = True,
    bad_lines: BadLines = "raise",
    cleaning: Cleaning = NOTHING,
) -> Dataset:
    """Read daily files `YYYY-MM-DD.csv` (or a folder of them), in the order of their dates.

    A line holds user, gender, date and time (Japan), latitude, longitude, category,
    subcategory, state (stay or move) and category number; the first line is a header.
    Records in the box at the minutes of the timetable are kept. With `chain` every user keeps
    one gap-free chain, one record in each instant (see `splitting.keep_chains`), and users
    without one are dropped: `dataset.split(500, 500)` is then the published split. With
    `places` the city gets the places named in the file and its hospital regions.

    Memory grows with the records kept, not with the files.
    """
    collector = Collector(Cut(box, timetable, nx, ny, fewest=fewest, exact=True, cleaning=cleaning))
    spots = _Spots(box, nx, ny)
    for path in _files(paths):
        for block in read_text(path, LAYOUT):
            user = block.whole("user_id")
            local = block.time("datetime", "iso")
            latitude, longitude = block.decimal("latitude"), block.decimal("longitude")
            rows = block.settle(bad_lines)
            collector.bad_lines(len(block) - len(rows))
            collector.add_points(
                user[rows], latitude[rows], longitude[rows], local[rows], JAPAN_SECONDS
            )
            if places:
                spots.add(block, rows, latitude, longitude)
    table = spots.table()
    hospital = table.in_category(HOSPITAL).regions
    dataset = collector.regions(hospitals=np.unique(hospital).tolist(), places=table, chain=chain)
    return need_records(dataset, "the people-flow files")


class _Spots:
    """Places named in the files: distinct points with a category, and how often they occur."""

    def __init__(self, box: Box, nx: int, ny: int) -> None:
        self.box, self.nx, self.ny = box, nx, ny
        self.found: dict[tuple[float, float], tuple[bytes, int]] = {}

    def add(
        self,
        block: Block,
        rows: NDArray[np.int64],
        latitude: NDArray[np.float64],
        longitude: NDArray[np.float64],
    ) -> None:
        named = block.filled("category")[rows]
        rows = rows[named & self.box.contains(latitude[rows], longitude[rows])]
        if not len(rows):
            return
        columns = ("category", "subcategory", "category_id")
        words = (block.words(name).take(rows).to_pylist() for name in columns)
        codes = Codes()
        kind = codes.of(
            pa.array([b"/".join(parts).rstrip(b"/") for parts in zip(*words, strict=True)])
        )
        key = np.stack([latitude[rows], longitude[rows], kind], axis=1)
        points, counts = np.unique(key, axis=0, return_counts=True)
        for (y, x, code), count in zip(points.tolist(), counts.tolist(), strict=True):
            # Of several categories at one point the first in the alphabet is taken.
            name, before = self.found.get((y, x), (codes.names[int(code)], 0))
            self.found[y, x] = (min(name, codes.names[int(code)]), before + count)

    def table(self) -> Places:
        """The places in the order in which points sort (south to north)."""
        points = sorted(self.found)
        latitude = np.array([y for y, _ in points], dtype=np.float64)
        longitude = np.array([x for _, x in points], dtype=np.float64)
        return Places(
            latitude,
            longitude,
            self.box.cells(latitude, longitude, self.nx, self.ny),
            tuple(text_of(self.found[point][0]) for point in points),
            np.array([self.found[point][1] for point in points], dtype=np.int64),
        )


def _files(
    paths: str | PathLike[str] | Sequence[str | PathLike[str]],
) -> Sequence[str | PathLike[str]]:
    if not isinstance(paths, (str, PathLike)):
        return paths
    folder = Path(paths)
    if not folder.is_dir():
        return [folder]
    found = sorted(folder.glob("[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9].csv*"))
    if not found:
        raise UnreadableFile(folder, "holds no file named YYYY-MM-DD.csv")
    return found
