"""Table 1 and Figure 4: the contest's location data, its regions, and who is where at noon.

Training traces beside the synthetic traces that teams received.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracecup.city import City, Grid
from tracecup.datasets import Metropolis
from tracecup.records import PEOPLE_FLOW, read_records
from tracecup.study.context import TOKYO_REFERENCES, Context
from tracecup.study.reproduce import study
from tracecup.study.results import MOST, PRELIMINARY, WORKED, Comparison, Source, StudyResult, Table
from tracecup.synth import ContestShape
from tracecup.traces import slot_counts

NOON = 12 * 60
HOSPITALS = 37
PEOPLE_FLOW_SIDE = 20
# Both grids divide into 4 x 4 blocks, on which they can be compared.
BLOCKS = 4
AREAS = {"Shinjuku": (35.6905, 139.6995), "Akihabara": (35.6985, 139.7730)}
CROWDED = 2.0
TRAINING_DAYS, APART = 3, 6
TOKYO = (
    "Tokyo: training are the public people-flow traces (1000 users, 20 x 20 cells), since the "
    "contest's own 10181 training users are not in our hands; synthetic are reference traces that "
    "the preliminary round published (32 x 32 regions)."
)
CONTEST_BOX = {"south": 35.65, "north": 35.75, "west": 139.68, "east": 139.80}


Area = tuple[str, float, float, float, float]
"""Name, column, row, crowd in training and in synthetic traces against the average cell."""


@dataclass(frozen=True, eq=False)
class Noon:
    """Shares of the people in each cell at 12:00: training and synthetic, (rows, columns)."""

    city: City
    training: NDArray[np.float64]
    synthetic: NDArray[np.float64]
    people: dict[str, int]
    source: Source


@study(
    "table1",
    "Location data of the contest",
    "Table 1",
    "2000 users a team, 1024 (32 x 32) regions of about 341 m x 347 m, traces of 400 events: 8:00 "
    "to 18:00 every half hour for 20 days, for reference and original traces alike.",
)
def run_table(context: Context) -> StudyResult:
    """What `tracecup` makes by default, beside the paper."""
    shape, grid = ContestShape(), Grid.from_box(32, 32, **CONTEST_BOX)
    rows: list[tuple[str, float, float]] = [
        ("users of a team", 2000, shape.n_users),
        ("regions", 1024, grid.n_regions),
        ("days of reference traces", 20, shape.reference_days),
        ("days of original traces", 20, shape.original_days),
        ("events of a reference trace", 400, shape.reference_days * shape.slots),
        ("events of an original trace", 400, shape.original_days * shape.slots),
        ("first event (minute of the day)", 480, shape.start),
        ("minutes between events", 30, shape.interval),
        ("width of a region (m)", 341, round(grid.km_x * 1000)),
        ("height of a region (m)", 347, round(grid.km_y * 1000)),
    ]
    return StudyResult(
        WORKED,
        {"data": Table.of(("what", "paper", "default of tracecup"), rows)},
        {},
        tuple(Comparison.equal(what, paper, ours) for what, paper, ours in rows),
    )


@study(
    "fig4",
    "Regions, hospitals, and the population at noon",
    "Figure 4",
    "Synthetic traces keep the population of the training traces by time of day; Shinjuku and "
    "Akihabara are crowded in both.",
    needs=("tokyo", "built-in"),
)
def run_maps(context: Context) -> StudyResult:
    """Maps of hospitals and of both populations."""
    tables: dict[str, Table] = {}
    sources: dict[str, Source] = {}
    numbers: dict[str, float] = {}
    sizes: dict[str, int] = {}
    comparisons: list[Comparison] = []
    for stage, noon in _noons(context):
        areas = _areas(noon)
        tables |= {f"{stage}_{name}": table for name, table in _tables(noon, areas).items()}
        sources |= dict.fromkeys(tables.keys() - sources.keys(), noon.source)
        numbers |= {f"{what} ({stage})": value for what, value in _distances(noon).items()}
        sizes |= {f"{what} ({stage})": number for what, number in noon.people.items()}
        comparisons += _compared(stage, noon, areas)
    return StudyResult(
        next(iter(sources.values())),
        tables,
        numbers,
        tuple(comparisons),
        sizes,
        (TOKYO,) if PRELIMINARY in sources.values() else (),
        sources,
    )


def _noons(context: Context) -> Iterator[tuple[str, Noon]]:
    if context.has("tokyo") and context.has("people-flow"):
        yield "tokyo", tokyo_noon(context)
    if context.has("built-in"):
        yield "long", built_in_noon(context)


def _tables(noon: Noon, areas: Sequence[Area]) -> dict[str, Table]:
    grid = noon.city.grid
    regions = [
        (x, y, bool(noon.city.is_hospital[y * grid.nx + x]), noon.synthetic[y, x])
        for y in range(grid.ny)
        for x in range(grid.nx)
    ]
    rows, columns = noon.training.shape
    training = [(x, y, noon.training[y, x]) for y in range(rows) for x in range(columns)]
    return {
        "regions": Table.of(("x", "y", "hospital", "synthetic share"), regions),
        "training": Table.of(("x", "y", "training share"), training),
        "areas": Table.of(("area", "x", "y", "training crowd", "synthetic crowd"), areas),
    }


def _distances(noon: Noon) -> dict[str, float]:
    """Total variation on blocks that both grids have."""
    training, synthetic = blocks(noon.training), blocks(noon.synthetic)
    return {
        "noon on 4 x 4 blocks: total variation of synthetic from training": float(
            0.5 * np.abs(training - synthetic).sum()
        ),
        "noon on 4 x 4 blocks: total variation of uniform from training": float(
            0.5 * np.abs(training - 1 / BLOCKS**2).sum()
        ),
    }


def _compared(stage: str, noon: Noon, areas: Sequence[Area]) -> Iterator[Comparison]:
    hospitals = float(noon.city.is_hospital.sum())
    yield Comparison.equal(f"hospital regions ({stage})", HOSPITALS, hospitals)
    for name, _, _, *crowds in areas:
        for kind, crowd in zip(("training", "synthetic"), crowds, strict=True):
            what = f"{name}, crowd of the {kind} traces, times the average cell ({stage})"
            why = "the paper: crowded in both; band: at least twice the average"
            yield Comparison(what, math.nan, crowd, CROWDED, MOST, why)


def tokyo_noon(context: Context) -> Noon:
    """Tokyo at 12:00: people flow, and what the preliminary round published."""
    city, side = context.tokyo, PEOPLE_FLOW_SIDE
    slot = (NOON - PEOPLE_FLOW.start) // PEOPLE_FLOW.interval
    counts, people = np.zeros(side * side), 0
    for name in ("traintraces", "testtraces"):
        records = read_records(context.path(f"ppmtfplus_pf/{name}_TK.csv"), side * side)
        counts += np.bincount(records.location[records.instant == slot], minlength=side * side)
        people += records.n_users
    held = [context.tokyo_reference(label) for label in TOKYO_REFERENCES]
    clock = held[0].clock
    visits = sum(slot_counts(traces, city.n_regions)[clock.minutes.index(NOON)] for traces in held)
    synthetic = np.asarray(visits, dtype=np.float64).reshape(city.grid.ny, city.grid.nx)
    return Noon(
        city,
        (counts / counts.sum()).reshape(side, side),
        synthetic / synthetic.sum(),
        {"training users": people, "synthetic users": sum(traces.n_users for traces in held)},
        PRELIMINARY,
    )


def built_in_noon(context: Context) -> Noon:
    """The built-in city at 12:00: its inhabitants, and the virtual users made from them."""
    team = context.stages["long"]
    town = Metropolis(context.users * 5)
    people = town.traces(days=TRAINING_DAYS, start=NOON, interval=30, slots=1)
    shape = (team.city.grid.ny, team.city.grid.nx)
    training = np.bincount(people.regions.ravel(), minlength=team.city.n_regions)
    at = team.reference.clock.minutes.index(NOON)
    synthetic = slot_counts(team.reference, team.city.n_regions)[at]
    return Noon(
        team.city,
        (training / training.sum()).reshape(shape),
        (synthetic / synthetic.sum()).reshape(shape),
        {"training users": people.n_users, "synthetic users": team.reference.n_users},
        team.source,
    )


def blocks(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares summed over 4 x 4 equal blocks of the box.

    >>> blocks(np.full((8, 8), 1 / 64)).round(4).tolist()[0]
    [0.0625, 0.0625, 0.0625, 0.0625]
    """
    rows, columns = shares.shape
    parts = shares.reshape(BLOCKS, rows // BLOCKS, BLOCKS, columns // BLOCKS)
    return np.asarray(parts.sum(axis=(1, 3)))


def _areas(noon: Noon) -> list[Area]:
    """Where the paper's squares are, and how crowded; elsewhere the two most crowded areas."""
    grid = noon.city.grid
    if noon.source == PRELIMINARY:
        south, west = grid.latitudes[0] - grid.height / 2, grid.longitudes[0] - grid.width / 2
        places = {
            name: ((lat - south) / (grid.height * grid.ny), (lon - west) / (grid.width * grid.nx))
            for name, (lat, lon) in AREAS.items()
        }
    else:
        places = _most_crowded(noon.training)
    found = []
    for name, (fy, fx) in places.items():
        crowds = [_crowd(shares, fy, fx) for shares in (noon.training, noon.synthetic)]
        found.append((name, fx * grid.nx - 0.5, fy * grid.ny - 0.5, crowds[0], crowds[1]))
    return found


def _most_crowded(shares: NDArray[np.float64]) -> dict[str, tuple[float, float]]:
    """The two cells, well apart, whose 3 x 3 areas have most people; as parts of the box."""
    rows, columns = shares.shape
    padded = np.pad(shares, 1)
    around = sum(padded[dy : dy + rows, dx : dx + columns] for dy in range(3) for dx in range(3))
    around = np.array(around)
    found = {}
    for name in ("Centre", "Second centre"):
        y, x = divmod(int(around.argmax()), columns)
        found[name] = ((y + 0.5) / rows, (x + 0.5) / columns)
        around[max(0, y - APART) : y + APART + 1, max(0, x - APART) : x + APART + 1] = 0
    return found


def _crowd(shares: NDArray[np.float64], fy: float, fx: float) -> float:
    """People in the 3 x 3 cells around a point, against the average cell."""
    rows, columns = shares.shape
    y, x = int(fy * rows), int(fx * columns)
    near = shares[max(0, y - 1) : y + 2, max(0, x - 1) : x + 2]
    return float(near.mean() * shares.size)
