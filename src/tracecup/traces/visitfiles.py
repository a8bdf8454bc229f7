"""Visits per user straight from large Parquet files, row group by row group.

For releases of which not even the traces fit into memory; only who was where how often is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tracecup.city import Clock
from tracecup.traces.rowgroups import Path, Rows, read_rows


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
    check. O(rows) time, O(distinct visits) memory.
    """
    wanted = np.ones(clock.times, dtype=np.bool_)
    if slots is not None:
        wanted = np.isin(clock.slot_of, list(slots))

    def count(m: int, groups: Iterator[Rows]) -> VisitCounts:
        counter = _Counter(m, n_regions, wanted)
        for rows in groups:
            counter.add(rows)
        return counter.finished()

    return read_rows(path, kind, n_regions, clock, count, users=users)


@dataclass
class _Counter:
    """Counts the visits of users that come one after the other."""

    m: int
    n_regions: int
    wanted: NDArray[np.bool_]
    carried: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    keys: list[NDArray[np.int64]] = field(default_factory=list)
    counts: list[NDArray[np.int32]] = field(default_factory=list)

    def add(self, rows: Rows) -> None:
        """Rows as they stand in the file; a user may go on in the next batch."""
        seen = rows.sizes == 1
        key = rows.user[seen] * self.n_regions + rows.regions
        key = np.concatenate([self.carried, key[self.wanted[rows.event[seen]]]])
        last = rows.user[-1] if len(rows.user) else 0
        whole = np.searchsorted(key // self.n_regions, last)
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
