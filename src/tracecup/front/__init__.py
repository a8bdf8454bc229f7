"""The front door: what `import tracecup as tc` offers, as verbs on objects, names, paths, arrays.

A thin layer; every number comes from the rooms below.
"""

from tracecup.front.auditing import audit
from tracecup.front.benchmarks import Benchmark, benchmark
from tracecup.front.data import Data, load, load_demo
from tracecup.front.decorators import obfuscator
from tracecup.front.evaluation import Evaluation, compare, evaluate
from tracecup.front.maps import TraceMap, draw_map
from tracecup.front.naming import methods
from tracecup.front.releases import Release, attack, publish, score

__all__ = [
    "Benchmark",
    "Data",
    "Evaluation",
    "Release",
    "TraceMap",
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
