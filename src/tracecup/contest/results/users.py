"""The table of single users: how it is made, and how the rows of one release are read again.

It is long, so the server keeps it as a file only and reads of it what a page shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tracecup.contest.judging.release_scores import ReleaseScores
from tracecup.contest.results.tables import ResultTable, Value, csv_rows
from tracecup.contest.standing.scoreboard import Scoreboard

USERS = "users"
USERS_FILE = f"{USERS}.csv"
USER_COLUMNS = ("pubtraces", "user", "s_T", "found_by", "attacks")


@dataclass(frozen=True)
class UserRow:
    """A user of a release (from 1): her own s_T, and how many of the re-identifications found her.

    `s_t` is of the strongest trace inference; None if there was none.
    """

    user: int
    s_t: float | None
    found_by: int
    attacks: int


def user_table(targets: Sequence[ReleaseScores], board: Scoreboard) -> ResultTable:
    """Each user's own s_T under the strongest attack, and how many attackers found her."""
    columns: dict[str, list[Value]] = {name: [] for name in USER_COLUMNS}
    for target in targets:
        name, m = target.entry.release, len(target.weights)
        strongest = board.trace.strongest(name)
        found = [score.per_user == 0 for score in target.of("reid").values()]
        columns["pubtraces"] += [name] * m
        columns["user"] += list(range(1, m + 1))
        columns["s_T"] += (
            target.of("trace")[strongest[0]].per_user.tolist() if strongest else [None] * m
        )
        columns["found_by"] += np.sum(found, axis=0, dtype=int).tolist() if found else [0] * m
        columns["attacks"] += [len(found)] * m
    return ResultTable(columns)


def read_users(path: Path, release: str) -> list[UserRow]:
    """The users of one release, from the table as CSV; nothing else of it is kept."""
    return [
        UserRow(
            user=int(row["user"]),
            s_t=None if row["s_T"] == "" else float(row["s_T"]),
            found_by=int(row["found_by"]),
            attacks=int(row["attacks"]),
        )
        for row in csv_rows(path, release)
    ]
