"""How speed and memory are measured: in one run, as ratios to a yardstick of the same run.

A module `bench_<room>.py` has `run(bench)` and calls `bench.measure(...)` for each stage.
"""

from __future__ import annotations

import gc
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Row:
    stage: str
    size: str
    seconds: float
    peak_mb: float
    yardstick: str
    ratio: float | None


@dataclass
class Bench:
    """Collects rows. `quick` is set for a smoke run: stages may then use smaller sizes."""

    quick: bool = False
    rows: list[Row] = field(default_factory=list)

    def measure(
        self,
        stage: str,
        size: str,
        work: Callable[[], object],
        *,
        yardstick: tuple[str, float] | None = None,
        repeat: int = 3,
        warm: bool = True,
    ) -> float:
        """Time `work` (median of `repeat` runs, after a warm-up run) and add a row.

        `yardstick` is a name and its seconds, as another `measure` or `seconds` returned them in
        this run. The peak is that of the whole process so far. Returns the seconds.
        """
        seconds = self.timed(stage, size, work, repeat, warm)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        name, unit = yardstick or ("", 0.0)
        ratio = seconds / unit if unit else None
        self.rows.append(Row(stage, size, seconds, peak, name, ratio))
        shown = f"{ratio:8.2f} x {name}" if ratio is not None else ""
        print(f"{stage:44s} {size:30s} {seconds:10.4f} s {peak:8.0f} MB {shown}", flush=True)
        return seconds

    def timed(
        self, stage: str, size: str, work: Callable[[], object], repeat: int, warm: bool
    ) -> float:
        """The seconds of a stage's row; `against.py` takes the least instead of the median."""
        return self.seconds(work, repeat=repeat, warm=warm)

    @staticmethod
    def seconds(work: Callable[[], object], *, repeat: int = 3, warm: bool = True) -> float:
        """Median seconds of `work`."""
        if warm:
            work()
        times = []
        for _ in range(repeat):
            gc.collect()
            started = time.perf_counter()
            work()
            times.append(time.perf_counter() - started)
        return statistics.median(times)

    def note(self, text: str) -> None:
        """A line of explanation between the rows."""
        print(f"  {text}", flush=True)
