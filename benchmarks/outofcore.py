"""Memory against users for prior, Bayes decision and risk measures, from Parquet files in parts.

`python benchmarks/outofcore.py --users 5000 20000 --out out/outofcore.json` writes files of each
size and runs every job in a process of its own. Memory is what the process holds itself (RssAnon,
looked at every 10 ms, less what it held before the job); pages of its scratch files are the
system's cache. `--data-limit-mb` forbids it to hold more (RLIMIT_DATA).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from scale import Clock, traces

JOBS = (
    "Prior-T(habits=mixture)",
    "Bayes-R(channel=identity,match=argmax)",
    "Bayes-T(channel=identity,match=assignment)",
    "Bayes-R",
    "Unicity(4)",
    "unique location",
    "location",
    "location and time",
    "frequency",
    "probability",
    "proportion",
    "sequence",
    "home and work",
)


def held_kb() -> int:
    """Anonymous memory of this process now."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1])
    return 0


@contextmanager
def watched() -> Iterator[list[int]]:
    """The largest memory seen while this lasts, less what was there before."""
    before, found, ended = held_kb(), [0], threading.Event()

    def look() -> None:
        while not ended.wait(0.01):
            found[0] = max(found[0], held_kb() - before)

    watcher = threading.Thread(target=look, name="waits-only")
    watcher.start()
    try:
        yield found
    finally:
        ended.set()
        watcher.join()


def write_files(folder: Path, users: int, events: int, regions: int) -> None:
    """References, originals and the release of some users as Parquet files."""
    from tracecup import SetTraces, Traces
    from tracecup.traces.files import write_obfuscated, write_released, write_traces

    clock = clock_of(events)
    known, true = traces(users, events, 400, 1, regions)
    write_traces(folder / "ref.parquet", Traces.of(known, clock.reference))
    write_traces(folder / "org.parquet", Traces.of(true, clock.original))
    cells = SetTraces.of_traces(Traces.of(true, clock.original))
    write_obfuscated(folder / "ano.parquet", cells)
    order = np.random.default_rng(2).permutation(users)
    shuffled = cells.take_users(order).renamed(np.arange(users + 1, 2 * users + 1))
    write_released(folder / "pub.parquet", shuffled)


def clock_of(events: int) -> Any:
    """Days of 20 slots."""
    from tracecup.city import ContestClock

    return ContestClock.regular(days=max(1, events // 20), slots=min(events, 20))


def job(name: str, folder: Path, events: int, regions: int) -> Callable[[], bytes]:
    """What is measured: from files to the bytes of an answer."""
    from tracecup import City, Grid
    from tracecup.attack import InferenceAttack, ReidAttack
    from tracecup.attack.outofcore import identify_files, read_case
    from tracecup.registry import parse
    from tracecup.risk import home_work_risk, known_points_risk, unicity
    from tracecup.traces.largefiles import read_large_cells, read_large_traces, users_of

    side, clock = math.isqrt(regions), clock_of(events)
    city = City(Grid.from_metres(side, side, width_m=341.25, height_m=346.875))
    pair = (folder / "ref.parquet", folder / "pub.parquet")

    def attacked() -> bytes:
        method = parse("reid" if "-R" in name else "inference", name)
        if isinstance(method, ReidAttack):
            return identify_files(method, city, clock, *pair, rng=1).users.tobytes()
        assert isinstance(method, InferenceAttack)
        return method.infer(read_case(city, clock, *pair), 1).regions.tobytes()

    def counted() -> bytes:
        where: dict[str, Any] = {"n_regions": regions, "clock": clock.original}
        m = users_of(folder / "ano.parquet", clock.original)
        true = read_large_traces(folder / "org.parquet", "original", users=m, **where)
        cells = read_large_cells(folder / "ano.parquet", "obfuscated", **where)
        if name.startswith("Unicity"):
            return unicity(true, cells, points=4, rng=1, samples=100).per_user.tobytes()
        if name == "home and work":
            return home_work_risk(true, cells).risk.tobytes()
        return known_points_risk(name, true, cells, points=2, budget=2000).low.tobytes()

    return attacked if "-" in name else counted


def measured(
    name: str, users: int, events: int, regions: int, limit_mb: int | None
) -> dict[str, Any]:
    """One job on one size, in this process."""
    with TemporaryDirectory() as small, TemporaryDirectory() as large:
        write_files(Path(small), 300, events, regions)
        write_files(Path(large), users, events, regions)
        job(name, Path(small), events, regions)()  # kernels are compiled
        if limit_mb is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (limit_mb << 20, limit_mb << 20))
        watch, work = Clock(), job(name, Path(large), events, regions)
        with watched() as found:
            answer = work()
        seconds, cpu = watch.told()
    return {
        "job": name, "users": users, "events": events, "regions": regions, "cpu": cpu,
        "seconds": seconds, "held_mb": found[0] / 1024,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "scratch_beyond_mib": os.environ.get("TRACECUP_HELD_MIB", "512"),
        "answer": hashlib.sha256(answer).hexdigest()[:16],
    }  # fmt: skip


def power(rows: list[dict[str, Any]], of: str) -> float:
    """The power of users by which memory or time grows."""
    logs = np.log([[row["users"], max(row[of], 1e-3)] for row in rows])
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def main() -> None:
    """Measure the jobs and sizes asked for, each in its own process, and fit powers."""
    told = argparse.ArgumentParser(description=__doc__)
    told.add_argument("--users", type=int, nargs="*", default=[])
    told.add_argument("--jobs", nargs="*", default=list(JOBS))
    told.add_argument("--events", type=int, default=40)
    told.add_argument("--regions", type=int, default=1024, help="a square number")
    told.add_argument("--data-limit-mb", type=int)
    told.add_argument("--out", type=Path, default=Path("out/outofcore.json"))
    told.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    asked = told.parse_args()
    if asked.one:
        sizes = (asked.users[0], asked.events, asked.regions, asked.data_limit_mb)
        print(json.dumps(measured(asked.jobs[0], *sizes)))
        return
    rows = json.loads(asked.out.read_text()) if asked.out.exists() else []
    for name in asked.jobs:
        for users in asked.users:
            words = [sys.executable, __file__, "--one", "--jobs", name, "--users", str(users)]
            words += ["--events", str(asked.events), "--regions", str(asked.regions)]
            if asked.data_limit_mb is not None:
                words += ["--data-limit-mb", str(asked.data_limit_mb)]
            row = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)
            print(json.dumps(row), flush=True)
            rows.append(row)
            asked.out.parent.mkdir(parents=True, exist_ok=True)
            asked.out.write_text(json.dumps(rows, indent=1) + "\n")
    for name in dict.fromkeys(row["job"] for row in rows):
        mine = [row for row in rows if row["job"] == name]
        if len({row["users"] for row in mine}) > 1:
            print(f"{name}: memory grows with users to the power of {power(mine, 'held_mb'):.2f}, "
                  f"processor seconds of {power(mine, 'cpu'):.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
