"""Small random cases, and the oracle cases of the public data."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tracecup.attack import Case
from tracecup.city import City, Clock, Grid
from tracecup.city.files import read_city, read_clock
from tracecup.traces import IdTable, SetTraces, Traces
from tracecup.traces.files import read_id_table, read_released, read_traces

ORACLE_CASES = (
    "s01_none",
    "s02_mrlh_1_1_0.2",
    "s03_pl_4_1",
    "s04_cheat_1",
    "s05_mixed_far",
)

MakeCase = Callable[..., Case]


@pytest.fixture(scope="session")
def make_case() -> MakeCase:
    """make_case(seed, users=, nx=, ny=, slots=, days=, reference_days=, sizes=, gaps=)."""
    return _make_case


def _make_case(
    seed: int,
    *,
    users: int = 6,
    nx: int = 5,
    ny: int = 7,
    slots: int = 3,
    days: int = 2,
    reference_days: int | None = None,
    sizes: tuple[int, ...] = (0, 1, 1, 2, 3, 4),
    gaps: float = 0.1,
) -> Case:
    """Random reference traces with gaps; cells of the given sizes, ids drawn with repetition.

    The last pseudonym has deleted cells only where `sizes` allows deletion.
    """
    random = np.random.default_rng(seed)
    grid = Grid.from_metres(nx, ny, width_m=341.25, height_m=346.875)
    city = City(grid, hospitals=random.choice(nx * ny, size=2, replace=False).tolist())
    clock = Clock.regular(days, slots)
    known = Clock.regular(reference_days or days, slots)
    reference = random.integers(nx * ny, size=(users, known.times))
    reference[random.random(reference.shape) < gaps] = -1
    wanted = random.choice(sizes, size=(users, clock.times))
    if 0 in sizes:
        wanted[-1] = 0
    cells = [[random.integers(nx * ny, size=size).tolist() for size in row] for row in wanted]
    pseudonyms = np.arange(users + 1, 2 * users + 1)
    return Case(city, Traces.of(reference, known), SetTraces.of_cells(cells, clock, pseudonyms))


@dataclass(frozen=True)
class OracleCase:
    """One worked case: what the attacker gets, the truth, and where its files are."""

    name: str
    folder: Path
    case: Case
    original: Traces
    table: IdTable
    expected: dict[str, Any]


@pytest.fixture(scope="session", params=ORACLE_CASES)
def oracle(request: pytest.FixtureRequest, data_dir: Path) -> OracleCase:
    folder = data_dir / "oracle" / request.param
    city = read_city(data_dir / "osaka" / "info_region.csv")
    clock = read_clock(data_dir / "osaka" / "info_time.csv")
    reference = read_traces(folder / "reftraces.csv.gz", "reference", clock=clock.reference)
    released = read_released(folder / "pubtraces.csv.gz", clock=clock.original)
    return OracleCase(
        request.param,
        folder,
        Case(city, reference, released),
        read_traces(folder / "orgtraces.csv.gz", "original", clock=clock.original),
        read_id_table(folder / "ptable.csv.gz"),
        json.loads((folder / "scores.json").read_text()),
    )
