"""Which process runs which test: the tests of one file stay together, in an order that saves time.

Fixtures of a module and compiled kernels are then made once, not in every process.
"""

from __future__ import annotations

from itertools import groupby

from xdist.scheduler import LoadScopeScheduling

# Every test of these folders is long and stands by itself,
ALONE = ("tests/server/live/",)
# but these share what takes long to make (or to compile, of the season and synthesizers).
TOGETHER = ("tests/server/roles/", "tests/server/live/test_kill.py", "tests/cli/test_s")
# On a fresh clone every kernel has to be compiled, by whoever calls it first. These files call most
# of them, each file its own: they come first, so that all others, and above all the many processes
# of ALONE, which would compile the same ones at the same time, find them in the cache. The longest
# compilation begins first; synthesizers follow it, since theirs are among them.
COMPILING = (
    "tests/study/test_fig15_18.py",
    "tests/attack/",
    "tests/traces/",
    "tests/score/",
    "tests/risk/",
    "tests/obfuscate/",
    "tests/synth/",
    "tests/study/test_existing.py",
    "tests/study/test_comparison.py",
)
# Files of half a minute: begun late, one of them would leave the other process idle at the end.
LONG = (
    "tests/server/roles/",
    "tests/server/results/test_results.py",
    "tests/server/test_schemathesis.py",
    "tests/server/organising/test_import2019.py",
    "tests/server/judging/test_judging.py",
    "tests/server/jobs/test_remote.py",
    "tests/study/test_reproduce_data.py",
    "tests/test_house.py",
)
FIRST = (*COMPILING, *ALONE, *LONG)
# A dask client leaves threads behind, which all that follows would have beside it.
LAST = ("tests/test_jobs.py",)


def turn(nodeid: str) -> int:
    """When a test should begin: first what compiles, then what is long, for much waits for it."""
    for number, first in enumerate(FIRST):
        if nodeid.startswith(first):
            return number
    return len(FIRST) + nodeid.startswith(LAST)


def unit_of(nodeid: str) -> str:
    """What a test stays together with: its file, as a rule."""
    for shared in TOGETHER:
        if nodeid.startswith(shared):
            return shared
    return nodeid if nodeid.startswith(ALONE) else nodeid.partition("::")[0]


class ByFile(LoadScopeScheduling):
    """Hands out files, in the order of the collection.

    What a file holds in two places of that order (pytest-django puts tests that need a database
    first) is two pieces of work.
    """

    def __init__(self, config, log=None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False
        self._units: dict[str, str] = {}

    def schedule(self) -> None:
        if not self._units and self.registered_collections:
            collected = next(iter(self.registered_collections.values()))
            for number, (unit, tests) in enumerate(groupby(collected, unit_of)):
                self._units.update(dict.fromkeys(tests, f"{unit} {number}"))
        super().schedule()

    def _split_scope(self, nodeid: str) -> str:
        return self._units[nodeid]
