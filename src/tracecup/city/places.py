"""Places (points of interest): where they are, in which region, of which category.

Held as columns; a row is one place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.errors import InvalidTraces


@dataclass(frozen=True, eq=False)
class Places:
    """A table of places.

    `regions` are 0-based region indices; `categories` are free text, most general part first
    (`food/Japanese Restaurant/3`); `counts` are numbers of visits, -1 where unknown.

    >>> shops = Places.of([("food/Cafe", 35.66, 139.70, 7)])
    >>> shops.in_category("food").regions.tolist()
    [7]
    """

    latitudes: NDArray[np.float64]
    longitudes: NDArray[np.float64]
    regions: NDArray[np.int32]
    categories: tuple[str, ...]
    counts: NDArray[np.int64]

    def __post_init__(self) -> None:
        n = len(self.categories)
        lengths = {len(self.latitudes), len(self.longitudes), len(self.regions), len(self.counts)}
        if lengths != {n}:
            raise InvalidTraces(f"columns of places differ in length: {sorted(lengths | {n})}")
        if n and int(self.regions.min()) < 0:
            raise InvalidTraces("a place has a negative region")

    @classmethod
    def of(cls, rows: list[tuple[str, float, float, int]]) -> Places:
        """From (category, latitude, longitude, region) rows."""
        return cls(
            np.array([r[1] for r in rows], dtype=np.float64),
            np.array([r[2] for r in rows], dtype=np.float64),
            np.array([r[3] for r in rows], dtype=np.int32),
            tuple(r[0] for r in rows),
            np.full(len(rows), -1, dtype=np.int64),
        )

    @classmethod
    def none(cls) -> Places:
        """An empty table."""
        return cls.of([])

    def __len__(self) -> int:
        return len(self.categories)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Places):
            return NotImplemented
        return self.categories == other.categories and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("latitudes", "longitudes", "regions", "counts")
        )

    __hash__ = None  # type: ignore[assignment]  # holds arrays, like any mutable-looking value

    def in_category(self, category: str) -> Places:
        """The places whose category is `category` or begins with it and a slash."""
        chosen = [
            k
            for k, name in enumerate(self.categories)
            if name == category or name.startswith(category + "/")
        ]
        return Places(
            self.latitudes[chosen],
            self.longitudes[chosen],
            self.regions[chosen],
            tuple(self.categories[k] for k in chosen),
            self.counts[chosen],
        )
