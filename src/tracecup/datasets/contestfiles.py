"""From a data set to the files of a contest: city, clock, training, testing, reference, original.

Users are split into training users and others; the recorded days of the others into reference
and original days.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from itertools import count, repeat
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tracecup.city import ContestClock, write_city, write_clock, write_places
from tracecup.datasets.dataset import Dataset
from tracecup.datasets.splitting import split_users
from tracecup.engine import threads
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.records import Records, write_records
from tracecup.safeio import atomic_write

PRIVATE_MODE = 0o600


@dataclass(frozen=True, eq=False)
class ContestParts:
    """What becomes of a data set: records of `training` and `testing` users on all recorded
    days, and `reference` and `original` days of those testing users who have records in both.

    A single recorded day has no second part: `clock` is None then, and nobody is in the two.
    """

    dataset: Dataset
    training: Records
    testing: Records
    reference: Records
    original: Records
    clock: ContestClock | None
    one_sided: int
    unused_days: int

    def write(self, folder: str | PathLike[str]) -> None:
        """Write the files; names of users go to `names.csv`, readable by its owner only."""
        out = Path(folder)
        out.mkdir(parents=True, exist_ok=True)
        named = [("traintraces", self.training), ("testtraces", self.testing)]
        files = [(out / f"{name}.csv", records, 0) for name, records in named if len(records)]
        if self.clock is not None:
            first = self.clock.original.first_time
            files.append((out / "reftraces.csv", self.reference, 0))
            files.append((out / "orgtraces.csv", self.original, first))
            named.append(("reftraces and orgtraces", self.original))
        with threads() as pool:
            written = pool.map(write_records, *zip(*files, strict=True))
            self._write_tables(out, named)  # meanwhile
            list(written)

    def _write_tables(self, out: Path, named: list[tuple[str, Records]]) -> None:
        """City, places, clock, and the names of users."""
        city = self.dataset.city
        write_city(out / "info_region.csv", city)
        if len(city.places):
            write_places(out / "places.csv", city.places, city.grid)
        if self.clock is not None:
            write_clock(out / "info_time.csv", self.clock)
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(("file", "user_id", "name"))
        for name, records in named:
            labels = records.names or tuple(map(str, records.users.tolist()))
            table.writerows(zip(repeat(name), count(1), labels, strict=False))
        with atomic_write(out / "names.csv", PRIVATE_MODE) as file:
            file.write(text.getvalue().encode())


def contest_parts(
    dataset: Dataset,
    *,
    days: int | None = None,
    reference_days: int | None = None,
    training_share: float = 0.5,
    seed: int = 1,
) -> ContestParts:
    """Split a data set whose locations are regions; of several records in one instant the first.

    Days are those on which anything was recorded, numbered through; the first `reference_days`
    (default: half) are reference days, the following, up to `days` in all, original days; a
    single recorded day is for training and testing only. A share of the users, drawn by
    `split_users`, trains, unless the data come split. O(records log records), never dense.
    """
    dataset = dataset.thinned()
    records, timetable = dataset.records, dataset.records.timetable
    if dataset.by_place:
        raise InvalidParameter("contest files need regions as locations, not places")
    if not 0 <= training_share < 1:
        raise InvalidParameter(f"the share of training users is 0 to below 1, got {training_share}")
    recorded = np.flatnonzero(np.bincount(records.day))
    used = recorded if days is None else recorded[:days]
    known = len(used) // 2 if reference_days is None else reference_days
    whole = len(recorded) == 1 and reference_days is None
    if not whole and not 1 <= known < len(used):
        raise InvalidTraces(
            f"{len(used)} recorded days cannot be split into {known} reference days and at least "
            "one original day"
        )
    training_users = int(training_share * records.n_users)
    training, testing = dataset.given_split or split_users(
        records.n_users, training_users, None, seed
    )
    if not len(testing):
        raise InvalidTraces(f"{records.n_users} users leave nobody to test with")
    everyone = records.take_days(used)
    tested = everyone.take_users(_present(everyone, testing))
    rest = tested.take_users([]) if whole else tested
    before, after = rest.take_days(np.arange(known)), rest.take_days(np.arange(known, len(used)))
    both = np.flatnonzero(_has_records(before) & _has_records(after))
    if not whole and not len(both):
        raise InvalidTraces("no user has records on reference and on original days")
    day = (timetable.instants, timetable.start, timetable.interval)
    return ContestParts(
        dataset,
        everyone.take_users(_present(everyone, training)),
        tested,
        before.take_users(both),
        after.take_users(both),
        None if whole else ContestClock.regular(len(used) - known, *day, known),
        0 if whole else len(testing) - len(both),
        len(recorded) - len(used),
    )


def _present(records: Records, users: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of the users who have records on the days that are used, in order."""
    chosen = np.sort(users)
    return chosen[_has_records(records)[chosen]]


def _has_records(records: Records) -> NDArray[np.bool_]:
    """Whether each user has a record, shape (users,)."""
    return np.bincount(records.user, minlength=records.n_users) > 0
