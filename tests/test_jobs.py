"""Whole jobs in processes and on a real dask cluster: the same bytes, whoever dies."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simplejobs import Elsewhere, always_dies, dies_once, refuses
from tracecup.city import City, ContestClock, Grid, write_city, write_clock
from tracecup.cluster import DaskJobs, Jobs, own_versions
from tracecup.contest.archive.verify import verify
from tracecup.contest.judging.shuffle import pseudonymize
from tracecup.contest.season import Season, play, season_rules
from tracecup.contest.stages import TIMINGS_FILE, in_threads
from tracecup.contest.worlds import BuiltinWorld
from tracecup.errors import InvalidParameter, TraceCupError, UnreadableFile
from tracecup.jobs import (
    PRODUCT_THREADS,
    ProcessJobs,
    all_done,
    call_on,
    done_as_they_come,
    engine,
)
from tracecup.study.audit import Subject, audit
from tracecup.study.comparison import compare
from tracecup.study.sweep import COLUMNS, sweep
from tracecup.study.sweepdata import find_data
from tracecup.traces import SetTraces, Traces
from tracecup.traces.files import write_traces
from waiting import all_of, line_of

needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="needs distributed (tracecup[dask])"
)


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessJobs]:
    jobs = ProcessJobs(2)
    yield jobs
    jobs.shutdown()


class TestEngine:
    def test_local_is_this_process(self) -> None:
        with engine("local") as jobs:
            assert jobs is None
            assert call_on(jobs, os.getpid) == os.getpid()

    def test_an_unknown_name_tells_the_known_ones(self) -> None:
        told = "local, processes or dask://HOST:PORT"
        with pytest.raises(InvalidParameter, match=told), engine("slurm"):
            pass

    def test_without_dask_it_says_what_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "distributed", None)
        told = "needs the package distributed"
        with pytest.raises(InvalidParameter, match=told), engine("dask://h:1"):
            pass

    def test_a_silent_scheduler_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async def refuse(address: str) -> None:
            raise OSError("timed out")

        fake = SimpleNamespace(comm=SimpleNamespace(connect=refuse))
        monkeypatch.setitem(sys.modules, "distributed", fake)
        with pytest.raises(UnreadableFile, match="dask://h:1: no scheduler"), engine("dask://h:1"):
            pass

    def test_an_error_stops_what_is_under_way(self, monkeypatch: pytest.MonkeyPatch) -> None:
        log: list[str] = []
        stand_in = SimpleNamespace(
            stop=lambda: log.append("stopped"), shutdown=lambda: log.append("left")
        )
        monkeypatch.setattr("tracecup.jobs.ProcessJobs", lambda: stand_in)
        with engine("processes"):
            pass
        assert log == ["left"]
        with pytest.raises(KeyboardInterrupt), engine("processes"):
            raise KeyboardInterrupt
        assert log == ["left", "stopped", "left"]


class TestProcessJobs:
    def test_results_and_errors_come_back(self, processes: ProcessJobs) -> None:
        assert processes.submit(os.getpid).result() != os.getpid()
        with pytest.raises(InvalidParameter, match="no"):
            processes.submit(refuses, "no").result()

    def test_a_dead_process_is_replaced_and_its_job_done_again(
        self, processes: ProcessJobs, tmp_path: Path
    ) -> None:
        others = [processes.submit(abs, -k) for k in range(4)]
        assert processes.submit(dies_once, str(tmp_path / "marker")).result() > 0
        assert [other.result() for other in others] == [0, 1, 2, 3]

    def test_a_job_that_always_kills_is_given_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tracecup.jobs.TRIES", 1)
        jobs = ProcessJobs(1)
        with pytest.raises(TraceCupError, match="a worker process died"):
            jobs.submit(always_dies).result()
        jobs.shutdown()

    def test_ctrl_c_is_for_the_process_that_asked(self, processes: ProcessJobs) -> None:
        there = processes.submit(signal.pthread_sigmask, signal.SIG_BLOCK, ()).result()
        assert signal.SIGINT in there
        assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())

    def test_every_process_has_its_products_in_one_thread(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in PRODUCT_THREADS:
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv(PRODUCT_THREADS[0], "3")
        jobs = ProcessJobs(1)
        try:
            found = [jobs.submit(os.getenv, name).result() for name in PRODUCT_THREADS]
        finally:
            jobs.shutdown()
        assert found == ["3", "1", "1", "1"]
        assert [os.environ.get(name) for name in PRODUCT_THREADS] == ["3", None, None, None]

    def test_processes_end_when_who_asked_is_killed(self) -> None:
        begin = "import os, time; from tracecup.jobs import ProcessJobs; jobs = ProcessJobs(1)"
        told = "print(jobs.submit(os.getpid).result(), flush=True)"
        last = "jobs.submit(time.sleep, 60).result()"
        asked = [sys.executable, "-c", f"{begin}; {told}; {last}"]
        with subprocess.Popen(asked, stdout=subprocess.PIPE, text=True) as parent:
            assert int(line_of(parent)) != parent.pid
            parent.kill()
            # The worker has the same output: it ends when nobody is left who could write.
            assert all_of(parent, 30) == ""

    def test_stopped_nothing_goes_on(self) -> None:
        jobs = ProcessJobs(1)
        waiting = [jobs.submit(time.sleep, 60) for _ in range(3)]
        jobs.stop()
        for one in waiting:
            with pytest.raises(CancelledError):
                one.result()
        late: list[Any] = []
        sending = threading.Thread(target=lambda: late.append(jobs.submit(abs, -3)), daemon=True)
        sending.start()
        sending.join(30)
        assert [one.cancelled() for one in late] == [True]
        jobs.shutdown()


class Growing(ThreadPoolExecutor):
    """Threads of which more may be used all at once, as workers of a cluster that grows."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.workers = 1

    def stop(self) -> None:
        """Nothing that a test would wait for."""


class TestAClusterThatGrows:
    """All jobs wait for each other: they are done only once there are workers for all of them."""

    @pytest.fixture
    def jobs(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
        for where in ("tracecup.jobs", "tracecup.contest.stages"):
            monkeypatch.setattr(f"{where}.COUNT_SECONDS", 0.01)
        with Growing(8) as jobs:
            later = threading.Timer(0.1, setattr, (jobs, "workers", 8))
            later.start()
            yield jobs
            later.join()

    def test_more_is_sent_before_the_first_is_done(self, jobs: Any) -> None:
        meet = threading.Barrier(8)
        assert sorted(all_done(jobs, [partial(meet.wait, 30)] * 8)) == list(range(8))

    def test_more_threads_wait_for_it(self, jobs: Any) -> None:
        meet = threading.Barrier(8)
        done = in_threads(lambda _: call_on(jobs, meet.wait, 30), range(8), jobs)
        assert sorted(done) == list(range(8))


class TestDoneAsTheyCome:
    def test_few_at_a_time(self) -> None:
        made: list[int] = []

        def calls() -> Iterator[tuple[int, Any]]:
            for k in range(9):
                made.append(k)
                yield k, partial(abs, -k)

        with ThreadPoolExecutor(2) as pool:
            come = done_as_they_come(pool, calls(), window=3)
            key, future = next(come)
            assert future.result() == key
            assert len(made) == 3
            come.close()


class TestOwnVersions:
    def test_names_what_computes(self) -> None:
        found = own_versions()
        assert found["python"] == f"{sys.version_info[0]}.{sys.version_info[1]}"
        assert found["numpy"] != "not installed"


def season_bytes(folder: Path, jobs: Jobs | None) -> dict[str, bytes]:
    """Everything in the archive of a small season of four teams but how long it took."""
    play(folder, Season(season_rules(users=12, days=1), 4, 3), BuiltinWorld(), jobs=jobs)
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != TIMINGS_FILE
    }


@pytest.fixture(scope="module")
def local_season(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """The folder and the bytes of the season, played in this process."""
    folder = tmp_path_factory.mktemp("season") / "local"
    return folder, season_bytes(folder, None)


class TestJobsOfProcesses:
    def test_verification_finds_the_same(
        self, processes: ProcessJobs, local_season: tuple[Path, dict[str, bytes]], tmp_path: Path
    ) -> None:
        folder = tmp_path / "changed"
        shutil.copytree(local_season[0], folder)
        answer = next((folder / "answers").rglob("etraces*002*"))
        answer.write_bytes(answer.read_bytes().replace(b"1", b"2"))
        found = verify(folder, jobs=processes, shared=True)
        assert found
        assert found == verify(folder)

    def test_verification_needs_no_folder_there(
        self, local_season: tuple[Path, dict[str, bytes]], tmp_path: Path
    ) -> None:
        folder = tmp_path / "changed"
        shutil.copytree(local_season[0], folder)
        away = Elsewhere(folder)
        assert verify(folder, jobs=away) == []
        assert away.calls > 12
        answer = next((folder / "answers").rglob("etable*003*"))
        answer.write_bytes(b"rubbish")
        next((folder / "secret").rglob("orgtraces*001*")).unlink()
        last = next((folder / "answers").rglob("etraces*-002*"))
        last.unlink()
        last.symlink_to("/etc/hostname")
        assert verify(folder, jobs=away) == verify(folder) != []

    def test_comparison_finds_the_same(self, processes: ProcessJobs) -> None:
        city = City(Grid.from_metres(5, 7, width_m=341.25, height_m=346.875))
        random = np.random.default_rng(2)
        parts = [Traces.of(random.integers(35, size=(9, 4))) for _ in "ab"]
        options: dict[str, Any] = {
            "defences": ["None", "RR(3)", "PL(4,1)"],
            "reid_attacks": ["VisitProb-R"],
            "trace_attacks": ["Replay-T"],
        }
        here = compare(city, *parts, **options)
        there = compare(city, *parts, **options, executor=processes)
        assert [(d.defence, d.utility.value) for d in here] == [
            (d.defence, d.utility.value) for d in there
        ]
        for kind in ("reid", "trace"):
            assert [[a.score.value for a in getattr(d, kind)] for d in here] == [
                [a.score.value for a in getattr(d, kind)] for d in there
            ]


def two_days() -> tuple[City, Traces, Traces]:
    """A small city, what is known of nine people, and the truth."""
    city = City(Grid.from_metres(5, 7, width_m=341.25, height_m=346.875))
    clock, random = ContestClock.regular(days=2, slots=4), np.random.default_rng(1)
    parts = clock.reference, clock.original
    known, truth = (Traces.of(random.integers(35, size=(9, 8)), part) for part in parts)
    return city, known, truth


class TestALessonsJobs:
    def test_a_worker_defends_a_team_without_jax(self) -> None:
        words = "import sys; sys.modules['jax'] = None; import tracecup.learn.defending"
        subprocess.run([sys.executable, "-c", words], check=True, timeout=120)


class TestAllDone:
    def test_in_order_whoever_is_first(self) -> None:
        told: list[tuple[float, float]] = []
        with ThreadPoolExecutor(2) as pool:
            calls = [partial(_after, 0.05, "late"), partial(_after, 0.0, "early")]
            assert all_done(pool, calls, lambda *part: told.append(part)) == ["late", "early"]
        assert told == [(1, 2), (2, 2)]

    @pytest.mark.parametrize("workers", [0, 1])
    def test_the_first_error_ends_it(self, workers: int) -> None:
        done: list[int] = []
        calls = [partial(done.append, 1), partial(refuses, "no"), *[partial(done.append, 2)] * 50]
        with ThreadPoolExecutor(max(1, workers)) as pool, pytest.raises(InvalidParameter):
            all_done(pool if workers else None, calls)
        assert len(done) < 50


def _after(seconds: float, word: str) -> str:
    time.sleep(seconds)
    return word


@pytest.fixture(scope="module")
def name() -> Iterator[str]:
    """The engine of one real cluster of two processes, for all tests in turn."""
    import distributed

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0",
        host="127.0.0.1", silence_logs=50,
    ) as cluster:  # fmt: skip
        yield f"dask://{cluster.scheduler_address.removeprefix('tcp://')}"


@needs_dask
class TestDask:
    def test_a_season_has_the_same_bytes_though_a_worker_is_killed(
        self, name: str, local_season: tuple[Path, dict[str, bytes]], tmp_path: Path
    ) -> None:
        killed: list[int] = []
        one_at_a_time = threading.Lock()  # a season attacks in several threads

        class Killing(DaskJobs):
            """Ends one of the workers in the middle of the season."""

            def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
                sent = super().submit(fn, *args, **kwargs)
                with one_at_a_time:
                    if fn.__name__ == "attack_and_tell" and not killed:
                        killed.append(next(iter(self._client.run(os.getpid).values())))
                        os.kill(killed[0], signal.SIGKILL)
                return sent

        jobs = Killing(name)
        found = season_bytes(tmp_path / "dask", jobs)
        jobs.shutdown()
        assert killed
        assert found == local_season[1]

    def test_a_benchmark_has_the_same_cells(self, name: str, tmp_path: Path) -> None:
        data = tmp_path / "data"
        data.mkdir()
        city = City(Grid.from_metres(5, 7, width_m=341.25, height_m=346.875))
        clock = ContestClock.regular(days=1, slots=4)
        write_city(data / "info_region.csv", city)
        write_clock(data / "info_time.csv", clock)
        random = np.random.default_rng(1)
        for kind, part in (("ref", clock.reference), ("org", clock.original)):
            traces = Traces.of(random.integers(35, size=(9, 4)), part)
            write_traces(data / f"{kind}traces_team001.csv", traces)
        tables = []
        with engine(name) as jobs:
            for where, executor in (("here", None), ("there", jobs)):
                tables.append(
                    sweep(
                        find_data([data]), tmp_path / where, defences=["None", "RR(3)"],
                        attacks=["VisitProb-R", "Replay-T"], seeds=[1, 2], floor=None,
                        executor=executor,
                    ).table
                )  # fmt: skip
        timed = {COLUMNS.index("seconds"), COLUMNS.index("defence_seconds")}
        untimed = [
            [[x for k, x in enumerate(row) if k not in timed] for row in table.rows]
            for table in tables
        ]
        assert untimed[0] == untimed[1]
        assert len(untimed[0]) == 8

    def test_an_audit_finds_the_same(self, name: str) -> None:
        city, known, truth = two_days()
        released, table = pseudonymize(SetTraces.of_traces(truth), 1)
        subject = Subject(city, known, truth, released, table, tuple("abcdefghi"))
        asked = ["VisitProb-R", "Random-R", "Replay-T"]
        with engine(name) as jobs:
            here, there = (
                audit(subject, attacks=asked, executor=executor) for executor in (None, jobs)
            )
        for kind in ("reid", "trace"):
            assert [(one.attack, one.score.per_user.tolist()) for one in getattr(here, kind)] == [
                (one.attack, one.score.per_user.tolist()) for one in getattr(there, kind)
            ]

    def test_a_lesson_has_the_same_releases(self, name: str) -> None:
        pytest.importorskip("jax")
        from tracecup.learn.teach import Lesson, lesson_pool

        city, known, _ = two_days()
        lesson = Lesson(city, [known, known], ("RR(3)", "PL(2,1)"))
        with engine(name) as jobs:
            here, there = (lesson_pool(lesson, executor=executor) for executor in (None, jobs))
        assert here.released.tobytes() == there.released.tobytes()
        assert here.team.tolist() == there.team.tolist() == [0, 0, 1, 1]

    def test_a_race_has_the_same_bytes(self, name: str, tmp_path: Path) -> None:
        pytest.importorskip("jax")
        from tracecup.learn.attack import Schedule
        from tracecup.learn.equalise import Equaliser
        from tracecup.learn.race import RaceSettings
        from tracecup.learn.teach import Lesson, learn_defence

        city, known, _ = two_days()
        schedule = Schedule(steps=2, users=9, warm=True, precision="float32")
        settings = RaceSettings(1, Equaliser(group=3, sweeps=1), schedule, 0.6)
        lesson = Lesson(city, [known, known], ("RR(3)",))
        with engine(name, also=["jax"]) as jobs:
            for where, executor in (("here", None), ("there", jobs)):
                made = learn_defence(lesson, 1, settings, 2, executor=executor)
                made.save(tmp_path / f"{where}.npz")
        assert (tmp_path / "here.npz").read_bytes() == (tmp_path / "there.npz").read_bytes()

    def test_other_versions_are_told_before_anything_runs(
        self, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        here = own_versions() | {"numpy": "0.9"}
        monkeypatch.setattr(DaskJobs, "_compare_versions", _compare_with(here))
        with pytest.raises(InvalidParameter, match=r"numpy .* there, 0\.9 here"), engine(name):
            pass

    def test_stopped_nothing_goes_on(self, name: str) -> None:
        with engine(name) as jobs:
            assert jobs is not None
            waiting = jobs.submit(time.sleep, 0.5)
            jobs.stop()
            with pytest.raises(CancelledError):
                waiting.result()


def _compare_with(here: dict[str, str]) -> Any:
    """`DaskJobs._compare_versions` in a process that has other packages."""
    compare = DaskJobs._compare_versions

    def patched(self: DaskJobs, name: str) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("tracecup.cluster.own_versions", _Here(here))
            compare(self, name)

    return patched


class _Here:
    """`own_versions` that answers otherwise here, and as it is where it is sent to."""

    def __init__(self, here: dict[str, str]) -> None:
        self.here = here

    def __call__(self) -> dict[str, str]:
        return self.here

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (importlib.import_module("tracecup.cluster"), "own_versions")
