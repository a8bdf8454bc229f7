"""The inverted index with upper bounds against the product in vector registers, on the same counts.

`python benchmarks/inverted.py --users 20000 50000 100000 --out out/inverted.json` measures
VisitProb-R by both in one process for each size, in processor seconds, and compares their tables.
`--noise` moves a share of the released events anywhere, `--regions` and `--events` change how
sparse counts are.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from scale import Clock, traces


def measured(users: int, events: int, noise: float, regions: int) -> dict[str, Any]:
    """Both ways on the same traces; `noise` is the share of released events at random."""
    from tracecup import City, Grid, SetTraces, Traces
    from tracecup.attack import Case, VisitProbR
    from tracecup.attack.models import products
    from tracecup.city import ContestClock
    from tracecup.traces import sparse_visit_counts

    side = math.isqrt(regions)
    city = City(Grid.from_metres(side, side, width_m=341.25, height_m=346.875))
    clock = ContestClock.regular(days=max(1, events // 20), slots=min(events, 20))
    random = np.random.default_rng(3)

    def case_of(m: int) -> Case:
        known, shown = traces(m, events, 400, 1, regions)
        moved = random.random(shown.shape) < noise
        shown[moved] = random.integers(regions, size=int(moved.sum()))
        cells = SetTraces.of_traces(Traces.of(shown, clock.original))
        return Case(city, Traces.of(known, clock.reference), cells)

    small, case = case_of(256), case_of(users)
    usual, seconds, tables = products.MOST_SHARED, {}, []
    for way, most in (("product", -1.0), ("index", 1.0)):
        products.MOST_SHARED = most
        VisitProbR().identify(small)  # kernels are compiled
        watch = Clock()
        tables.append(VisitProbR().identify(case).users)
        seconds[way] = watch.told()[1]
    known = sparse_visit_counts(case.reference, regions)
    shown = sparse_visit_counts(case.released.as_traces(), regions)
    visited = [np.bincount(one.indices, minlength=regions).astype(float) for one in (known, shown)]
    shared = float(visited[0] @ visited[1]) / (shown.nnz * users)
    return {
        "users": users, "events": events, "noise": noise, "regions": regions,
        "regions_a_user": shown.nnz / users, "shared": shared, "lists_taken": shared <= usual,
        "product_cpu": seconds["product"], "index_cpu": seconds["index"],
        "ratio": seconds["index"] / seconds["product"],
        "equal": bool((tables[0] == tables[1]).all()),
    }  # fmt: skip


def main() -> None:
    """Measure the sizes asked for, each in its own process."""
    told = argparse.ArgumentParser(description=__doc__)
    told.add_argument("--users", type=int, nargs="*", default=[20_000])
    told.add_argument("--events", type=int, default=40)
    told.add_argument("--regions", type=int, default=1024, help="a square number")
    told.add_argument("--noise", type=float, default=0.0)
    told.add_argument("--out", type=Path, default=Path("out/inverted.json"))
    told.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    asked = told.parse_args()
    if asked.one:
        print(json.dumps(measured(asked.users[0], asked.events, asked.noise, asked.regions)))
        return
    rows = json.loads(asked.out.read_text()) if asked.out.exists() else []
    for users in asked.users:
        words = [sys.executable, __file__, "--one", "--users", str(users), "--events"]
        words += [str(asked.events), "--noise", str(asked.noise), "--regions", str(asked.regions)]
        row = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)
        print(json.dumps(row), flush=True)
        rows.append(row)
        asked.out.parent.mkdir(parents=True, exist_ok=True)
        asked.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
