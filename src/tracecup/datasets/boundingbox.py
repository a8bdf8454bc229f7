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
from tracecup.kernels import kernel

MOST_NORTH, MOST_EAST = 90.0, 180.0
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
        return _cells(
            y.ravel(),
            x.ravel(),
            _borders(self.south, self.north, ny, hair),
            _borders(self.west, self.east, nx, hair),
        ).reshape(np.broadcast_shapes(y.shape, x.shape))

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


def _borders(low: float, high: float, n: int, hair: float) -> NDArray[np.float64]:
    """The n + 1 borders of an axis, shape (n + 1,); the last is the end itself, hair included."""
    inner = low + (high - low) * np.arange(1, n) / n
    return np.concatenate([[low - hair], inner - hair, [high + hair]])


@kernel
def _cells(
    y: NDArray[np.float64],
    x: NDArray[np.float64],
    rows: NDArray[np.float64],
    columns: NDArray[np.float64],
) -> NDArray[np.int32]:
    found = np.empty(len(y), dtype=np.int32)
    for k in range(len(y)):
        row, column = _interval(y[k], rows), _interval(x[k], columns)
        found[k] = row * (len(columns) - 1) + column if row >= 0 and column >= 0 else -1
    return found


@kernel
def _interval(value: float, borders: NDArray[np.float64]) -> int:
    """The interval [borders[i], borders[i + 1]) with the value; the last is closed; -1 outside.

    Guessed from equal steps, then put right by comparing with the borders themselves.
    """
    n = len(borders) - 1
    if not borders[0] <= value <= borders[n]:
        return -1
    at = min(n - 1, int((value - borders[0]) / (borders[n] - borders[0]) * n))
    while at > 0 and value < borders[at]:
        at -= 1
    while at < n - 1 and value >= borders[at + 1]:
        at += 1
    return at


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
