"""Boxes of latitude and longitude, the named ones of the paper, and cutting them into cells.

Borders are compared as the published preparation compares them, so that its cells come out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tracecup.city import Grid
from tracecup.city.grid import KM_PER_DEGREE_LATITUDE
from tracecup.errors import InvalidParameter

MOST_NORTH = 90.0
# To a tenth of a millimetre a degree: what a file of the city says, it means exactly.
KM_DIGITS = 7


@dataclass(frozen=True)
class Box:
    """A box in degrees, closed on all sides.

    >>> Box(35.65, 35.75, 139.68, 139.80).cells([35.65, 35.75, 36], [139.68, 139.80, 139.7], 20, 20)
    array([  0, 399,  -1], dtype=int32)
    """

    south: float
    north: float
    west: float
    east: float

    def __post_init__(self) -> None:
        edges = (self.south, self.north, self.west, self.east)
        if not all(math.isfinite(edge) for edge in edges):
            raise InvalidParameter(f"the edges of a box must be finite numbers, got {edges}")
        if not (self.south < self.north and self.west < self.east):
            raise InvalidParameter(
                f"a box needs south < north and west < east, got {self.south}..{self.north}, "
                f"{self.west}..{self.east}"
            )

    def contains(
        self, latitude: ArrayLike, longitude: ArrayLike, hair: float = 0.0
    ) -> NDArray[np.bool_]:
        """Whether each point lies in the box, its borders and `hair` degrees more included."""
        y, x = np.asarray(latitude, dtype=np.float64), np.asarray(longitude, dtype=np.float64)
        inside = (y >= self.south - hair) & (y <= self.north + hair)
        return np.asarray(inside & (x >= self.west - hair) & (x <= self.east + hair))

    def cells(
        self, latitude: ArrayLike, longitude: ArrayLike, nx: int, ny: int, hair: float = 0.0
    ) -> NDArray[np.int32]:
        """Cell of each point, `nx * row + column` from the south-west; -1 outside.

        Cell k of an axis begins at low + (high - low) k / n exactly; the upper border belongs to
        the last cell. A point up to `hair` degrees below the begin of a cell counts as on it, so
        that borders which carry rounding in their last digits give their points to one side.
        """
        y, x = np.asarray(latitude, dtype=np.float64), np.asarray(longitude, dtype=np.float64)
        row = np.searchsorted(_inner_borders(self.south, self.north, ny) - hair, y, side="right")
        column = np.searchsorted(_inner_borders(self.west, self.east, nx) - hair, x, side="right")
        return np.where(self.contains(y, x, hair), row * nx + column, -1).astype(np.int32)

    def grid(self, nx: int, ny: int) -> Grid:
        """The box as a grid of regions whose kilometres are right for its latitude.

        A degree of longitude counts 111 km times the cosine of the middle latitude; the contest's
        own box keeps the contest's 91 km.

        >>> round(Box(59.9, 60.1, 24.0, 25.0).grid(10, 10).km_x, 2)
        5.55
        """
        grid = Grid.from_box(
            nx, ny, south=self.south, north=self.north, west=self.west, east=self.east
        )
        if self == TOKYO_CENTRE:
            return grid
        if not -MOST_NORTH < self.south < self.north < MOST_NORTH:
            raise InvalidParameter(
                f"a grid lies within {MOST_NORTH:g} degrees south and north, got {self.south:g} to "
                f"{self.north:g}"
            )
        middle = math.radians((self.south + self.north) / 2)
        kilometres = round(KM_PER_DEGREE_LATITUDE * math.cos(middle), KM_DIGITS)
        return replace(grid, km_per_longitude=kilometres)


def _inner_borders(low: float, high: float, n: int) -> NDArray[np.float64]:
    return low + (high - low) * np.arange(1, n) / n


TOKYO_CENTRE = Box(35.65, 35.75, 139.68, 139.80)
BEIJING = Box(39.75, 40.10, 116.15, 116.60)
# The six cities of the paper's check-in experiments.
CITIES: dict[str, Box] = {
    "IST": Box(40.8, 41.2, 28.5, 29.5),
    "JK": Box(-6.4, -6.1, 106.7, 107.0),
    "KL": Box(3.0, 3.3, 101.6, 101.8),
    "NYC": Box(40.5, 41.0, -74.28, -73.68),
    "SP": Box(-24.0, -23.4, -46.8, -46.3),
    "TKY": Box(35.5, 35.9, 139.5, 140.0),
}
