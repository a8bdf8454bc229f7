"""The grid of regions and the distances between them.

Region indices are 0-based and row by row from the south-west corner: `index = y * nx + x`.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tracecup.city.places import Places
from tracecup.errors import InvalidParameter, InvalidTraces

KM_PER_DEGREE_LATITUDE = 111.0
KM_PER_DEGREE_LONGITUDE = 91.0
MAX_REGIONS = 1_000_000
MAX_MATRIX_REGIONS = 16_384

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True)
class Grid:
    """A rectangle of nx x ny equal regions.

    `latitudes` (ny) and `longitudes` (nx) are the centres in degrees, south to north and west
    to east; `height` and `width` the size of a region in degrees. Kilometres follow from
    111 km per degree of latitude and 91 km per degree of longitude, as in the contest
    (wx = 0.34125 km, wy = 0.346875 km), unless other constants are given.

    >>> grid = Grid.from_box(32, 32, south=35.65, north=35.75, west=139.68, east=139.80)
    >>> round(float(grid.distance(0, 33)), 5)
    0.48659
    """

    latitudes: tuple[float, ...]
    longitudes: tuple[float, ...]
    height: float
    width: float
    km_per_latitude: float = KM_PER_DEGREE_LATITUDE
    km_per_longitude: float = KM_PER_DEGREE_LONGITUDE

    def __post_init__(self) -> None:
        if not self.latitudes or not self.longitudes:
            raise InvalidParameter("a grid needs at least one row and one column")
        if self.n_regions > MAX_REGIONS:
            raise InvalidParameter(f"at most {MAX_REGIONS} regions, got {self.n_regions}")
        for name in ("height", "width", "km_per_latitude", "km_per_longitude"):
            value = getattr(self, name)
            if not 0 < value < float("inf"):
                raise InvalidParameter(f"Grid.{name} must be a finite number > 0, got {value}")

    @classmethod
    def from_box(
        cls, nx: int, ny: int, *, south: float, north: float, west: float, east: float
    ) -> Grid:
        """Cut the box (degrees) into nx x ny equal regions."""
        if nx < 1 or ny < 1:
            raise InvalidParameter(f"nx and ny must be >= 1, got {nx} and {ny}")
        if nx * ny > MAX_REGIONS:
            raise InvalidParameter(f"at most {MAX_REGIONS} regions, got {nx} x {ny}")
        height, width = (north - south) / ny, (east - west) / nx
        return cls(
            tuple(south + height * (k + 0.5) for k in range(ny)),
            tuple(west + width * (k + 0.5) for k in range(nx)),
            round(height, 12),
            round(width, 12),
        )

    @classmethod
    def from_metres(
        cls,
        nx: int,
        ny: int,
        *,
        width_m: float,
        height_m: float,
        south: float = 0.0,
        west: float = 0.0,
    ) -> Grid:
        """nx x ny regions of the given size in metres, the corner at (south, west)."""
        north = south + ny * height_m / 1000 / KM_PER_DEGREE_LATITUDE
        east = west + nx * width_m / 1000 / KM_PER_DEGREE_LONGITUDE
        return cls.from_box(nx, ny, south=south, north=north, west=west, east=east)

    @property
    def nx(self) -> int:
        """Columns, west to east."""
        return len(self.longitudes)

    @property
    def ny(self) -> int:
        """Rows, south to north."""
        return len(self.latitudes)

    @property
    def n_regions(self) -> int:
        """nx times ny."""
        return self.nx * self.ny

    @property
    def km_x(self) -> float:
        """Width of a region in km."""
        return self.width * self.km_per_longitude

    @property
    def km_y(self) -> float:
        """Height of a region in km."""
        return self.height * self.km_per_latitude

    @cached_property
    def x(self) -> NDArray[np.int32]:
        """Column of every region, shape (n_regions,)."""
        return _frozen(np.tile(np.arange(self.nx, dtype=np.int32), self.ny))

    @cached_property
    def y(self) -> NDArray[np.int32]:
        """Row of every region, shape (n_regions,)."""
        return _frozen(np.repeat(np.arange(self.ny, dtype=np.int32), self.nx))

    @cached_property
    def offset_km(self) -> NDArray[np.float64]:
        """Distance in km by grid offset: `offset_km[|dy|, |dx|]`, shape (ny, nx).

        All distances of the grid in nx*ny numbers; inner loops read this small table.
        """
        dy = np.arange(self.ny)[:, None] * self.km_y
        dx = np.arange(self.nx)[None, :] * self.km_x
        return _frozen(np.sqrt(dx * dx + dy * dy))

    @cached_property
    def distances(self) -> NDArray[np.float64]:
        """All distances in km, shape (n_regions, n_regions); made on first use, then kept."""
        if self.n_regions > MAX_MATRIX_REGIONS:
            raise InvalidParameter(
                f"a full distance matrix of {self.n_regions} regions is too large; use distance()"
            )
        every = np.arange(self.n_regions)
        return _frozen(self.distance(every[:, None], every[None, :]))

    def distance(self, a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
        """d(a, b) = sqrt((wx dx)^2 + (wy dy)^2) in km between centres, broadcasting."""
        a, b = np.asarray(a), np.asarray(b)
        return np.asarray(
            self.offset_km[np.abs(self.y[a] - self.y[b]), np.abs(self.x[a] - self.x[b])]
        )

    def region_at(self, latitude: ArrayLike, longitude: ArrayLike) -> NDArray[np.int32]:
        """Region that contains each point; -1 outside. A point on the upper border is inside."""
        south = self.latitudes[0] - self.height / 2
        west = self.longitudes[0] - self.width / 2
        fy = (np.asarray(latitude, float) - south) / self.height
        fx = (np.asarray(longitude, float) - west) / self.width
        # Points on the outer border are inside; degrees carry rounding in their last digits.
        hair = 1e-9
        inside = (fx >= -hair) & (fx <= self.nx + hair) & (fy >= -hair) & (fy <= self.ny + hair)
        iy = np.minimum(np.where(inside, fy, 0).astype(np.int32), self.ny - 1)
        ix = np.minimum(np.where(inside, fx, 0).astype(np.int32), self.nx - 1)
        return np.asarray(np.where(inside, iy * self.nx + ix, -1), dtype=np.int32)


@dataclass(frozen=True, eq=False, repr=False)
class City:
    """A grid with its sensitive (hospital) regions and its places.

    >>> city = City(Grid.from_metres(5, 1, width_m=341.25, height_m=346.875), hospitals=[1])
    >>> city.n_regions, city.is_hospital.tolist()
    (5, [False, True, False, False, False])
    """

    grid: Grid
    hospitals: Sequence[int] = ()
    places: Places = field(default_factory=Places.none)

    def __post_init__(self) -> None:
        bad = [h for h in self.hospitals if not 0 <= h < self.n_regions]
        if bad:
            raise InvalidTraces(
                f"hospital region {bad[0]} is not within 0..{self.n_regions - 1} (0-based)"
            )
        if len(self.places) and int(self.places.regions.max()) >= self.n_regions:
            raise InvalidTraces("a place lies in a region that the grid does not have")
        object.__setattr__(self, "hospitals", tuple(sorted(set(self.hospitals))))

    @property
    def n_regions(self) -> int:
        """Number of regions."""
        return self.grid.n_regions

    @cached_property
    def is_hospital(self) -> NDArray[np.bool_]:
        """Flag of every region, shape (n_regions,)."""
        flags = np.zeros(self.n_regions, dtype=np.bool_)
        flags[list(self.hospitals)] = True
        return _frozen(flags)

    def __len__(self) -> int:
        return self.n_regions

    def __repr__(self) -> str:
        grid = self.grid
        size = f"{grid.nx * grid.km_x:.1f} km x {grid.ny * grid.km_y:.1f} km"
        known = f", {len(self.places)} places" if len(self.places) else ""
        return (
            f"<City: {grid.nx} x {grid.ny} regions, {size}, "
            f"{len(self.hospitals)} with a hospital{known}>"
        )

    def _repr_html_(self) -> str:
        # By name: no room may import the front door.
        card: str = importlib.import_module("tracecup.front.html").city_card(self)
        return card

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, City):
            return NotImplemented
        return (self.grid, self.hospitals, self.places) == (
            other.grid,
            other.hospitals,
            other.places,
        )

    def __hash__(self) -> int:
        return hash((self.grid, tuple(self.hospitals)))


def _frozen(array: NDArray[T]) -> NDArray[T]:
    array.flags.writeable = False
    return array
