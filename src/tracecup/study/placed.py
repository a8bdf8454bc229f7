"""Records of a raw table on their calendar days: parts, names, and what was left out of an audit.

Between the readers of tables and the dense traces that attacks work on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City
from tracecup.datasets import Dataset, Dropped, Records, Timetable
from tracecup.errors import InvalidFile, InvalidParameter, InvalidTraces, Problem
from tracecup.records.delimited import TextLayout, read_text, text_of
from tracecup.safeio import show
from tracecup.score import REACH_KM
from tracecup.study.audit import Coverage

ID_COLUMNS = ("pseudonym", "user")
EPOCH = date(1970, 1, 1)
WARNING = "Warning: "


@dataclass(frozen=True, eq=False)
class PlacedRecords:
    """Records with calendar days: `day[k]` counts days since 1970 by the local clock."""

    records: Records
    dropped: Dropped
    day: NDArray[np.int64]
    days: NDArray[np.int64]
    labels: tuple[str, ...]
    index: dict[str, int]

    @classmethod
    def of(cls, read: Dataset) -> PlacedRecords:
        """What a reader found, its users by the names they have in the table."""
        records = read.records
        day = records.day.astype(np.int64) + read.first_day
        labels = records.names or tuple(str(user) for user in records.users)
        index = {label: k for k, label in enumerate(labels)}
        return cls(records, read.dropped, day, np.unique(day), labels, index)

    def part(self, path: str, split: int, *, before: bool) -> PlacedRecords:
        """The records before a day, or those from it on; users are those who have any."""
        rows = np.flatnonzero((self.day < split) == before)
        if not len(rows):
            side = "before" if before else "from"
            raise InvalidTraces(
                f"{path}: no record {side} {day_text(split)}; its days are "
                f"{day_text(int(self.days[0]))} to {day_text(int(self.days[-1]))}: choose a split "
                "after the first and not after the last of them"
            )
        present = np.unique(self.records.user[rows])
        day = self.day[rows]
        labels = tuple(self.labels[k] for k in present)
        return PlacedRecords(
            self.records.take(rows).take_users(present),
            self.dropped,
            day,
            np.unique(day),
            labels,
            {label: k for k, label in enumerate(labels)},
        )

    def renamed(self, names: Mapping[str, str]) -> PlacedRecords:
        """The same with the users behind the pseudonyms."""
        unknown = [label for label in self.labels if label not in names]
        if unknown:
            raise InvalidTraces(
                f"the ID table has no row for {len(unknown)} of {len(self.labels)} pseudonyms of "
                f"the release, the first is {show(unknown[0], 40)}"
            )
        labels = tuple(names[label] for label in self.labels)
        index = {label: k for k, label in enumerate(labels)}
        return replace(self, labels=labels, index=index)

    def dense(
        self,
        labels: Sequence[str],
        days: NDArray[np.int64],
        timetable: Timetable,
        most: int,
    ) -> NDArray[np.int32]:
        """Regions of shape (users, events) for the given users and days, -1 unobserved."""
        events = len(days) * timetable.instants
        if len(labels) * events > most:
            raise InvalidTraces(
                f"{len(labels)} users x {events} events are too many to audit at once (at most "
                f"{most} cells): take fewer days, a longer interval or fewer users"
            )
        row = np.full(len(self.labels), -1, dtype=np.int64)
        for k, label in enumerate(labels):
            if label in self.index:
                row[self.index[label]] = k
        user = row[self.records.user]
        column = np.searchsorted(days, self.day) * timetable.instants + self.records.instant
        regions = np.full((len(labels), events), -1, dtype=np.int32)
        kept = user >= 0
        regions[user[kept], column[kept]] = self.records.location[kept]
        return regions

    def rows_of(self, labels: Sequence[str]) -> int:
        """Number of records of some users."""
        chosen = [self.index[label] for label in labels if label in self.index]
        return int(np.isin(self.records.user, chosen).sum())

    def rows_also_in(self, other: PlacedRecords) -> int:
        """Number of records of the same user at the same second in the same region there."""
        shared = {label: k for k, label in enumerate(self.labels) if label in other.index}
        sides = []
        for one in (self, other):
            number = np.array([shared.get(label, -1) for label in one.labels], dtype=np.float64)
            columns = (number[one.records.user], one.records.unix, one.records.location)
            rows = np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)
            rows = np.ascontiguousarray(rows[rows[:, 0] >= 0])
            sides.append(rows.view([("", np.float64)] * 3).ravel())
        return int(np.isin(sides[0], sides[1]).sum())


def day_of(text: str) -> int:
    """The day since 1970 that a date means.

    >>> day_of("1970-02-01")
    31
    """
    try:
        return (date.fromisoformat(text) - EPOCH).days
    except ValueError as error:
        raise InvalidParameter(f"a split is a date like 2024-03-15, got {text[:40]!r}") from error


def day_text(day: int) -> str:
    """The date of a day since 1970."""
    return (EPOCH + timedelta(days=day)).isoformat()


def read_names(path: str | PathLike[str]) -> dict[str, str]:
    """A table of who is behind the pseudonyms of a release: columns `pseudonym` and `user`.

    Every pseudonym and every user once.
    """
    found: dict[str, str] = {}
    users: set[str] = set()
    for block in read_text(path, TextLayout(ID_COLUMNS, quoted=True, header=True)):
        for column in ID_COLUMNS:
            block.expect(block.filled(column), column, "a name")
        block.settle()
        pairs = zip(*(block.words(name).to_pylist() for name in ID_COLUMNS), strict=True)
        for k, (pseudonym, user) in enumerate(pairs):
            key, name = text_of(pseudonym), text_of(user)
            for column, value, known in (("pseudonym", key, found), ("user", name, users)):
                if value in known:
                    problem = Problem(
                        block.first_line + k, column, show(value, 40), "every name once"
                    )
                    raise InvalidFile(path, [problem])
            found[key] = name
            users.add(name)
    if not found:
        raise InvalidFile(path, [Problem(0, "", "no rows", "one row for every pseudonym")])
    return found


def coverage_of(
    table: PlacedRecords, parts: Sequence[PlacedRecords], labels: Sequence[str]
) -> Coverage:
    """How much of a table the audit of some users looks at, in the given parts of it."""
    return Coverage(
        records=len(table.records) + sum(vars(table.dropped).values()),
        audited=sum(part.rows_of(labels) for part in parts),
        merged=table.dropped.same_instant,
        users=len(table.labels),
    )


def notes_of(
    city: City, tables: Sequence[PlacedRecords], labels: Sequence[str], has_original: bool
) -> list[str]:
    """What was assumed or left out; warnings first."""
    known, shown, truth = tables[0], tables[1], tables[-1]
    audited, grid = set(labels), city.grid
    said = _warnings(known, shown)
    said.append(
        f"{grid.nx} x {grid.ny} regions of {1000 * grid.km_x:.0f} m x {1000 * grid.km_y:.0f} m."
    )
    if max(grid.km_x, grid.km_y) > REACH_KM:
        said.append(
            "Regions are wider than 2 km, so every wrong region counts as a full miss: take a "
            "finer grid or a smaller box."
        )
    for name, one in zip(("reference", "released", "original"), tables, strict=False):
        if one.dropped.outside or one.dropped.off_hours:
            said.append(
                f"Left out of the {name} table: {one.dropped.outside} records outside the box and "
                f"{one.dropped.off_hours} outside the hours."
            )
    if not city.hospitals:
        said.append("No region is marked as a hospital: all events weigh the same.")
    if not has_original:
        said.append("No original table was given: the released records are taken as the truth.")
    alone = len(set(truth.labels) - audited)
    if alone:
        said.append(f"Left out: {alone} users without reference records; nothing is known of them.")
    unused = len(set(known.labels) - audited)
    if unused:
        said.append(f"Left out: {unused} users with reference records only.")
    gone = len(audited - set(shown.labels))
    if gone:
        said.append(f"{gone} audited users do not occur in the release: all cells deleted.")
    strange = len(set(shown.labels) - set(truth.labels))
    if strange:
        said.append(f"Left out: {strange} released users without original records.")
    return said


def _warnings(known: PlacedRecords, shown: PlacedRecords) -> list[str]:
    said = []
    same = shown.rows_also_in(known)
    if same:
        said.append(
            f"{WARNING}{same} of {len(shown.records)} released records stand in the reference too: "
            "an attacker who has them needs no attack. Part the days with a split."
        )
    common = len(np.intersect1d(known.days, shown.days))
    if common:
        said.append(
            f"{WARNING}{common} days are in the reference and in the release: an attacker who "
            "knows the very days that are released is stronger than one who knows earlier days."
        )
    return said
