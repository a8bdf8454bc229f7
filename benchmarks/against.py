"""Two commits side by side: every benchmark of both in turn, and how their times compare.

`python benchmarks/against.py [--quick] [--commit 9707cf4] [--rounds 3] [--out FILE] [room ...]`

The other commit is checked out into a folder of its own and takes turns with this tree, room by
room and round by round, so that whatever else the machine does falls on both. A row's figure is the
least of all rounds; the first round also compiles. Both sides are measured by this tree's harness:
in processor time, of the process and of the children that it waited for, and by the clock.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import harness

HERE = Path(__file__).parent
LONG_ENOUGH = 0.3  # seconds of runs; a short stage is repeated, since its least is then less chance
SIDES = ("before", "after")


@dataclass
class Turn(harness.Bench):
    """A bench that keeps, for each stage, the least processor and clock seconds of its runs."""

    least: dict[str, tuple[float, float]] = field(default_factory=dict)

    def timed(
        self, stage: str, size: str, work: Callable[[], object], repeat: int, warm: bool
    ) -> float:
        if warm:
            work()
        runs = [timed(work) for _ in range(repeat)]
        while warm and sum(clock for _, clock in runs) < LONG_ENOUGH:
            runs.append(timed(work))
        processor, clock = (min(column) for column in zip(*runs, strict=True))
        self.least[json.dumps([stage, size])] = (processor, clock)
        return clock


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Processor and clock seconds of `work`."""
    gc.collect()
    before, started = os.times(), time.perf_counter()
    precise = time.process_time()
    work()
    own, clock = time.process_time() - precise, time.perf_counter() - started
    after = os.times()
    children = after.children_user + after.children_system
    return own + children - before.children_user - before.children_system, clock


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "rooms", nargs="*", help="which rooms; by default all that both commits have"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--commit", default="9707cf4", help="the commit to compare with")
    parser.add_argument("--rounds", type=int, default=3, help="how often each side has its turn")
    parser.add_argument("--out", type=Path, help="write all figures to this file, too")
    parser.add_argument("--tree", type=Path, help="a checkout of the commit, if there is one")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        # The stages are the tree's own, measured by this harness, which is loaded already.
        sys.path.insert(0, str(given.tree / "benchmarks"))
        bench = Turn(quick=given.quick)
        importlib.import_module(f"bench_{given.inside}").run(bench)
        given.out.write_text(json.dumps(bench.least))
        return
    with tempfile.TemporaryDirectory() as scratch:
        other = given.tree or checkout(given.commit, Path(scratch) / "before")
        trees = dict(zip(SIDES, (other.resolve(), HERE.parent), strict=True))
        both = set.intersection(
            *(
                {p.stem[6:] for p in (tree / "benchmarks").glob("bench_*.py")}
                for tree in trees.values()
            )
        )
        print("| room | what | before | after | after / before | by the clock |")
        print("| --- | --- | --- | --- | --- | --- |")
        held: list[list[object]] = []
        for room in given.rooms or sorted(both):
            held += show(room, compare(trees, room, given.rounds, given.quick))
    if given.out:
        given.out.write_text(json.dumps(held, indent=1) + "\n")


def checkout(commit: str, folder: Path) -> Path:
    """The files of a commit, without touching this tree."""
    folder.mkdir()
    packed = subprocess.run(
        ["git", "archive", commit], cwd=HERE.parent, check=True, capture_output=True
    )
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed.stdout, check=True)
    return folder


def compare(
    trees: dict[str, Path], room: str, rounds: int, quick: bool
) -> dict[str, list[tuple[float, float]]]:
    """The least figures of both sides for the stages of a room that both have."""
    least: dict[str, dict[str, tuple[float, float]]] = {side: {} for side in SIDES}
    for turn in range(rounds):
        for side in SIDES if turn % 2 == 0 else SIDES[::-1]:
            for stage, found in one_turn(trees[side], room, quick).items():
                known = least[side].get(stage, found)
                least[side][stage] = (min(known[0], found[0]), min(known[1], found[1]))
    shared = [stage for stage in least["before"] if stage in least["after"]]
    return {stage: [least[side][stage] for side in SIDES] for stage in shared}


def one_turn(tree: Path, room: str, quick: bool) -> dict[str, tuple[float, float]]:
    """One side's figures of one room, measured in a process of its own."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [
            sys.executable,
            __file__,
            "--inside",
            room,
            "--tree",
            str(tree),
            "--out",
            out.name,
        ]
        env = {**os.environ, "PYTHONPATH": str(tree / "src")}
        # What it prints is for the reader of one commit's figures.
        subprocess.run(
            command + ["--quick"] * quick,
            check=True,
            cwd=tree,
            env=env,
            stdout=subprocess.DEVNULL,
        )
        return json.loads(Path(out.name).read_text())


def show(room: str, rows: dict[str, list[tuple[float, float]]]) -> list[list[object]]:
    """Print the rows of a room in milliseconds; the same as a list, in seconds."""
    for stage, ((before, clock_before), (after, clock_after)) in rows.items():
        print(
            f"| {room} | {', '.join(json.loads(stage))} | {before * 1e3:.1f} | {after * 1e3:.1f} | "
            f"{after / before if before else 1:.2f} | {clock_after / clock_before:.2f} |",
            flush=True,
        )
    return [[room, *json.loads(stage), *rows[stage]] for stage in rows]


if __name__ == "__main__":
    main()
