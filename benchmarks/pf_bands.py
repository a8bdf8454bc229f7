"""PPMTF, PPMTF+ and SGLT on the public people-flow data: five trainings against known bands.

`TRACECUP_DATA=... python benchmarks/pf_bands.py` prints one row per seed and the means.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np

from tracecup import Grid, Traces
from tracecup.study.synthesizers import evaluate_synthesizer
from tracecup.synth import PPMTF, SGLT, PPMTFPlus, Training
from tracecup.usefulness import DayTraces, Records, read_records

COLUMNS = ("reid_rate", "TP-TV", "TM-EMD", "membership_advantage", "kept", "km", "stays")
GRID = Grid.from_box(20, 20, south=35.65, north=35.75, west=139.68, east=139.80)
# PPMTF: ranges over seven trainings of the published program, alpha = 200. SGLT: the published
# traces and a prototype whose classes were made as ours are; widened by nothing.
FORBIDDEN = (0.0, 0.1, 1.0)
BANDS = {
    "PPMTF": {"reid_rate": (0.012, 0.018), "TP-TV": (0.390, 0.400), "TM-EMD": (1.7, 1.95)},
    "PPMTF+": {
        "reid_rate": (0.001, 0.003),
        "TP-TV": (0.400, 0.413),
        "TM-EMD": (1.45, 1.65),
        "membership_advantage": (0.02, 0.06),
    },
    "SGLT(100,0)": {
        "reid_rate": (0.58, 0.74),
        "TP-TV": (0.25, 0.32),
        "TM-EMD": (0.42, 0.60),
        "kept": (0.47, 0.60),
        "km": (0.8, 1.4),
        "stays": (0.75, 0.80),
    },
    "SGLT(100,0.1)": {
        "reid_rate": (0.37, 0.50),
        "TP-TV": (0.32, 0.40),
        "TM-EMD": (0.55, 0.72),
        "kept": (0.28, 0.38),
        "km": (1.7, 2.5),
        "stays": (0.75, 0.80),
    },
    "SGLT(100,1)": {
        "reid_rate": (0.01, 0.07),
        "TP-TV": (0.43, 0.51),
        "TM-EMD": (0.78, 1.05),
        "kept": (0.0, 0.0),
        "km": (3.3, 4.5),
        "stays": (0.75, 0.81),  # published 0.787; 0.802 with a prototype of these classes
    },
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("TRACECUP_DATA", "")))
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    folder = given.data / "ppmtfplus_pf"
    if not folder.is_dir():
        sys.exit("set TRACECUP_DATA or --data to a copy of the public contest data")
    train = read_records(folder / "traintraces_TK.csv", 400)
    test = read_records(folder / "testtraces_TK.csv", 400)
    training = Training.of_records(train).placed(GRID)
    rows: dict[str, list[list[float]]] = {}
    print(f"{'':24s}" + "".join(f"{name:>22s}" for name in COLUMNS))
    for seed in range(1, given.seeds + 1):
        model, plain = PPMTF().fit(training, rng=seed), SGLT().fit(training, rng=seed)
        for name, chosen in [
            ("PPMTF", model),
            ("PPMTF+", model.using(PPMTFPlus())),
            *((str(method), plain.using(method)) for method in (SGLT(100, x) for x in FORBIDDEN)),
        ]:
            traces = chosen.sample(500, days=10, rng=seed)
            found = evaluate_synthesizer(train, test, DayTraces.of_traces(traces, 400)).synthetic
            held = found | against_seeds(train, traces)
            row = [float(held[column] or 0.0) for column in COLUMNS]
            rows.setdefault(name, []).append(row)
            print(f"{name:16s} seed {seed:2d}" + "".join(f"{x:22.4f}" for x in row), flush=True)
    good = True
    for name, band in BANDS.items():
        means = dict(zip(COLUMNS, np.mean(rows[name], axis=0), strict=True))
        for column, (low, high) in band.items():
            half = 0.0 if name.startswith("SGLT") else (high - low) / 2
            inside = low - half <= means[column] <= high + half
            good &= inside
            print(
                f"{name:14s} mean {column:21s} {means[column]:.4f}  band {low:g} to {high:g}, "
                f"widened {low - half:g} to {high + half:g}: {'inside' if inside else 'OUTSIDE'}"
            )
    sys.exit(0 if good else 1)


def against_seeds(train: Records, traces: Traces) -> dict[str, float]:
    """Share of slots as in the training user's day, distance to it, steps that stay."""
    days = traces.regions.reshape(500, -1, 30)
    seeds = np.broadcast_to(train.location.reshape(500, 1, 30), days.shape)
    return {
        "kept": float((days == seeds).mean()),
        "km": float(GRID.distance(days, seeds).mean()),
        "stays": float((days[..., 1:] == days[..., :-1]).mean()),
    }


if __name__ == "__main__":
    main()
