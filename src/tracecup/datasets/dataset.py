"""What a loader returns: records and the city they lie in, and how users are split.

The records themselves are those of `tracecup.records`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City
from tracecup.datasets.frames import Library, to_frame
from tracecup.datasets.splitting import split_users
from tracecup.records import Records


@dataclass(frozen=True)
class Split:
    """Training and testing users of a data set, each with indices from 0, and their city."""

    training: Records
    testing: Records
    city: City
    by_place: bool = False


@dataclass(frozen=True)
class Dropped:
    """How many records were left out, and why.

    `bad_lines` on request only; `inaccurate`, `duplicates`, `stray` and `moving` likewise, see
    `cleaning.Cleaning`; `outside` the box; `off_hours` in the box, but outside the hours
    of the timetable or between its instants; `same_instant` after the first of a user's instant;
    `other_places` not among the most visited; `unchained` not part of a gap-free chain;
    `few_records` of users who have too few.
    """

    bad_lines: int = 0
    inaccurate: int = 0
    duplicates: int = 0
    stray: int = 0
    moving: int = 0
    outside: int = 0
    off_hours: int = 0
    same_instant: int = 0
    other_places: int = 0
    unchained: int = 0
    few_records: int = 0


@dataclass(frozen=True)
class Dataset:
    """What a loader returns: records, the city they lie in, and how many were left out.

    Locations are the city's regions, or with `by_place` its places (row i of `city.places` is
    location i, so that `city.places.regions[i]` is its cell). `first_day` is the date of day 0,
    in days since 1970. `notes` say how the files were understood. Where the files come split, the
    first `training_users` train and the others test.
    """

    records: Records
    city: City
    by_place: bool = False
    dropped: Dropped = Dropped()
    first_day: int = 0
    notes: tuple[str, ...] = ()
    training_users: int | None = None

    @property
    def given_split(self) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """Training and testing users of files that come split, else None."""
        if self.training_users is None:
            return None
        users = np.arange(self.records.n_users)
        return users[: self.training_users], users[self.training_users :]

    def split(
        self, training: int | None = None, testing: int | None = None, seed: int = 1
    ) -> Split:
        """Training and testing users by the published rule; see `splitting.split_users`.

        Without numbers as the files have them, if they come split.
        """
        chosen = self.given_split if training is None and testing is None else None
        if chosen is None:
            chosen = split_users(self.records.n_users, training, testing, seed)
        first, second = (self.records.take_users(users) for users in chosen)
        return Split(first, second, self.city, self.by_place)

    def thinned(self) -> Dataset:
        """The first record of every user's every instant; the others are counted."""
        kept = self.records.thinned()
        lost = self.dropped.same_instant + len(self.records) - len(kept)
        return replace(self, records=kept, dropped=replace(self.dropped, same_instant=lost))

    def to_frame(self, library: Library = "pyarrow") -> Any:
        """The records as a table of that library; see `frames.to_frame`."""
        return to_frame(self, library)
