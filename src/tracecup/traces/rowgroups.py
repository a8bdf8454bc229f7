"""Large Parquet files of traces, checked batch by batch: who, when and which cell.

Nothing is kept here; visits or whole traces are made of what passes by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tracecup.city import Clock
from tracecup.errors import InvalidFile, Problem
from tracecup.parquetfiles import Batches, decoded
from tracecup.safeio import LARGE_LIMITS
from tracecup.traces.files import LAYOUTS
from tracecup.traces.parquet import cell_ids, whole_numbers

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")
Path = str | PathLike[str]
LargeKind = Literal["reference", "original", "released", "obfuscated"]


class Rows(NamedTuple):
    """Rows of a file: user (0-based), event (0-based), regions in the cell, and these (0-based)."""

    user: NDArray[np.int64]
    event: NDArray[np.int64]
    sizes: NDArray[np.int32]
    regions: NDArray[np.int32]


@dataclass
class RowGroups:
    """The rows of a file of `users` users, sorted and complete as its kind demands."""

    path: Path
    kind: LargeKind
    n_regions: int
    clock: Clock
    users: int
    most: int
    """Regions that a cell may hold."""

    def of(self, file: Batches) -> Iterator[Rows]:
        """The rows, batch by batch."""
        row, last = 0, -1
        for batch in file:
            found = self._rows(batch, row)
            place = found.user * self.clock.times + found.event
            unsorted = np.diff(place, prepend=last) <= 0
            names = [*LAYOUTS[self.kind].lead, LAYOUTS[self.kind].last]
            first = found.user + self._first
            self._refuse(row, names[0], first, unsorted, "rows sorted by user and time, each once")
            few = "one region" if self.most == 1 else f"{self.most} regions"
            sizes = found.sizes
            self._refuse(row, names[-1], sizes, sizes > self.most, f"at most {few} in a cell")
            row, last = row + len(place), int(place[-1]) if len(place) else last
            yield found

    @property
    def _first(self) -> int:
        """The id of the first user."""
        return self.users + 1 if self.kind == "released" else 1

    def _rows(self, batch: pa.RecordBatch, row: int) -> Rows:
        layout, times = LAYOUTS[self.kind], self.clock.times
        sizes, ids = cell_ids(
            self.path, layout, batch.column(len(layout.lead)), row, self.n_regions
        )
        if not layout.lead:
            user, event = np.divmod(np.arange(row, row + len(sizes)), times)
            return Rows(user, event, sizes, ids - 1)
        who, when = layout.lead
        user = whole_numbers(self.path, who, batch.column(0), row, 2**31 - 1).astype(np.int64)
        time = whole_numbers(self.path, when, batch.column(1), row, 2**31 - 1).astype(np.int64)
        first, begin = self._first, self.clock.first_time + 1
        outside = (user < first) | (user >= first + self.users)
        self._refuse(row, who, user, outside, f"{first} to {first + self.users - 1}")
        outside = (time < begin) | (time >= begin + times)
        self._refuse(row, when, time, outside, f"{begin} to {begin + times - 1}")
        return Rows(user - first, time - begin, sizes, ids - 1)

    def _refuse(
        self,
        row: int,
        name: str,
        values: NDArray[np.integer],
        bad: NDArray[np.bool_],
        expected: str,
    ) -> None:
        if bad.any():
            k = int(np.argmax(bad))
            raise InvalidFile(self.path, [Problem(row + k + 1, name, str(values[k]), expected)])


def read_rows(
    path: Path,
    kind: LargeKind,
    n_regions: int,
    clock: Clock,
    use: Callable[[int, Iterator[Rows]], T],
    *,
    users: int | None = None,
    most: int = 1,
) -> T:
    """What `use` makes of the number of users and the rows of a Parquet file, in bounded memory.

    Rows of reference and original traces may be missing (not observed), therefore these need
    `users`; a release is complete. A cell holds `most` regions at most. Checks what the whole
    readers check: columns, ids, order, completeness. `use` may be called twice.
    """

    def read(file: Batches) -> T:
        m = users or 0
        if kind in ("released", "obfuscated"):
            m, left = divmod(file.rows, clock.times)
            if left or m == 0 or (users is not None and m != users):
                expected = f"{users or 'some'} pseudonyms x {clock.times} times"
                raise InvalidFile(path, [Problem(0, "", f"{file.rows} rows", expected)])
        names, header = tuple(file.schema.names), LAYOUTS[kind].header
        if names != header:
            found = f"the columns {','.join(names)[:200]}"
            raise InvalidFile(path, [Problem(0, "", found, f"the columns {','.join(header)}")])
        return use(m, RowGroups(path, kind, n_regions, clock, m, most).of(file))

    return decoded(path, LARGE_LIMITS, read)


def parquet_rows(path: Path) -> int:
    """The rows that a Parquet file claims to have."""
    return decoded(path, LARGE_LIMITS, lambda file: file.rows, whole=False)
