"""tracecup: run, play and study location-trace anonymization contests.

`import tracecup as tc` is the front door: a dozen verbs and the names most users need, each
loaded when it is first used. Everything else lives in its room.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tracecup.attack import Case
    from tracecup.city import City, Clock, ContestClock, Grid
    from tracecup.errors import InvalidFile, InvalidTraces, TraceCupError
    from tracecup.front.auditing import audit
    from tracecup.front.benchmarks import benchmark
    from tracecup.front.data import Data, load, load_demo
    from tracecup.front.decorators import obfuscator
    from tracecup.front.evaluation import Evaluation, compare, evaluate
    from tracecup.front.maps import draw_map
    from tracecup.front.naming import methods
    from tracecup.front.releases import Release, attack, publish, score
    from tracecup.traces import IdTable, SetTraces, Traces

__version__ = "0.1.0"

_HOMES = {
    "tracecup.attack": ("Case",),
    "tracecup.city": ("City", "Clock", "ContestClock", "Grid"),
    "tracecup.errors": ("InvalidFile", "InvalidTraces", "TraceCupError"),
    "tracecup.traces": ("IdTable", "SetTraces", "Traces"),
    "tracecup.front.auditing": ("audit",),
    "tracecup.front.benchmarks": ("benchmark",),
    "tracecup.front.data": ("Data", "load", "load_demo"),
    "tracecup.front.decorators": ("obfuscator",),
    "tracecup.front.evaluation": ("Evaluation", "compare", "evaluate"),
    "tracecup.front.maps": ("draw_map",),
    "tracecup.front.naming": ("methods",),
    "tracecup.front.releases": ("Release", "publish"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
_ROOMS = (
    "attack", "city", "contest", "datasets", "errors", "obfuscate", "score", "synth", "traces",
)  # fmt: skip
"""Rooms that need no import of their own; `attack` and `score` can be called (`tracecup.rooms`)."""

__all__ = [
    "Case",
    "City",
    "Clock",
    "ContestClock",
    "Data",
    "Evaluation",
    "Grid",
    "IdTable",
    "InvalidFile",
    "InvalidTraces",
    "Release",
    "SetTraces",
    "TraceCupError",
    "Traces",
    "__version__",
    "attack",
    "audit",
    "benchmark",
    "compare",
    "draw_map",
    "evaluate",
    "load",
    "load_demo",
    "methods",
    "obfuscator",
    "publish",
    "score",
]


def __getattr__(name: str) -> Any:
    """Load a name when it is first asked for (PEP 562)."""
    if name in _ROOMS:
        return importlib.import_module(f"tracecup.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'tracecup' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """All public names, loaded or not."""
    return sorted({*globals(), *__all__, *_ROOMS})
