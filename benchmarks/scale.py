"""VisitProb-R against the number of users, beside one float32 product of the same size.

`python benchmarks/scale.py --users 1000 5000 20000 --out out/scale.json` measures each size in a
process of its own and adds to the file; `--plot FILE.png` draws it. `--files` writes Parquet files
and attacks those in parts, as `tracecup attack reid` does beyond 12 million rows.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

REGIONS = 1024
STRIPE = 2048
"""Rows of the product that are really multiplied; its time is scaled to all rows."""

STRIPE_PAIRS = 1 << 28
"""Beyond so many entries the stripe has fewer rows."""

WARM_USERS = 5000
"""Users of the attack that compiles the kernels before; from 4,097 on there are more of them."""


def traces(
    users: int, events: int, places: int, seed: int, regions: int = REGIONS
) -> list[NDArray[np.int32]]:
    """Two traces of the same users; each has places of her own, some far more usual than others."""
    random = np.random.default_rng(seed)
    popular = np.cumsum(random.dirichlet(np.full(regions, 0.3)))
    usual = np.cumsum(1.0 / np.arange(1, places + 1))
    parts = [np.empty((users, events), dtype=np.int32) for _ in "ab"]
    for low in range(0, users, 10_000):
        at = slice(low, min(low + 10_000, users))
        n = at.stop - at.start
        own = np.searchsorted(popular, random.random((n, places))).clip(0, regions - 1)
        for part in parts:
            pick = np.searchsorted(usual, random.random((n, events)) * usual[-1])
            part[at] = np.take_along_axis(own, pick.clip(0, places - 1), axis=1)
    return parts


def product_seconds(users: int) -> tuple[float, float]:
    """Wall and processor seconds of one float32 product users x 1024 by 1024 x users through BLAS.

    A stripe of it is measured, the median of three.
    """
    random = np.random.default_rng(0)
    rows, block = min(users, STRIPE, max(1, STRIPE_PAIRS // users)), 8192
    left = random.random((rows, REGIONS), dtype=np.float32)
    right = random.random((REGIONS, min(users, block)), dtype=np.float32)
    left @ right
    times = []
    for _ in range(3):
        clock = Clock()
        for low in range(0, users, block):
            left @ right[:, : min(block, users - low)]
        times.append(clock.told())
    wall, cpu = sorted(times)[1]
    return wall * users / rows, cpu * users / rows


class Clock:
    """Wall and processor seconds since its making; the latter hold on a machine that is shared."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def told(self) -> tuple[float, float]:
        return time.perf_counter() - self._wall, time.process_time() - self._cpu


def measured(
    users: int, events: int, places: int, files: bool, regions: int = REGIONS
) -> dict[str, Any]:
    """Seconds, peak memory and ratio of one size, in this process."""
    from tracecup import City, Grid, SetTraces, Traces
    from tracecup.attack import Case, VisitProbR
    from tracecup.attack.outofcore import identify_files
    from tracecup.city import ContestClock
    from tracecup.engine import thread_count
    from tracecup.traces.files import write_released, write_traces

    side = math.isqrt(regions)
    city = City(Grid.from_metres(side, side, width_m=341.25, height_m=346.875))
    clock = ContestClock.regular(days=max(1, events // 20), slots=min(events, 20))
    attack = VisitProbR()
    first, second = traces(min(users, WARM_USERS), events, places, 9, side * side)
    known, shown = Traces.of(first, clock.reference), Traces.of(second, clock.original)
    attack.identify(Case(city, known, SetTraces.of_traces(shown)))  # kernels are compiled
    first, second = traces(users, events, places, 1, side * side)
    order = np.random.default_rng(2).permutation(users)
    distinct = float(np.mean([len(set(row)) for row in second[:500].tolist()]))
    known = Traces.of(first, clock.reference)
    shown = Traces.of(second[order], clock.original)
    del first, second
    if files:
        with TemporaryDirectory() as folder:
            paths = Path(folder) / "reftraces.parquet", Path(folder) / "pubtraces.parquet"
            write_traces(paths[0], known)
            write_released(
                paths[1],
                SetTraces.of_traces(shown).renamed(np.arange(users + 1, 2 * users + 1)),
            )
            del known, shown
            watch = Clock()
            table = identify_files(attack, city, clock, *paths)
            seconds, cpu = watch.told()
    else:
        case = Case(city, known, SetTraces.of_traces(shown))
        watch = Clock()
        table = attack.identify(case)
        seconds, cpu = watch.told()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    product, product_cpu = product_seconds(users)
    return {
        "users": users, "events": events, "distinct": distinct, "files": files,
        "regions": side * side, "threads": thread_count(),
        "seconds": seconds, "product": product, "ratio": seconds / product, "peak_mb": peak,
        "cpu": cpu, "product_cpu": product_cpu, "cpu_ratio": cpu / product_cpu,
        "hits": float((table.users == order).mean()),
    }  # fmt: skip


def exponent(rows: list[dict[str, Any]], by: str) -> float:
    """The power of users, regions or events by which processor seconds grow, beyond 5,000 users."""
    large = [row for row in rows if row["users"] >= 5000]
    if len({row[by] for row in large}) < 2:
        return math.nan
    logs = np.log([[row[by], row["cpu"]] for row in large])
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Processor seconds of attack and product, and their ratio, against users."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, (top, low) = plt.subplots(
        2, 1, sharex=True, figsize=(7, 6), height_ratios=[2, 1], layout="constrained"
    )
    lines = sorted({(row["files"], row["events"]) for row in rows})
    for (files, events), mark in zip(lines, "os^*vD", strict=False):
        mine = [row for row in rows if (row["files"], row["events"]) == (files, events)]
        if len(mine) == 1 and not files:
            continue
        mine.sort(key=lambda row: row["users"])
        users = [row["users"] for row in mine]
        name = f"VisitProb-R, {events} events ({mine[-1]['distinct']:.0f} regions a user)"
        name += ", from Parquet files" * files
        (line,) = top.plot(users, [row["cpu"] for row in mine], marker=mark, label=name)
        low.plot(users, [row["cpu_ratio"] for row in mine], marker=mark, color=line.get_color())
    every = sorted({row["users"]: row["product_cpu"] for row in rows}.items())
    top.plot(*zip(*every, strict=True), "k--", label="float32 product, users x 1024 x users")
    top.set(xscale="log", yscale="log", ylabel="processor seconds")
    top.axvline(32_768, color="grey", linewidth=0.8)
    top.annotate("the cliff was here", (32_768, top.get_ylim()[0] * 2), rotation=90, ha="right")
    low.axhline(1.5, color="grey", linestyle=":")
    low.set(xlabel="users", ylabel="ratio to the product", ylim=(0, 1.7))
    top.legend(fontsize="small")
    figure.savefig(path, dpi=120)


def main() -> None:
    """Measure the sizes asked for, each in its own process, and draw."""
    told = argparse.ArgumentParser(description=__doc__)
    told.add_argument("--users", type=int, nargs="*", default=[])
    told.add_argument("--events", type=int, default=40)
    told.add_argument("--places", type=int, default=400)
    told.add_argument("--regions", type=int, default=REGIONS, help="a square number")
    told.add_argument("--files", action="store_true")
    told.add_argument("--out", type=Path, default=Path("out/scale.json"))
    told.add_argument("--plot", type=Path)
    told.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    asked = told.parse_args()
    if asked.one:
        sizes = (asked.users[0], asked.events, asked.places)
        print(json.dumps(measured(*sizes, asked.files, asked.regions)))
        return
    rows = json.loads(asked.out.read_text()) if asked.out.exists() else []
    for users in asked.users:
        words = [sys.executable, __file__, "--one", "--users", str(users)]
        words += ["--events", str(asked.events), "--places", str(asked.places)]
        words += ["--regions", str(asked.regions), *["--files"] * asked.files]
        row = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)
        print(
            f"{users:9d} users x {asked.events} events ({row['distinct']:.0f} regions): "
            f"{row['seconds']:9.3f} s, {row['ratio']:.2f} x product; "
            f"of processors {row['cpu']:.1f} s, {row['cpu_ratio']:.2f} x; {row['peak_mb']:.0f} MB"
            f"{', from files' * asked.files}",
            flush=True,
        )
        rows.append(row)
        asked.out.parent.mkdir(parents=True, exist_ok=True)
        asked.out.write_text(json.dumps(rows, indent=1) + "\n")
    sizes = ("users", "regions", "events")
    for by in sizes:
        same = {other: rows[-1][other] for other in sizes if other != by} if rows else {}
        alike = [
            row for row in rows
            if not row["files"] and all(row[name] == value for name, value in same.items())
        ]  # fmt: skip
        power = exponent(alike, by)
        if not math.isnan(power):
            print(f"processor seconds grow with {by} to the power of {power:.2f} ({same})")
    if asked.plot:
        draw([row for row in rows if row["regions"] == REGIONS], asked.plot)


if __name__ == "__main__":
    main()
