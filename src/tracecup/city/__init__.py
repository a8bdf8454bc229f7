"""Where and when: the grid of regions, its places, and the clock.

Imports nothing of ours but the top level.
"""

from tracecup.city.clock import Clock, ContestClock
from tracecup.city.files import (
    read_city,
    read_clock,
    read_places,
    write_city,
    write_clock,
    write_places,
)
from tracecup.city.grid import City, Grid
from tracecup.city.places import Places

__all__ = [
    "City",
    "Clock",
    "ContestClock",
    "Grid",
    "Places",
    "read_city",
    "read_clock",
    "read_places",
    "write_city",
    "write_clock",
    "write_places",
]
