"""Speed of the generated city and of the loaders.

The city is compared with NumPy sorting ten million doubles, loaders with Python's csv module
merely splitting the same file.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from harness import Bench
from tracecup.datasets import (
    BEIJING,
    CITIES,
    CONTEST,
    TOKYO_CENTRE,
    Box,
    Metropolis,
    read_csv,
    read_foursquare,
    read_gowalla,
    read_peopleflow,
)


def run(bench: Bench) -> None:
    people = 1000 if bench.quick else 10_000
    _metropolis(bench, people)
    with tempfile.TemporaryDirectory() as folder:
        _loaders(bench, Path(folder), 20_000 if bench.quick else 500_000)


def _metropolis(bench: Bench, people: int) -> None:
    numbers = np.random.default_rng(0).random(10_000_000)
    sort = ("sort of 10^7 doubles", bench.seconds(lambda: np.sort(numbers)))
    bench.measure(
        "city and people", f"{people} people", lambda: _town(people).inhabitants, yardstick=sort
    )
    town = _town(people)
    town.traces(1, interval=60)
    for days, interval in ((1, 5), (1, 10), (28, 60)):
        size = f"{people} people, {days} d, {interval} min"

        def work(days: int = days, interval: int = interval) -> object:
            return town.traces(days, interval=interval)

        seconds = bench.measure("days of the inhabitants", size, work, yardstick=sort)
        bench.note(f"{1e6 * seconds / people / days:.1f} microseconds per person and day")
    bench.measure("training records, 3 days", f"{people} people", town.records, yardstick=sort)


def _town(people: int) -> Metropolis:
    return Metropolis(n_inhabitants=people, seed=1)


def _loaders(bench: Bench, folder: Path, rows: int) -> None:
    random = np.random.default_rng(1)
    user = np.sort(random.integers(0, rows // 100, rows))
    minute = random.integers(0, 1440, rows)

    def points(box: Box) -> tuple[np.ndarray, np.ndarray]:
        height, width = box.north - box.south, box.east - box.west
        y = random.uniform(box.south - height, box.north + height, rows)
        return y, random.uniform(box.west - width, box.east + width, rows)

    def write(name: str, header: str, line: Callable[[int], str]) -> Path:
        path = folder / name
        path.write_text(header + "".join(line(k) for k in range(rows)))
        return path

    def iso(k: int) -> str:
        return f"2013-07-01 {minute[k] // 60:02d}:{minute[k] % 60:02d}:07"

    y, x = points(TOKYO_CENTRE)
    flow = write(
        "2013-07-01.csv",
        "id,gender,time,lat,lon,category,sub,state,number\n",
        lambda k: f"{user[k]},1,{iso(k)},{y[k]:.8f},{x[k]:.8f},,,MOVE,\n",
    )
    _compare(
        bench,
        "people flow, raw",
        flow,
        rows,
        lambda: read_peopleflow(flow, timetable=CONTEST, chain=False),
    )

    box = CITIES["NYC"]
    y, x = points(box)
    venues = folder / "venues.txt"
    n_venues = rows // 10
    venues.write_text(
        "".join(f"{k:024x}\t{y[k]:.6f}\t{x[k]:.6f}\tBar\tUS\n" for k in range(n_venues))
    )
    venue = random.integers(0, n_venues, rows)
    checkins = write(
        "checkins.txt",
        "",
        lambda k: (
            f"{user[k]}\t{venue[k]:024x}\tTue Apr 03 {minute[k] // 60:02d}:{minute[k] % 60:02d}"
            ":06 +0000 2012\t-240\n"
        ),
    )
    _compare(
        bench,
        "Foursquare check-ins",
        checkins,
        rows,
        lambda: read_foursquare(checkins, venues, box=box),
    )

    gowalla = write(
        "gowalla.txt",
        "",
        lambda k: f"{user[k]}\t{iso(k).replace(' ', 'T')}Z\t{y[k]:.10f}\t{x[k]:.10f}\t{venue[k]}\n",
    )
    _compare(bench, "Gowalla check-ins", gowalla, rows, lambda: read_gowalla(gowalla, box=box))

    y, x = points(BEIJING)
    table = write(
        "table.csv",
        "user,time,lat,lon\n",
        lambda k: f"u{user[k]},{iso(k)},{y[k]:.6f},{x[k]:.6f}\n",
    )
    _compare(bench, "generic CSV", table, rows, lambda: read_csv(table, box=BEIJING))


def _compare(bench: Bench, stage: str, path: Path, rows: int, work: Callable[[], object]) -> None:
    def split() -> int:
        with path.open(newline="") as file:
            return sum(
                1 for _ in csv.reader(file, delimiter="\t" if path.suffix == ".txt" else ",")
            )

    yardstick = ("csv module", bench.seconds(split))
    size = f"{rows} lines, {path.stat().st_size / 1e6:.0f} MB"
    bench.measure(stage, size, work, yardstick=yardstick)
