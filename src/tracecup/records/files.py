"""Files of records: one reader for what is trained on and what is evaluated.

Two layouts, told apart by their header: the contest's traces, in which rows may be missing, and
the columns of the published synthesizer evaluation.
"""

from __future__ import annotations

from os import PathLike

import numpy as np
from numpy.typing import NDArray

from tracecup.errors import InvalidFile, Problem
from tracecup.records.delimited import Block, TextLayout, header_of, read_text
from tracecup.records.records import Records
from tracecup.records.timetable import PEOPLE_FLOW, SECONDS_A_DAY, Timetable
from tracecup.safeio import DEFAULT_LIMITS, PARQUET_MAGIC, Limits, magic_of
from tracecup.traces.columns import Columns
from tracecup.traces.files import LAYOUTS, cell_columns, write_columns

Path = str | PathLike[str]
MAX_WHOLE = 2**31 - 1
# More than the days of the years 1 to 9999.
MAX_DAYS = 10**7
PUBLISHED = TextLayout(
    ("user_index", "poi_index", "unixtime", "hour", "min"), quoted=True, header=True
)


def read_records(
    path: Path,
    n_locations: int,
    timetable: Timetable = PEOPLE_FLOW,
    limits: Limits = DEFAULT_LIMITS,
    *,
    dates: bool | None = None,
) -> Records:
    """Records from a file, plain, gzip, zstd or (contest's layout only) Parquet.

    `user_id,time_id,reg_id`, all from 1: the contest's traces with rows in any order, of which
    any may be missing. Time ids count the instants of the timetable through the days. Users are
    0..m-1 with m the largest id.

    `user_index,poi_index,unixtime,hour,min` (further columns are ignored), from 0: the files of
    the published evaluation. The instant is that of hour and minute, the day their midnight by
    the clock of the file. Without `dates` all records of a user are one day, as in the people
    flow, whose chains run over several dates; by default dates count unless every user has one
    record in every instant. Users are those that occur.
    """
    if magic_of(path) == PARQUET_MAGIC or header_of(path) == LAYOUTS["reference"].header:
        return _contest_records(path, n_locations, timetable, limits)
    return _published_records(path, n_locations, timetable, limits, dates)


def write_records(path: Path, records: Records, first_time: int = 0) -> None:
    """Write records as `user_id,time_id,reg_id`: users 1, 2, ..., the first record of each instant.

    Time ids count instants through the days, from `first_time` + 1. O(records), never dense.
    """
    rows = records.first_of_instants()
    time = records.day[rows].astype(np.int64) * records.instants_per_day + records.instant[rows]
    lead = (records.user[rows] + 1, (time + first_time + 1).astype(np.int32))
    write_columns(path, "reference", Columns.single(lead, records.location[rows]))


def _contest_records(path: Path, n_locations: int, timetable: Timetable, limits: Limits) -> Records:
    columns = cell_columns(path, "reference", n_regions=n_locations, limits=limits)
    user, time = (part.astype(np.int64) - 1 for part in columns.lead)
    if not len(user):
        raise InvalidFile(path, [Problem(0, "", "no rows", "at least one row")])
    n_users = int(user.max()) + 1
    if n_users > limits.max_rows:
        row = int(user.argmax())
        expected = f"user ids 1 to {limits.max_rows}"
        raise InvalidFile(path, [Problem(row + 2, "user_id", str(n_users), expected)])
    order = np.lexsort((np.arange(len(user)), time, user))
    again = (np.diff(user[order]) == 0) & (np.diff(time[order]) == 0)
    if again.any():
        row = int(order[1:][again].min())
        found = f"user {user[row] + 1}, time {time[row] + 1} again"
        raise InvalidFile(path, [Problem(row + 2, "", found, "each of them once")])
    day, instant = np.divmod(time, timetable.instants)
    return Records.of(
        user,
        columns.ids,
        instant,
        day=day,
        n_locations=n_locations,
        timetable=timetable,
        users=np.arange(n_users),
    )


def _published_records(
    path: Path, n_locations: int, timetable: Timetable, limits: Limits, dates: bool | None
) -> Records:
    parts = []
    for block in read_text(path, PUBLISHED, limits):
        user = block.whole("user_index", MAX_WHOLE)
        where = block.whole("poi_index", n_locations - 1)
        unix, day, instant = published_times(block, timetable)
        block.settle()
        parts.append((user, where, unix, day, instant))
    if not parts:
        raise InvalidFile(path, [Problem(0, "", "no rows", "a header and at least one row")])
    user, where, unix, day, instant = (np.concatenate(part) for part in zip(*parts, strict=True))
    if dates is None:
        dates = not one_chain(user, instant, timetable)
    return Records.of(
        user,
        where,
        instant,
        day=day - day.min() if dates else None,
        unix=unix,
        n_locations=n_locations,
        timetable=timetable,
    )


def one_chain(user: NDArray[np.int64], instant: NDArray[np.int32], timetable: Timetable) -> bool:
    """Whether every user that occurs has exactly one record in every instant of the day."""
    who = np.unique(user, return_inverse=True)[1]
    cells = (int(who.max()) + 1) * timetable.instants
    if len(user) != cells:
        return False
    return bool((np.bincount(who * timetable.instants + instant, minlength=cells) == 1).all())


def published_times(
    block: Block, timetable: Timetable
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int32]]:
    """(seconds since 1970, day, instant) from the columns `unixtime`, `hour` and `min`."""
    unix = block.time("unixtime", "unix")
    hour, minute = block.whole("hour", 23), block.whole("min", 59)
    instant = timetable.instant_of(np.clip(60 * hour + minute, -1, 24 * 60))
    block.expect(instant >= 0, "hour", f"a time {timetable}")
    # Midnight by the clock of the file, to the nearest day: the file's zone is not known.
    midnight = (unix - 3600.0 * hour - 60.0 * minute) / SECONDS_A_DAY
    day = np.floor(np.clip(midnight, -MAX_DAYS, MAX_DAYS) + 0.5).astype(np.int64)
    return unix, day, instant
