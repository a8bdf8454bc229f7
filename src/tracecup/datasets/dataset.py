"""What a loader returns: records and the city they lie in, and how users are split.

The records themselves are those of `tracecup.records`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracecup.city import City
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
class Dataset:
    """What a loader returns: records and the city they lie in.

    Locations are the city's regions, or with `by_place` its places (row i of `city.places` is
    location i, so that `city.places.regions[i]` is its cell). `skipped` counts bad lines that
    were left out on request, `outside` records of a table outside the box, `off_hours` those in
    the box outside the hours.
    """

    records: Records
    city: City
    by_place: bool = False
    skipped: int = 0
    outside: int = 0
    off_hours: int = 0

    def split(
        self, training: int | None = None, testing: int | None = None, seed: int = 1
    ) -> Split:
        """Training and testing users by the published rule; see `splitting.split_users`."""
        chosen = split_users(self.records.n_users, training, testing, seed)
        first, second = (self.records.take_users(users) for users in chosen)
        return Split(first, second, self.city, self.by_place)
