"""Visits per user straight from large Parquet files, row group by row group.

For releases of which not even the traces fit into memory; only who was where how often is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from tracecup.city import Clock
from tracecup.errors import InvalidFile, Problem
from tracecup.parquetfiles import Batches, decoded
from tracecup.safeio import MIB, Limits
from tracecup.traces.columns import Layout
from tracecup.traces.files import LAYOUTS
from tracecup.traces.parquet import cell_ids, whole_numbers

if TYPE_CHECKING:
    import pyarrow as pa

Path = str | PathLike[str]
LARGE_LIMITS = Limits(
    max_bytes=1_048_576 * MIB, max_rows=1_000_000_000_000, max_ids=1_000_000_000_000
)
"""Files that the owner of this machine attacks herself: as large as they are."""


@dataclass(frozen=True, eq=False)
class VisitCounts:
    """User k was `counts[i]` times in `regions[i]`, offsets[k] <= i < offsets[k + 1]."""

    offsets: NDArray[np.int64]
    regions: NDArray[np.int32]
    counts: NDArray[np.int32]

    @property
    def n_users(self) -> int:
        """Number of users or pseudonyms, m."""
        return len(self.offsets) - 1


def read_visit_counts(
    path: Path,
    kind: Literal["reference", "released"],
    n_regions: int,
    clock: Clock,
    users: int | None = None,
    slots: Sequence[int] | None = None,
) -> VisitCounts:
    """Visits of a Parquet file of reference traces or of a release, in bounded memory.

    Reference rows may be missing (not observed), a released cell may be deleted but holds one
    region at most. With `slots` only those slots of a day count. Checks what the whole readers
    check: columns, ids, order, completeness. O(rows) time, O(distinct visits) memory.
    """
    wanted = np.ones(clock.times, dtype=np.bool_)
    if slots is not None:
        wanted = np.isin(clock.slot_of, list(slots))

    def read(file: Batches) -> VisitCounts:
        m = users or 0
        if kind == "released":
            m, left = divmod(file.rows, clock.times)
            if left or m == 0 or (users is not None and m != users):
                expected = f"{users or 'some'} pseudonyms x {clock.times} times"
                raise InvalidFile(path, [Problem(0, "", f"{file.rows} rows", expected)])
        first = m + 1 if kind == "released" else 1
        counter = _Counter(path, LAYOUTS[kind], first, m, n_regions, clock, wanted)
        names = tuple(file.schema.names)
        if names != counter.layout.header:
            expected = f"the columns {','.join(counter.layout.header)}"
            found = f"the columns {','.join(names)[:200]}"
            raise InvalidFile(path, [Problem(0, "", found, expected)])
        for batch in file:
            counter.add(batch)
        return counter.finished()

    return decoded(path, LARGE_LIMITS, read)


def parquet_rows(path: Path) -> int:
    """The rows that a Parquet file claims to have."""
    return decoded(path, LARGE_LIMITS, lambda file: file.rows, whole=False)


@dataclass
class _Counter:
    """Counts the visits of users that come one after the other."""

    path: Path
    layout: Layout
    first: int
    m: int
    n_regions: int
    clock: Clock
    wanted: NDArray[np.bool_]
    row: int = 0
    last: int = -1
    carried: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    keys: list[NDArray[np.int64]] = field(default_factory=list)
    counts: list[NDArray[np.int32]] = field(default_factory=list)

    def add(self, batch: pa.RecordBatch) -> None:
        """Rows as they stand in the file; a user may go on in the next batch."""
        columns, row = [batch.column(c) for c in range(3)], self.row
        who, when = self.layout.lead
        user = whole_numbers(self.path, who, columns[0], row, 2**31 - 1).astype(np.int64)
        time = whole_numbers(self.path, when, columns[1], row, 2**31 - 1).astype(np.int64)
        sizes, ids = cell_ids(self.path, self.layout, columns[2], row, self.n_regions)
        self.row += len(user)
        index, at = user - self.first, time - 1 - self.clock.first_time
        self._refuse(row, who, user, (index < 0) | (index >= self.m), self._range(self.first))
        self._refuse(
            row, when, time, (at < 0) | (at >= self.clock.times),
            f"{self.clock.first_time + 1} to {self.clock.first_time + self.clock.times}",
        )  # fmt: skip
        place = index * self.clock.times + at
        unsorted = np.diff(place, prepend=self.last) <= 0
        self._refuse(row, who, user, unsorted, "rows sorted by user and time, each once")
        self._refuse(row, self.layout.last, sizes, sizes > 1, "at most one region in a cell")
        self.last = int(place[-1]) if len(place) else self.last
        seen = sizes == 1
        key = index[seen] * self.n_regions + (ids - 1)
        key = np.concatenate([self.carried, key[self.wanted[at[seen]]]])
        whole = np.searchsorted(key // self.n_regions, self.last // self.clock.times)
        self._count(key[:whole])
        self.carried = key[whole:]

    def finished(self) -> VisitCounts:
        """All visits."""
        self._count(self.carried)
        keys = np.concatenate(self.keys) if self.keys else np.empty(0, dtype=np.int64)
        lengths = np.bincount(keys // self.n_regions, minlength=self.m)
        return VisitCounts(
            np.concatenate([[0], np.cumsum(lengths)]),
            (keys % self.n_regions).astype(np.int32),
            np.concatenate(self.counts) if self.counts else np.empty(0, dtype=np.int32),
        )

    def _count(self, key: NDArray[np.int64]) -> None:
        keys, counts = np.unique(key, return_counts=True)
        self.keys.append(keys)
        self.counts.append(counts.astype(np.int32))

    def _range(self, first: int) -> str:
        return f"{first} to {first + self.m - 1}"

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
