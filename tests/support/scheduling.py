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
# compilation begins first; synthesizers follow it, since theirs are among them. Before all of them
# come tests that fork for every example: a process that has grown takes ten times as long for it.
COMPILING = (
    "tests/datasets/test_arrowtable.py",
    "tests/datasets/test_row_order.py",
    "tests/traces/test_files.py",
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
# A dask client leaves threads behind, and a process with threads cannot be forked for each file.
LAST = ("tests/test_jobs.py",)


def turn(nodeid: str) -> int:
    """When a test should begin: first what compiles, then what is long, for much waits for it."""
    for number, first in enumerate((*COMPILING, *ALONE)):
        if nodeid.startswith(first):
            return number
    return len(COMPILING) + len(ALONE) + nodeid.startswith(LAST)


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
