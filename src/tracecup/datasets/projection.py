"""Coordinate systems: projected x and y to longitude and latitude in degrees.

Degrees and web Mercator need nothing; every other system needs pyproj, if it is installed.
"""

from __future__ import annotations

import importlib
import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracecup.errors import InvalidParameter

EARTH_RADIUS_M = 6_378_137.0
DEGREES = ("EPSG:4326", "OGC:CRS84", "EPSG:4979", "OGC:CRS84H")
MERCATOR = ("EPSG:3857", "EPSG:900913", "EPSG:3785")

Axis = NDArray[np.float64]


def name_of_crs(crs: Any) -> str | None:
    """The short name (`EPSG:3857`) of a coordinate system, None where it says nothing usable.

    `crs` is such a name or PROJJSON, as an object or as text (GeoParquet, GeoArrow).

    >>> name_of_crs({"id": {"authority": "EPSG", "code": 2056}}), name_of_crs("epsg:4326")
    ('EPSG:2056', 'EPSG:4326')
    """
    if isinstance(crs, str):
        if not crs.lstrip().startswith("{"):
            return crs.strip().upper()
        try:
            crs = json.loads(crs)
        except (ValueError, RecursionError):
            return None
    if not isinstance(crs, dict) or not isinstance(crs.get("id"), dict):
        return None
    return f"{crs['id'].get('authority')}:{crs['id'].get('code')}".upper()


def to_degrees(crs: str | None, x: Axis, y: Axis) -> tuple[Axis, Axis]:
    """(longitude, latitude) in degrees of points in the coordinate system `crs`.

    x is east and y north, whatever order of axes the system's definition names.

    >>> [
    ...     round(float(v[0]), 6)
    ...     for v in to_degrees("EPSG:3857", np.array([950000.0]), np.array([6000000.0]))
    ... ]
    [8.533995, 47.353705]
    """
    if crs is None or crs in DEGREES:
        return x, y
    if crs in MERCATOR:
        longitude = np.degrees(x / EARTH_RADIUS_M)
        latitude = np.degrees(2 * np.arctan(np.exp(y / EARTH_RADIUS_M)) - math.pi / 2)
        return longitude, latitude
    try:
        pyproj = importlib.import_module("pyproj")
    except ImportError as error:
        raise InvalidParameter(
            f"positions are in {crs[:60]}; without pyproj only {DEGREES[0]} (degrees) and "
            f"{MERCATOR[0]} (web Mercator) can be read: install pyproj, or reproject them first"
        ) from error
    try:
        transformer = pyproj.Transformer.from_crs(crs, DEGREES[0], always_xy=True)
    except pyproj.exceptions.CRSError as error:
        raise InvalidParameter(f"no coordinate system is called {crs[:60]!r}") from error
    longitude, latitude = transformer.transform(x, y)
    return np.asarray(longitude, dtype=np.float64), np.asarray(latitude, dtype=np.float64)
