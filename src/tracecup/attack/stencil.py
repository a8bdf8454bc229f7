"""What a guess near the truth is worth, by grid offset.

The contest's truncated distance turned round: 1 for the region itself, 0 beyond two kilometres.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City
from tracecup.score import REACH_KM


def gain_stencil(city: City) -> NDArray[np.float64]:
    """What a sure visit is worth to a guess at grid offset (|dy|, |dx|): max(0, 1 - d / reach).

    Cut to the offsets within reach.

    >>> from tracecup.city import Grid
    >>> gain_stencil(City(Grid.from_metres(5, 1, width_m=500, height_m=500))).round(2).tolist()
    [[1.0, 0.75, 0.5, 0.25]]
    """
    gain = np.maximum(0.0, 1.0 - city.grid.offset_km / REACH_KM)
    rows, columns = np.flatnonzero(gain[:, 0]), np.flatnonzero(gain[0])
    return np.ascontiguousarray(gain[: len(rows), : len(columns)])
