"""All metrics of a synthetic file, against Python's csv module reading that file ten times."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness import Bench
from tracecup import City, Clock, Grid, SetTraces, Traces
from tracecup.city import Places
from tracecup.study.synthesizers import evaluate_synthesizer
from tracecup.usefulness import (
    DayTraces,
    Records,
    Timetable,
    evaluate_synthetic,
    poi_accuracy,
    read_day_traces,
    read_records,
    release_tm_emd,
    release_tp_tv_top50,
)

Ints = NDArray[np.int64]


def walks(rng: np.random.Generator, chains: int, steps: int, side: int) -> Ints:
    """Lazy walks on a square grid: six of ten steps stay, as in the people-flow data."""
    at = rng.integers(0, side, (chains, 2))
    out = np.empty((chains, steps), dtype=np.int64)
    for t in range(steps):
        out[:, t] = at[:, 1] * side + at[:, 0]
        moving = rng.random((chains, 1)) < 0.4
        at = np.clip(at + moving * rng.integers(-2, 3, (chains, 2)), 0, side - 1)
    return out


def write_records(path: Path, first: int, traces: Ints) -> None:
    with path.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(
            ["user_index", "poi_index", "category", "unixtime", "dow", "hour", "min", "distance"]
        )
        for u, trace in enumerate(traces.tolist(), first):
            out.writerows(
                (u, place, "-", f"{1.4e9 + 1200 * t:.1f}", "Sun", 9 + t // 3, 20 * (t % 3), 0)
                for t, place in enumerate(trace)
            )


def write_days(path: Path, days: Ints) -> None:
    with path.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(
            ["user", "trace_no", "time_slot", "time_instant", "poi_index", "category", "loglli"]
        )
        for u, user in enumerate(days.tolist()):
            for d, day in enumerate(user):
                out.writerows((u, d, t, 0, place, "-", -1.234567) for t, place in enumerate(day))


def read_with_csv(path: Path) -> int:
    with path.open(newline="") as file:
        return sum(1 for _ in csv.reader(file))


def run(bench: Bench) -> None:
    people_flow(bench)
    check_ins(bench)
    releases(bench)


def people_flow(bench: Bench) -> None:
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        train, test, synthetic = (Path(folder) / f"{name}.csv" for name in ("a", "b", "c"))
        write_records(train, 0, walks(rng, 500, 30, 20))
        write_records(test, 500, walks(rng, 500, 30, 20))
        write_days(synthetic, walks(rng, 5000, 30, 20).reshape(500, 10, 30))
        size = "500 users x 10 days x 30"
        once = bench.measure(
            "csv module reads the file once", size, lambda: read_with_csv(synthetic)
        )
        stick = ("csv module, ten times", 10 * once)

        def everything() -> object:
            return evaluate_synthesizer(
                read_records(train, 400), read_records(test, 400), read_day_traces(synthetic, 400)
            )

        bench.measure(
            "read three files, all metrics and attacks", size, everything, yardstick=stick, repeat=9
        )
        bench.measure(
            "read the synthetic file",
            size,
            lambda: read_day_traces(synthetic, 400),
            yardstick=stick,
            repeat=9,
        )


def check_ins(bench: Bench) -> None:
    """The size of a check-in city: 1024 places, 24 instants, 20 days; usefulness only."""
    rng = np.random.default_rng(2)
    users = 1000 if bench.quick else 32_056
    place = walks(rng, users, 24, 32)
    real = [
        Records.of(
            np.repeat(np.arange(users), 24),
            traces.ravel(),
            np.tile(np.arange(24), users),
            n_locations=1024,
            timetable=Timetable(0, 60, 12 * 2, 12),
        )
        for traces in (place, place[::-1])
    ]
    days = walks(rng, users * 20, 24, 32).reshape(users, 20, 24)
    synthetic = DayTraces.of(days, n_locations=1024, slots=12)
    size = f"{users} users x 20 days x 24"
    flat = synthetic.locations.ravel()
    unit = bench.measure("numpy sorts the locations", size, lambda: np.sort(flat))
    bench.measure(
        "usefulness of check-in traces",
        size,
        lambda: evaluate_synthetic(real[0], real[1], synthetic),
        yardstick=("numpy sorting", unit),
    )


def releases(bench: Bench) -> None:
    """A contest release whose cells are blocks of 4 x 4 regions, and 5000 places."""
    rng = np.random.default_rng(3)
    clock = Clock.regular(2 if bench.quick else 20)
    grid = Grid.from_box(32, 32, south=35.65, north=35.75, west=139.68, east=139.80)
    original = Traces.of(walks(rng, 2000, clock.times, 32), clock)
    corner = (original.regions // 128) * 128 + (original.regions % 32) // 4 * 4
    block = (np.arange(4)[:, None] * 32 + np.arange(4)).ravel()
    cells = (corner[:, :, None] + block).astype(np.int32)
    offsets = np.arange(original.regions.size + 1) * 16
    released = SetTraces(offsets, cells.ravel(), original.users, clock)
    lat, lon = rng.uniform(35.65, 35.75, 5000), rng.uniform(139.68, 139.80, 5000)
    spots = zip(lat, lon, grid.region_at(lat, lon), strict=True)
    food = Places.of([("food", float(a), float(b), int(r)) for a, b, r in spots])
    city = City(grid, places=food)
    size = f"{original.n_users} x {original.times}, 4 x 4 blocks"
    unit = bench.measure("numpy sorts the cells", size, lambda: np.sort(released.regions))
    stick = ("numpy sorting", unit)
    for stage, work in (
        ("TP-TV-Top50 of a release", lambda: release_tp_tv_top50(city, original, released)),
        ("TM-EMD of a release", lambda: release_tm_emd(city, original, released)),
        ("POI accuracy of a release", lambda: poi_accuracy(city, original, released)),
    ):
        bench.measure(stage, size, work, yardstick=stick)
