"""A season of bots, its verification and its export, against reading its answers.

`quick` plays a small one; the other is the paper's size with ten teams.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from harness import Bench
from tracecup.contest.archive.export import export_public, zip_archive
from tracecup.contest.archive.verify import verify
from tracecup.contest.entries import BENCHMARK
from tracecup.contest.season import Season, play, season_rules
from tracecup.contest.stages import read_timings
from tracecup.contest.worlds import BuiltinWorld


def run(bench: Bench) -> None:
    teams, users, days = (4, 200, 2) if bench.quick else (10, 2000, 20)
    size = f"{teams} teams x {users} users x {20 * days} events"
    season = Season(season_rules(users=users, days=days), teams, 1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "season"

        def whole() -> None:
            shutil.rmtree(folder, ignore_errors=True)
            play(folder, season, BuiltinWorld())

        play(folder, season, BuiltinWorld())
        archive = play(folder, season, BuiltinWorld())
        path = archive.answer_file(BENCHMARK, "etraces", "T2")
        read = bench.measure("read one answer", size, lambda: archive.judge.read_inferred(path))
        stick = ("read one answer", read)
        bench.measure("season", size, whole, yardstick=stick, repeat=1, warm=False)
        for stage, about in read_timings(folder).items():
            bench.note(f"{stage}: {about['seconds']:.1f} s, peak {about['peak_mb']:.0f} MB")
        bench.measure("verify", size, lambda: verify(folder), yardstick=stick, repeat=1, warm=False)
        bench.measure(
            "zip", size, lambda: zip_archive(folder, Path(scratch) / "a.zip"),
            yardstick=stick, repeat=1, warm=False,
        )  # fmt: skip
        bench.measure(
            "public export", size, lambda: export_public(folder, Path(scratch) / "p.zip"),
            yardstick=stick, repeat=1, warm=False,
        )  # fmt: skip
