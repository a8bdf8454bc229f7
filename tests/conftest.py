"""Shared fixtures: the three-user toy of the paper, and the user's copy of the public data."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tracecup import City, Grid, IdTable, SetTraces, Traces, registry

settings.register_profile(
    "tracecup", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tracecup")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Several processes (`-n 2 --dist loadfile`): see `scheduling`."""
    if config.getvalue("dist") != "loadfile":
        return None
    from scheduling import ByFile

    return ByFile(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Where there are several processes, some tests begin early: see `scheduling`."""
    if hasattr(config, "workerinput"):
        from scheduling import turn

        items.sort(key=lambda item: turn(item.nodeid))
        gc.freeze()  # thousands of tests, which every collection of garbage would look through


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The public contest data, found through TRACECUP_DATA; tests that need it skip without."""
    given = os.environ.get("TRACECUP_DATA", "")
    if not given or not Path(given).is_dir():
        pytest.skip("skipped: set TRACECUP_DATA to a copy of the public contest data to run this")
    return Path(given)


@pytest.fixture
def in_small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that may lie in files does, and all that may be done in parts is done in small ones."""
    monkeypatch.setenv("TRACECUP_HELD_MIB", "0")
    monkeypatch.setattr("tracecup.scratch.PART_BYTES", 20_000)
    monkeypatch.setattr("tracecup.attack.prior.mixture.HELD_ENTRIES", 0)


@pytest.fixture(scope="module")
def own_registry():
    """What the tests of a module register is gone after it."""
    for kind in registry.KINDS:
        registry.methods(kind)
    kept = {kind: dict(known) for kind, known in registry._methods.items()}
    yield
    for kind, known in kept.items():
        registry._methods[kind].clear()
        registry._methods[kind].update(known)


@pytest.fixture(scope="session")
def toy_city() -> City:
    """Five regions in a row, region 2 (index 1) with a hospital: the paper's Figure 6."""
    return City(Grid.from_metres(5, 1, width_m=341.25, height_m=346.875), hospitals=[1])


@pytest.fixture(scope="session")
def toy_original() -> Traces:
    return Traces.of([[0, 2, 1, 0], [3, 3, 4, 4], [2, 3, 3, 3]])


@pytest.fixture(scope="session")
def toy_obfuscated() -> SetTraces:
    return SetTraces.of_cells(
        [
            [[1], [2], [1, 3, 4], []],
            [[], [], [4], [4]],
            [[], [2], [2, 3], [0, 1, 2]],
        ]
    )


@pytest.fixture(scope="session")
def toy_table() -> IdTable:
    return IdTable.of([1, 2, 0])
