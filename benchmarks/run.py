"""`make bench`: every benchmark module in turn, each in its own process; results as a table.

`python benchmarks/run.py [--quick] [room ...]`
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="*", help="which rooms; all by default")
    parser.add_argument("--quick", action="store_true", help="small sizes, as a smoke run")
    parser.add_argument("--out", type=Path, default=Path("out/bench"), help="folder of results")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        run_inside(given.inside, given.quick, given.out)
        return
    rooms = given.rooms or sorted(p.stem.removeprefix("bench_") for p in HERE.glob("bench_*.py"))
    given.out.mkdir(parents=True, exist_ok=True)
    failed = []
    for room in rooms:
        print(f"\n== {room}", flush=True)
        command = [sys.executable, __file__, "--inside", room, "--out", str(given.out)]
        if subprocess.run(command + ["--quick"] * given.quick, check=False).returncode:
            failed.append(room)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def run_inside(room: str, quick: bool, out: Path) -> None:
    from harness import Bench

    bench = Bench(quick=quick)
    importlib.import_module(f"bench_{room}").run(bench)
    result = {
        "room": room,
        "when": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "commit": git("rev-parse", "HEAD") + ("+changes" if git("status", "--porcelain") else ""),
        "hardware": f"{cpu_name()}, {os.cpu_count()} cores, {platform.system()}",
        "python": platform.python_version(),
        "command": f"python benchmarks/run.py {'--quick ' if quick else ''}{room}",
        "rows": [vars(row) for row in bench.rows],
    }
    (out / f"{room}.json").write_text(json.dumps(result, indent=1) + "\n")


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False, cwd=HERE)
    return done.stdout.strip()


def cpu_name() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
