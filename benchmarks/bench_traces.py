"""Reading, validating and scoring a submission, against polars reading it as strings."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from harness import Bench
from tracecup import City, Clock, Grid, SetTraces, Traces
from tracecup.score import utility_score
from tracecup.traces.files import (
    read_obfuscated,
    read_traces,
    write_obfuscated,
    write_traces,
)


def submission(users: int, clock: Clock, n_regions: int) -> tuple[Traces, SetTraces]:
    """Originals, and obfuscated cells of which a third are sets of 2 to 16 regions."""
    rng = np.random.default_rng(1)
    original = Traces.of(rng.integers(0, n_regions, (users, clock.times)), clock)
    cells = users * clock.times
    sizes = np.where(rng.random(cells) < 1 / 3, rng.integers(2, 17, cells), 1)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    regions = rng.integers(0, n_regions, offsets[-1], dtype=np.int32)
    return original, SetTraces(offsets, regions, original.users, clock)


def run(bench: Bench) -> None:
    clock = Clock.regular(2 if bench.quick else 20, first_time=400)
    city = City(Grid.from_box(32, 32, south=35.65, north=35.75, west=139.68, east=139.80))
    original, cells = submission(2000, clock, city.n_regions)
    size = f"{original.n_users} x {original.times}, sets 2-16"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "anotraces.csv"
        write_obfuscated(path, cells)

        def read() -> SetTraces:
            return read_obfuscated(
                path, users=original.n_users, clock=clock, n_regions=city.n_regions
            )

        polars = bench.measure(
            "polars reads it as strings",
            size,
            lambda: pl.read_csv(path, infer_schema=False),
            repeat=9,
        )
        stick = ("polars reading", polars)
        bench.measure(
            "read, validate, s_U with per-user values",
            size,
            lambda: utility_score(city, original, read()),
            yardstick=stick,
            repeat=9,
        )
        bench.measure("read, validate", size, read, yardstick=stick, repeat=9)
        bench.measure(
            "write", size, lambda: write_obfuscated(path, cells), yardstick=stick, repeat=3
        )
        for ending in ("csv.gz", "csv.zst", "parquet"):
            packed = Path(folder) / f"anotraces.{ending}"
            write_obfuscated(packed, cells)
            bench.measure(
                f"read .{ending}",
                size,
                lambda packed=packed: read_obfuscated(
                    packed, users=original.n_users, clock=clock, n_regions=city.n_regions
                ),
                yardstick=stick,
            )
        plain = Path(folder) / "orgtraces.csv"
        write_traces(plain, original)
        bench.measure("read originals", size, lambda: read_traces(plain), yardstick=stick)
