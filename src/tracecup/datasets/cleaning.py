"""Cleaning raw points before they are put on a grid: inaccurate, repeated and stray ones, stays.

Every step is optional, works on each user's points in order of time, and counts what it drops.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracecup.errors import InvalidParameter
from tracecup.kernels import kernel

EARTH_RADIUS_KM = 6371.0088
# So many unreachable points in a row, each reachable from the one before, are believed.
BELIEVED = 3


@dataclass(frozen=True)
class Cleaning:
    """What to clean away.

    `max_accuracy` (m): points whose own accuracy is worse; a point without one stays.
    `duplicates`: points of a user with the same time and position as another.
    `max_speed` (km/h): stray points, which the user could not have reached from the last point
    that was kept; after three such points in a row that agree with each other the place is
    believed. `stay_minutes` and `stay_metres`: only stays are kept, that is points within
    `stay_metres` of the first of them for at least `stay_minutes` (Li et al., Mining user
    similarity based on location history, 2008); all points of a stay move to their mean.
    """

    max_accuracy: float | None = None
    duplicates: bool = False
    max_speed: float | None = None
    stay_minutes: float | None = None
    stay_metres: float = 200.0

    def check(self) -> None:
        """Raise `InvalidParameter` for numbers that make no sense."""
        for name in ("max_accuracy", "max_speed", "stay_minutes", "stay_metres"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise InvalidParameter(f"{name} must be a finite number > 0, got {value}")

    @property
    def by_user(self) -> bool:
        """Whether all points of a user must be seen at once."""
        return self.duplicates or self.max_speed is not None or self.stay_minutes is not None


NOTHING = Cleaning()


class RawPoints(NamedTuple):
    """Columns of points before cleaning; `local - shift` is the true time."""

    user: NDArray[np.int64]
    latitude: NDArray[np.float64]
    longitude: NDArray[np.float64]
    local: NDArray[np.float64]
    shift: NDArray[np.float64]

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> RawPoints:
        """Some rows, by number or by mask."""
        user, latitude, longitude, local, shift = self
        return RawPoints(user[rows], latitude[rows], longitude[rows], local[rows], shift[rows])


def clean(points: RawPoints, cleaning: Cleaning) -> tuple[RawPoints, dict[str, int]]:
    """(what is left, how many were dropped and why); the order of the points does not matter.

    O(n log n), and for stays O(n) times the points of a stay.
    """
    dropped: dict[str, int] = {}
    unix = points.local - points.shift
    order = np.lexsort((points.longitude, points.latitude, unix, points.user))
    points, unix = points.take(order), unix[order]
    if cleaning.duplicates:
        keep = np.ones(len(unix), dtype=np.bool_)
        columns = (points.user, unix, points.latitude, points.longitude)
        keep[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
        dropped["duplicates"] = int((~keep).sum())
        points, unix = points.take(keep), unix[keep]
    if cleaning.max_speed is not None:
        keep = _reachable(
            points.user, points.latitude, points.longitude, unix, cleaning.max_speed / 3600
        )
        dropped["stray"] = int((~keep).sum())
        points, unix = points.take(keep), unix[keep]
    if cleaning.stay_minutes is not None:
        latitude, longitude, keep = _stays(
            points.user,
            points.latitude,
            points.longitude,
            unix,
            60.0 * cleaning.stay_minutes,
            cleaning.stay_metres / 1000,
        )
        dropped["moving"] = int((~keep).sum())
        points = points._replace(latitude=latitude, longitude=longitude).take(keep)
    return points, dropped


@kernel
def _kilometres(y1: float, x1: float, y2: float, x2: float) -> float:
    """Distance on the sphere between two points in degrees (haversine)."""
    dy, dx = math.radians(y2 - y1) / 2, math.radians(x2 - x1) / 2
    chord = math.sin(dy) ** 2
    chord += math.cos(math.radians(y1)) * math.cos(math.radians(y2)) * math.sin(dx) ** 2
    return 2 * EARTH_RADIUS_KM * math.asin(min(1.0, math.sqrt(chord)))


@kernel
def _reachable(
    user: NDArray[np.int64],
    latitude: NDArray[np.float64],
    longitude: NDArray[np.float64],
    unix: NDArray[np.float64],
    speed: float,
) -> NDArray[np.bool_]:
    """Which points can be reached from the last kept one at `speed` km/s."""
    keep = np.ones(len(user), dtype=np.bool_)
    last, run = 0, 0
    for k in range(1, len(user)):
        if user[k] != user[k - 1]:
            last, run = k, 0
            continue
        far = _kilometres(latitude[last], longitude[last], latitude[k], longitude[k])
        if far <= speed * (unix[k] - unix[last]):
            last, run = k, 0
            continue
        step = _kilometres(latitude[k - 1], longitude[k - 1], latitude[k], longitude[k])
        agrees = run > 0 and step <= speed * (unix[k] - unix[k - 1])
        run = run + 1 if agrees else 1
        if run >= BELIEVED:
            last, run = k, 0
        else:
            keep[k] = False
    return keep


@kernel
def _stays(
    user: NDArray[np.int64],
    latitude: NDArray[np.float64],
    longitude: NDArray[np.float64],
    unix: NDArray[np.float64],
    seconds: float,
    kilometres: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """(latitudes, longitudes, which points belong to a stay), a stay's points at their mean."""
    keep = np.zeros(len(user), dtype=np.bool_)
    y, x = latitude.copy(), longitude.copy()
    first = 0
    while first < len(user):
        after = first + 1
        while (
            after < len(user)
            and user[after] == user[first]
            and _kilometres(latitude[first], longitude[first], latitude[after], longitude[after])
            <= kilometres
        ):
            after += 1
        if unix[after - 1] - unix[first] >= seconds:
            y[first:after] = latitude[first:after].mean()
            x[first:after] = longitude[first:after].mean()
            keep[first:after] = True
            first = after
        else:
            first += 1
    return y, x, keep
