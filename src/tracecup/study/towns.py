"""Training and testing people for the studies of synthesizers, and five synthesizers on them.

Check-ins of the user's Foursquare file, the public people flow, check-ins of the built-in city.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tracecup.city import Grid
from tracecup.datasets import CITIES, Dataset, Metropolis, Split, read_foursquare
from tracecup.errors import InvalidTraces
from tracecup.records import TIMETABLES, Records, read_records
from tracecup.rng import generator
from tracecup.study.context import Context
from tracecup.study.results import BUILT_IN, PEOPLE_FLOW_ATTRIBUTION, Source
from tracecup.synth import PPMTF, SGD, Model, PPMTFPlus, Training, Uniform
from tracecup.usefulness import DayTraces, Diversity, diversity, evaluate_synthetic
from tracecup.usefulness.synthetic import Row

QUICK_CITIES = ("TKY",)
HOURLY = TIMETABLES["check-ins"]
PEOPLE_FLOW = Source("Public people-flow traces, Tokyo, 20 x 20 cells", PEOPLE_FLOW_ATTRIBUTION)
CHECK_INS = Source("Foursquare check-ins from the user's own file (Yang et al.)")
SIDE, PEOPLE_FLOW_DAYS = 20, 10
PEOPLE_FLOW_GRID = Grid.from_box(SIDE, SIDE, south=35.65, north=35.75, west=139.68, east=139.80)
INHABITANTS, QUICK_INHABITANTS = 10_000, 1000
# Four weeks in which one arrival in ten is told: some 18 check-ins a person, as files have them.
WEEKS, TOLD = 4, 0.1
DAYS = 20
ITERATIONS, QUICK_ITERATIONS = 100, 25


@dataclass(frozen=True, eq=False)
class Town:
    """People to learn from and people to compare with.

    `days` synthetic days are made of each virtual user; `coordinates` are the cells of the
    locations where these are not a square grid.
    """

    name: str
    source: Source
    train: Records
    test: Records
    training: Training
    days: int = DAYS
    coordinates: NDArray[np.int64] | None = None

    def made(self, model: Model, seed: int) -> DayTraces:
        """As many virtual users as there are training users."""
        per_slot = self.training.instants_per_slot
        traces = model.sample(self.training.n_users, self.days, seed, instants=per_slot)
        return DayTraces.of_traces(traces, self.training.n_locations, per_slot)

    @property
    def sizes(self) -> dict[str, int]:
        """How much data this is."""
        return {
            "training users": self.train.n_users,
            "testing users": self.test.n_users,
            "training records": len(self.train),
            "locations": self.train.n_locations,
        }


@dataclass(frozen=True, eq=False)
class Measured:
    """A town and how its synthesizers did: diversity of two teams, usefulness of the first.

    `usefulness` also has the rows Uniform and Real.
    """

    name: str
    source: Source
    sizes: dict[str, int]
    diversity: dict[str, Diversity]
    usefulness: dict[str, Row]


@cache
def measured(context: Context) -> tuple[Measured, ...]:
    """Every town, measured once for Figures 16 and 17 together; only numbers are kept."""
    return tuple(_measure(town, context) for town in towns(context))


def _measure(town: Town, context: Context) -> Measured:
    apart, useful = {}, {}
    rows: dict[str, Row] = {}
    for name, model in _models(town, context):
        seeds = (context.seed_of("team", town.name, name, k) for k in (1, 2))
        team, other = (town.made(model, seed) for seed in seeds)
        apart[name] = diversity(team, other)
        found = evaluate_synthetic(town.train, town.test, team, town.coordinates)
        useful[name] = found.synthetic
        rows = {"Uniform": found.uniform, "Real": found.real}
    return Measured(town.name, town.source, town.sizes, apart, useful | rows)


def _models(town: Town, context: Context) -> Iterator[tuple[str, Model]]:
    """One training serves PPMTF and PPMTF+."""
    iterations = QUICK_ITERATIONS if context.quick else ITERATIONS
    fitted = PPMTF(iterations=iterations).fit(town.training, rng=context.seed_of("fit", town.name))
    yield "PPMTF", fitted
    yield "PPMTF+", fitted.using(PPMTFPlus(iterations=iterations))
    yield "SGD", SGD().fit(town.training)
    yield "Uniform", Uniform().fit(town.training)


def towns(context: Context) -> Iterator[Town]:
    """All that can be had here: Foursquare cities, people flow, the built-in city."""
    files = context.foursquare
    if files is not None:
        for name in QUICK_CITIES if context.quick else CITIES:
            try:
                data = read_foursquare(*files, box=CITIES[name])
            except InvalidTraces:  # a part of the file, without this city
                continue
            cells = np.asarray(data.city.places.regions, dtype=np.int64)
            points = np.column_stack([cells % SIDE, cells // SIDE])
            yield _cut(name, CHECK_INS, data.split(), coordinates=points)
    if context.has("people-flow"):
        yield people_flow(context)
    town = Metropolis(QUICK_INHABITANTS if context.quick else INHABITANTS)
    yield _cut("built-in city", BUILT_IN, check_ins(town, context.seed_of("told")).split())


def people_flow(context: Context) -> Town:
    """The public people flow: 500 + 500 people, one day each, 30 slots of 20 minutes."""
    train, test = (
        read_records(context.path(f"ppmtfplus_pf/{name}_TK.csv"), SIDE * SIDE, dates=False)
        for name in ("traintraces", "testtraces")
    )
    training = Training.of_records(train).placed(PEOPLE_FLOW_GRID)
    return Town("people flow", PEOPLE_FLOW, train, test, training, PEOPLE_FLOW_DAYS)


def built_in_flow(people: int) -> Town:
    """The built-in city cut like the people flow: half of the people train, the others test."""
    town = Metropolis(people, SIDE, SIDE, region_width_m=546, region_height_m=555)
    records = town.records(days=1, start=9 * 60, end=19 * 60, interval=20, slots=30)
    split = Dataset(records, town.city).split(people // 2, people - people // 2)
    cut = _cut("built-in city", BUILT_IN, split, PEOPLE_FLOW_DAYS)
    return replace(cut, training=cut.training.placed(town.city.grid))


def check_ins(town: Metropolis, seed: int) -> Dataset:
    """What people of the built-in city would tell: a tenth of their arrivals, to the hour."""
    instants = HOURLY.instants
    traces = town.traces(7 * WEEKS, HOURLY.start, HOURLY.interval, instants)
    told = generator(seed).random(traces.shape) < TOLD
    told[:, 0] = False
    told[:, 1:] &= traces.regions[:, 1:] != traces.regions[:, :-1]
    user, time = np.nonzero(told)
    day, instant = np.divmod(time, instants)
    seconds = 86_400.0 * day + 60.0 * HOURLY.interval * instant
    records = Records(
        user.astype(np.int32),
        traces.regions[user, time],
        day,
        instant,
        seconds,
        town.city.n_regions,
        HOURLY,
        traces.users,
    )
    return Dataset(records.take_users(np.unique(user)), town.city)


def _cut(
    name: str,
    source: Source,
    split: Split,
    days: int = DAYS,
    coordinates: NDArray[np.int64] | None = None,
) -> Town:
    training = Training.of_records(split.training)
    return Town(name, source, split.training, split.testing, training, days, coordinates)
