"""A raw table of positions as an owner has it, of people who do not exist.

`python examples/make_gps_table.py gps.csv` writes four weeks of 120 inhabitants of the built-in
city: a record every half an hour with a few metres of error, and with gaps.
"""

from __future__ import annotations

import argparse
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from tracecup.datasets import Metropolis

FIRST_DAY = datetime(2024, 3, 1)
INTERVAL, SLOTS = 30, 48
RECORDED = 0.6
ERROR_DEGREES = 0.0002


def write_table(out: Path, people: int = 120, days: int = 28, seed: int = 1) -> int:
    """Write the table; how many records it has."""
    town = Metropolis(n_inhabitants=people, seed=seed)
    regions = town.traces(days, 0, INTERVAL, SLOTS).regions
    grid, rng = town.city.grid, np.random.default_rng(seed)
    lines = ["user,time,lat,lon"]
    for person, trace in enumerate(regions):
        for event in np.flatnonzero(rng.random(len(trace)) < RECORDED):
            day, slot = divmod(int(event), SLOTS)
            time = FIRST_DAY + timedelta(days=day, minutes=INTERVAL * slot + int(rng.integers(30)))
            lat = grid.latitudes[grid.y[trace[event]]] + rng.normal(0, ERROR_DEGREES)
            lon = grid.longitudes[grid.x[trace[event]]] + rng.normal(0, ERROR_DEGREES)
            lines.append(f"p{person + 1:03d},{time:%Y-%m-%d %H:%M:%S},{lat:.6f},{lon:.6f}")
    out.write_text("\n".join(lines) + "\n")
    return len(lines) - 1


def main() -> None:
    """Write the table that the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--people", type=int, default=120)
    parser.add_argument("--days", type=int, default=28)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    records = write_table(given.out, given.people, given.days, given.seed)
    print(f"{records} records of {given.people} people on {given.days} days: {given.out}")


if __name__ == "__main__":
    main()
