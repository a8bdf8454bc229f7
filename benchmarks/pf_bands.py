"""PPMTF and PPMTF+ on the public people-flow data: five trainings against the known bands.

`TRACECUP_DATA=... python benchmarks/pf_bands.py` prints one row per seed and the means.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np

from tracecup.study.synthesizers import evaluate_synthesizer
from tracecup.synth import PPMTF, Day, PPMTFPlus, Training
from tracecup.usefulness import DayTraces, read_records

COLUMNS = ("reid_rate", "TP-TV", "TM-EMD", "membership_advantage")
# Ranges over seven trainings of the published program, alpha = 200.
BANDS = {
    "PPMTF": {"reid_rate": (0.012, 0.018), "TP-TV": (0.390, 0.400), "TM-EMD": (1.7, 1.95)},
    "PPMTF+": {
        "reid_rate": (0.001, 0.003),
        "TP-TV": (0.400, 0.413),
        "TM-EMD": (1.45, 1.65),
        "membership_advantage": (0.02, 0.06),
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
    training = Training.of_columns(
        train.users,
        train.locations,
        train.instants,
        n_users=train.n_users,
        n_locations=400,
        day=Day(30, 20, 9 * 60),
    )
    rows: dict[str, list[list[float]]] = {name: [] for name in BANDS}
    print(f"{'':14s}" + "".join(f"{name:>22s}" for name in COLUMNS))
    for seed in range(1, given.seeds + 1):
        started = time.perf_counter()
        model = PPMTF().fit(training, rng=seed)
        seconds = time.perf_counter() - started
        for method in (PPMTF(), PPMTFPlus()):
            traces = model.using(method).sample(500, days=10, rng=seed)
            found = evaluate_synthesizer(train, test, DayTraces.of_traces(traces, 400))
            row = [float(found.synthetic[name] or 0.0) for name in COLUMNS]
            rows[method.name].append(row)
            print(
                f"{method.name:7s} seed {seed}"
                + "".join(f"{number:22.4f}" for number in row)
                + f"   trained in {seconds:.1f} s",
                flush=True,
            )
    good = True
    for name, band in BANDS.items():
        means = dict(zip(COLUMNS, np.mean(rows[name], axis=0), strict=True))
        for column, (low, high) in band.items():
            half = (high - low) / 2
            inside = low - half <= means[column] <= high + half
            good &= inside
            print(
                f"{name:7s} mean {column:21s} {means[column]:.4f}  band {low:g} to {high:g}, "
                f"widened {low - half:g} to {high + half:g}: {'inside' if inside else 'OUTSIDE'}"
            )
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
