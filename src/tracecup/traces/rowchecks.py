"""Whether rows stand where the order of a file puts them; the first that do not are told.

Lines of messages count from 1, the header included.
"""

from __future__ import annotations

from os import PathLike

import numpy as np
from numpy.typing import NDArray

from tracecup.city.clock import Clock
from tracecup.errors import InvalidFile, Problem, fail
from tracecup.traces.columns import Layout

Path = str | PathLike[str]
OTHER_PART = " (the other part's times: are reference and original traces swapped?)"
GAPS_HINT = "; where rows may be missing, say --gaps (in Python gaps=True)"


def run_length(ids: NDArray[np.int32]) -> int:
    """Length of the first run of equal ids."""
    if not len(ids):
        return 0
    return int(np.argmax(ids != ids[0])) or len(ids)


def grid_of(
    path: Path,
    layout: Layout,
    who: NDArray[np.int32],
    time: NDArray[np.int32],
    first_id: int,
    first_time: int,
    clock: Clock | None,
    users: int | None,
) -> tuple[int, int]:
    """(users, times) of rows that must be sorted by (id, time) without a gap."""
    if not len(who):
        fail(path, 0, "", "no rows", "one row for every user and time")
    times = clock.times if clock else run_length(who)
    m, rest = divmod(len(who), times)
    if rest or (users is not None and m != users):
        wanted = f"{users} users x {times}" if users else f"a multiple of {times}, a user's"
        hint = GAPS_HINT if layout.lead[0] == "user_id" else ""
        fail(path, 0, "", f"{len(who)} rows", f"{wanted} rows{hint}")
    check_column(path, layout.lead[0], who, np.repeat(np.arange(first_id, first_id + m), times))
    order = np.tile(np.arange(first_time, first_time + times), m)
    if time[0] != first_time and (time - order == time[0] - first_time).all():
        fail(path, 2, layout.lead[1], f"{time[0]}", f"{first_time}{OTHER_PART}")
    check_column(path, layout.lead[1], time, order)
    return m, times


def check_column(
    path: Path, name: str, found: NDArray[np.int32], wanted: NDArray[np.int64]
) -> None:
    """Every value where the sorted order puts it."""
    wrong = np.flatnonzero(found != wanted)
    if wrong.size:
        problems = [
            Problem(int(k) + 2, name, str(int(found[k])), f"{int(wanted[k])} (rows are sorted)")
            for k in wrong[:10]
        ]
        raise InvalidFile(path, problems, wrong.size)


def check_range(path: Path, name: str, found: NDArray[np.int32], most: int) -> None:
    """No value above `most`."""
    wrong = np.flatnonzero(found > most)
    if wrong.size:
        problems = [
            Problem(int(k) + 2, name, str(int(found[k])), f"1 to {most}") for k in wrong[:10]
        ]
        raise InvalidFile(path, problems, wrong.size)
