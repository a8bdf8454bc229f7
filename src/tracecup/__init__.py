"""tracecup: run, play and study location-trace anonymization contests.

The dozen names most users need; everything else lives in its room.
"""

from tracecup.city import City, Clock, ContestClock, Grid
from tracecup.errors import InvalidFile, InvalidTraces, TraceCupError
from tracecup.traces import IdTable, SetTraces, Traces

__version__ = "0.1.0"

__all__ = [
    "City",
    "Clock",
    "ContestClock",
    "Grid",
    "IdTable",
    "InvalidFile",
    "InvalidTraces",
    "SetTraces",
    "TraceCupError",
    "Traces",
    "__version__",
]
