"""The stages of a long job: what is done is skipped, the rest runs in threads, time is kept.

Times are kept in a file of their own, since they are the one thing that no two runs share.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from tracecup.cluster import COUNT_SECONDS, Jobs
from tracecup.contest.ledger import Ledger
from tracecup.engine import thread_count
from tracecup.jobs import call_on
from tracecup.safeio import atomic_write

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")
Progress = Callable[[str, int, int], None]
"""Called with (stage, steps done, steps in all)."""

TIMINGS_FILE = "timings.json"
KIB_PER_MIB = 1024


class StageClock:
    """Tells how far each stage is and keeps how long it took, in a file of the folder."""

    def __init__(self, folder: Path, progress: Progress | None = None) -> None:
        self._folder, self._progress = folder, progress
        self._timings = _read_timings(folder / TIMINGS_FILE)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what happens inside; a stage that runs again adds to its time."""
        started = time.perf_counter()
        self.say(name, 0, 1)
        try:
            yield
        finally:
            self._keep_time(name, time.perf_counter() - started)

    def say(self, stage: str, done: int, total: int) -> None:
        """Tell how far a stage is."""
        if self._progress is not None:
            self._progress(stage, done, total)

    def _keep_time(self, stage: str, seconds: float) -> None:
        known = self._timings.get(stage, {})
        self._timings[stage] = {
            "seconds": round(float(known.get("seconds", 0)) + seconds, 3),
            "runs": int(known.get("runs", 0)) + 1,
            "peak_mb": peak_mb(),
        }
        with atomic_write(self._folder / TIMINGS_FILE) as file:
            file.write((json.dumps(self._timings, indent=1) + "\n").encode())


class Stages(StageClock):
    """Runs the steps of stages, each once, whatever interrupts in between."""

    def __init__(
        self,
        folder: Path,
        ledger: Ledger,
        progress: Progress | None = None,
        jobs: Jobs | None = None,
    ) -> None:
        super().__init__(folder, progress)
        self.ledger, self.jobs = ledger, jobs

    def compute(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """`work` of its arguments, where the jobs run; files are read and written here."""
        return call_on(self.jobs, work, *args, **kwargs)

    def each(
        self,
        stage: str,
        steps: Sequence[T],
        name_of: Callable[[T], str],
        work: Callable[[T], Sequence[Path]],
    ) -> None:
        """Do the steps that are not recorded yet, several at a time, and record each.

        `work` returns the files it wrote. The first error stops the stage and comes out here.
        """
        with self.stage(stage):
            ahead = [step for step in steps if not self.ledger.done(f"{stage}: {name_of(step)}")]
            self.say(stage, len(steps) - len(ahead), len(steps))

            def once(step: T) -> None:
                self.ledger.record(f"{stage}: {name_of(step)}", work(step))

            done = len(steps) - len(ahead)
            for _ in in_threads(once, ahead, self.jobs):
                done += 1
                self.say(stage, done, len(steps))

    def once(self, stage: str, work: Callable[[], Sequence[Path]]) -> None:
        """A stage of one step."""
        self.each(stage, [stage], str, lambda _: work())


def in_threads(work: Callable[[T], R], items: Sequence[T], jobs: Jobs | None = None) -> Iterator[R]:
    """Results of `work` as they come, a few items at a time; after an error nothing new starts.

    Threads that wait for `jobs` are as many as run there at a time; an error stops those jobs.

    >>> sorted(in_threads(lambda n: n * n, [1, 2, 3]))
    [1, 4, 9]
    """
    ahead, here = iter(items), thread_count()
    most = here if jobs is None else max(1, len(items))  # a cluster may grow up to that
    with ThreadPoolExecutor(most) as pool:
        running: set[Future[R]] = set()
        try:
            while True:
                count = here if jobs is None else jobs.workers + 1
                while len(running) < count and (item := next(ahead, _END)) is not _END:
                    running.add(pool.submit(work, item))
                if not running:
                    return
                finished, running = wait(running, COUNT_SECONDS, FIRST_COMPLETED)
                for one in finished:
                    yield one.result()
        except BaseException:
            if jobs is not None:
                jobs.stop()  # or the threads would wait for what nobody wants any more
            raise


_END: Any = object()


def peak_mb() -> int:
    """The largest memory that this process has had, in MB; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most // (KIB_PER_MIB * KIB_PER_MIB if sys.platform == "darwin" else KIB_PER_MIB)


def read_timings(folder: Path) -> dict[str, dict[str, float]]:
    """Stage -> seconds, runs and peak memory, as far as they are kept."""
    return _read_timings(folder / TIMINGS_FILE)


def _read_timings(path: Path) -> dict[str, dict[str, float]]:
    """Times are for people: a broken file of them is forgotten, not an error."""
    try:
        held = json.loads(path.read_bytes())
        return {
            str(stage): {str(k): float(v) for k, v in about.items()}
            for stage, about in held.items()
        }
    except (OSError, ValueError, AttributeError, TypeError):
        return {}
