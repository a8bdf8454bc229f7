"""Records as a table for other libraries: pyarrow, pandas, polars or GeoPandas.

None of them but pyarrow has to be installed; `arrowtable.from_frame` goes the other way.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from tracecup.errors import InvalidParameter

if TYPE_CHECKING:
    from tracecup.datasets.dataset import Dataset

Library = Literal["pyarrow", "pandas", "polars", "geopandas"]


def to_frame(dataset: Dataset, library: Library = "pyarrow") -> Any:
    """A row for every record: user, time, lat, lon, location, day, instant.

    `user` is the name or id of the source, `time` a time stamp in UTC, `lat` and `lon` the middle
    of the region (or the place), `location`, `day` and `instant` as in `Records`, from 0.
    GeoPandas gets points in EPSG:4326 as well. O(records).

    >>> from tracecup.datasets import Box, from_frame
    >>> rows = {"user": ["a"], "time": ["2013-07-01 09:00:00"], "lat": [35.7], "lon": [139.7]}
    >>> made = to_frame(from_frame(rows, box=Box(35.65, 35.75, 139.68, 139.80)))
    >>> made.column_names[:4], made.num_rows
    (['user', 'time', 'lat', 'lon'], 1)
    """
    records, city = dataset.records, dataset.city
    if dataset.by_place:
        lat, lon = city.places.latitudes, city.places.longitudes
    else:
        lat = np.array(city.grid.latitudes)[city.grid.y]
        lon = np.array(city.grid.longitudes)[city.grid.x]
    labels = pa.array(records.names) if records.names else pa.array(records.users)
    microseconds = np.round(1e6 * records.unix).astype(np.int64)
    table = pa.table(
        {
            "user": labels.take(pa.array(records.user)),
            "time": pa.array(microseconds).cast(pa.timestamp("us", "UTC")),
            "lat": lat[records.location],
            "lon": lon[records.location],
            "location": records.location,
            "day": records.day,
            "instant": records.instant,
        }
    )
    if library == "pyarrow":
        return table
    if library == "polars":
        return _module("polars").from_arrow(table)
    if library not in ("pandas", "geopandas"):
        raise InvalidParameter(
            f"a frame is made for pyarrow, pandas, polars or geopandas, got {library!r}"
        )
    _module("pandas")
    frame = table.to_pandas()
    if library == "pandas":
        return frame
    geopandas = _module("geopandas")
    points = geopandas.points_from_xy(frame["lon"], frame["lat"])
    return geopandas.GeoDataFrame(frame, geometry=points, crs="EPSG:4326")


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InvalidParameter(f"a frame of {name} needs {name} to be installed") from error
