"""What a dask cluster does wrong reaches people as a sentence; what it hears of a job are bytes."""

from __future__ import annotations

import importlib.util
import os
import pickle
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future, wait
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tracecup.cli.main import run
from tracecup.cluster import DaskJobs, Jobs, own_versions
from tracecup.errors import InvalidParameter, UnknownMethod, UnreadableFile
from tracecup.jobs import all_done, engine
from tracecup.registry import parse

needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="needs distributed (tracecup[dask])"
)

SCHEDULER = """
import sys
sys.modules["tracecup"] = None  # nothing of ours can be imported there
import asyncio
import distributed

async def main():
    where = dict(host="127.0.0.1", port=0, dashboard=False)
    async with distributed.Scheduler(**where) as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()

asyncio.run(main())
"""
OTHER_WORKER = """
import tracecup.cluster
tracecup.cluster.version = lambda package: "0.1"
from distributed.cli.dask_worker import main
main()
"""
WORKER = ["-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-dashboard"]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The engine of one worker under a scheduler without tracecup, and the scheduler's process."""
    import dask
    import distributed  # noqa: F401 - it brings the settings that are changed below

    quiet: dict[str, Any] = {"stderr": subprocess.DEVNULL, "text": True}
    scheduler = subprocess.Popen([sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, **quiet)
    assert scheduler.stdout is not None
    address = scheduler.stdout.readline().strip()
    worker = subprocess.Popen([sys.executable, *WORKER, address], **quiet)
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        yield f"dask://{address.removeprefix('tcp://')}", scheduler
    for process in (worker, scheduler):
        process.kill()
        process.wait()
    scheduler.stdout.close()


@needs_dask
class TestCluster:
    def test_only_workers_need_our_modules_until_the_scheduler_is_gone(
        self, cluster: tuple[str, subprocess.Popen[str]]
    ) -> None:
        name, scheduler = cluster
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with pytest.raises(UnreadableFile) as raised, engine(name) as jobs:
                assert jobs is not None
                assert jobs.submit(own_versions).result() == own_versions()
                assert jobs.submit(len, bytes(12 << 20)).result() == 12 << 20
                with pytest.raises(UnknownMethod, match="Nobody-R"):
                    jobs.submit(parse, "reid", "Nobody-R").result()
                unwanted = jobs.submit(time.sleep, 30)
                assert unwanted.cancel()
                assert wait([unwanted], timeout=10).done == {unwanted}
                under_way = jobs.submit(time.sleep, 30)
                scheduler.kill()
                under_way.result()
        assert str(raised.value) == (
            f"{name}: the scheduler is gone, and with it what was under way there"
        )
        assert not [str(one.message) for one in told if "graph" in str(one.message)]
        with pytest.raises(UnreadableFile, match="no scheduler answers"), engine(name):
            pass

    def test_workers_that_come_later_are_used_and_compared(
        self, cluster: tuple[str, subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tracecup.cluster.COUNT_SECONDS", 0)
        name, _ = cluster
        with engine(name) as jobs:
            assert jobs is not None
            assert jobs.workers == 1
            address = f"tcp://{name.removeprefix('dask://')}"
            words = [sys.executable, "-c", OTHER_WORKER, *WORKER[2:], "--no-nanny", address]
            other = subprocess.Popen(words, stderr=subprocess.DEVNULL)
            try:
                jobs._client.wait_for_workers(2, timeout=60)
                assert jobs.workers == 2
                told = rf"a worker of {name} on .* has other versions: .*numpy 0\.1 there"
                with pytest.raises(InvalidParameter, match=told):
                    all_done(jobs, [partial(time.sleep, 0.2)] * 4)
            finally:
                other.kill()
                other.wait()

    def test_dasks_own_words_on_versions_are_not_shown(
        self, cluster: tuple[str, subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import distributed.versions

        theirs = distributed.versions.get_versions()
        theirs["packages"] |= {"tornado": "0.1"}  # compared with the scheduler, too
        monkeypatch.setattr("distributed.versions.get_versions", lambda *_: theirs)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with engine(cluster[0]):
                pass
        assert [str(one.message) for one in told if "versions" in str(one.message)] == []

    def test_workers_that_die_again_and_again(self) -> None:
        import dask
        import distributed

        with (
            dask.config.set({"distributed.scheduler.allowed-failures": 1}),
            distributed.LocalCluster(
                n_workers=1, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0",
                host="127.0.0.1", silence_logs=50,
            ) as cluster,
        ):  # fmt: skip
            name = f"dask://{cluster.scheduler_address.removeprefix('tcp://')}"
            told = "a job was given up, since 2 workers died under it"
            with pytest.raises(UnreadableFile, match=told), engine(name) as jobs:
                all_done(jobs, [partial(os._exit, 1)])


@needs_dask
class TestWhoAnswers:
    """Something accepts the connection, and nobody is to wait for it for ever."""

    @pytest.mark.parametrize(
        ("says", "told"),
        [
            (b"", r"no scheduler answers within 0\.5 s"),
            (b"SSH-2.0-OpenSSH_9.9 \r\n", "what answers there is no scheduler of this dask"),
        ],
    )
    def test_what_is_no_scheduler(
        self, says: bytes, told: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tracecup.cluster.WAIT_SECONDS", 0.5 if not says else 30)
        with socket.create_server(("127.0.0.1", 0)) as server:
            threading.Thread(target=_greet, args=(server, says), daemon=True).start()
            name = f"dask://127.0.0.1:{server.getsockname()[1]}"
            with pytest.raises(UnreadableFile, match=f"^{name}: {told}"), engine(name):
                pass

    def test_a_client_that_comes_too_late_is_closed(
        self, client: type[Client], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made, closed = threading.Event(), threading.Event()

        class Late(client):
            def __init__(self, address: str, **_: Any) -> None:
                made.wait(30)

            def close(self) -> None:
                closed.set()

        monkeypatch.setattr("tracecup.cluster.WAIT_SECONDS", 0.1)
        monkeypatch.setattr("distributed.Client", Late)
        with pytest.raises(UnreadableFile, match="no scheduler answers"), engine("dask://h:1"):
            pass
        made.set()
        assert closed.wait(30)


def _greet(server: socket.socket, says: bytes) -> None:
    """Accept whoever comes, say something, and keep the line open."""
    lines = []
    while True:
        try:
            lines.append(server.accept()[0])
            lines[-1].sendall(says)
        except OSError:
            return


class Killed(Exception):
    """What dask raises for a job whose workers died."""

    allowed_failures, last_worker = 3, SimpleNamespace(address="tcp://w:1")


class Closed(OSError):
    """What dask raises for a lost connection."""


class Client:
    """A client of a cluster of one worker; a test says what becomes of a job."""

    there: dict[str, str]
    outcome: BaseException | None = None
    refuses: Exception | None = None

    status = "running"

    def __init__(self, address: str, **_: Any) -> None:
        self.closed = False

    def wait_for_workers(self, count: int, timeout: float) -> None:
        """There is one."""

    def run(self, what: Any, *words: str) -> dict[str, dict[str, str]]:
        return {"tcp://w:1": self.there}

    def nthreads(self) -> dict[str, int]:
        return {"tcp://w:1": 1}

    def get_executor(self, **_: Any) -> Client:
        return self

    def submit(self, fn: Any, packed: bytes, *, key: str) -> Future[Any]:
        if self.refuses is not None:
            raise self.refuses
        assert key.startswith("abs-")
        future: Future[Any] = Future()
        if isinstance(self.outcome, CancelledError):
            future.cancel()
        elif self.outcome is not None:
            future.set_exception(self.outcome)
        else:
            future.set_result(fn(packed))
        return future

    def shutdown(self, wait: bool) -> None:
        """Nothing is under way."""

    def close(self) -> None:
        self.closed = True


async def greeted(address: str) -> Any:
    """The connection to a scheduler that answers."""

    async def close() -> None:
        """It was for the greeting alone."""

    return SimpleNamespace(close=close)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> type[Client]:
    """The package distributed has this client."""

    class Own(Client):
        there = own_versions()

    comm = SimpleNamespace(CommClosedError=Closed, connect=greeted)
    fake = SimpleNamespace(Client=Own, KilledWorker=Killed, comm=comm)
    monkeypatch.setitem(sys.modules, "distributed", fake)
    monkeypatch.setitem(sys.modules, "cloudpickle", SimpleNamespace(dumps=pickle.dumps))
    return Own


class TestWhatIsTold:
    def outcome(self) -> Any:
        with engine("dask://h:1") as jobs:
            assert jobs is not None
            return jobs.submit(abs, -3).result()

    def test_a_job_is_bytes_that_a_worker_opens(self, client: type[Client]) -> None:
        assert self.outcome() == 3

    @pytest.mark.parametrize(
        ("error", "told"),
        [
            (
                Killed(),
                "a job was given up, since 4 workers died under it, the last one at tcp://w:1",
            ),
            (CancelledError(), "the scheduler is gone, and with it what was under way there$"),
            (Closed("in write"), "the scheduler is gone, .*: in write"),
        ],
    )
    def test_errors_of_the_cluster(
        self, client: type[Client], error: BaseException, told: str
    ) -> None:
        client.outcome = error
        with pytest.raises(UnreadableFile, match=f"dask://h:1: {told}"):
            self.outcome()

    def test_a_closed_client(self, client: type[Client]) -> None:
        client.refuses = Exception("Client is closed")
        with pytest.raises(UnreadableFile, match="the scheduler is gone.*: Client is closed"):
            self.outcome()

    def test_errors_of_a_job_stay_what_they_are(self, client: type[Client]) -> None:
        client.outcome = ZeroDivisionError("one of the job")
        with pytest.raises(ZeroDivisionError, match="one of the job"):
            self.outcome()

    def test_a_module_that_a_worker_lacks(self, client: type[Client]) -> None:
        client.outcome = ModuleNotFoundError("No module named 'jax'")
        with pytest.raises(InvalidParameter, match=r"a worker of dask://h:1 lacks .* 'jax'"):
            self.outcome()

    def test_a_worker_of_an_older_version_lacks_a_name(self, client: type[Client]) -> None:
        client.outcome = AttributeError("Can't get attribute 'new' on <module 'tracecup.jobs'>")
        with pytest.raises(InvalidParameter, match=r"a worker of dask://h:1 lacks .* 'new'"):
            self.outcome()
        client.outcome = AttributeError("one of the job")
        with pytest.raises(AttributeError, match="one of the job"):
            self.outcome()

    def test_packages_that_these_jobs_need_are_compared(self, client: type[Client]) -> None:
        client.there = own_versions("pytest") | {"pytest": "not installed"}
        assert DaskJobs("dask://h:1").workers == 1
        told = rf"worker tcp://w:1 of dask://h:1 has no pytest, .* {pytest.__version__}, as here"
        with pytest.raises(InvalidParameter, match=told), engine("dask://h:1", also=["pytest"]):
            pass
        client.there = own_versions("pytest") | {"pytest": "1.0"}
        told = rf"pytest 1\.0 there, {pytest.__version__} here"
        with pytest.raises(InvalidParameter, match=told), engine("dask://h:1", also=["pytest"]):
            pass

    def test_a_connection_that_ends_while_versions_are_asked(
        self, client: type[Client], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def closed(self: Client, what: Any, *words: str) -> dict[str, dict[str, str]]:
            raise Closed("in read")

        monkeypatch.setattr(client, "run", closed)
        with pytest.raises(UnreadableFile, match="the scheduler is gone.*: in read"):
            self.outcome()

    @pytest.mark.parametrize(
        "name",
        [
            *("dask://", "dask://h", "dask://h:port", "dask://tcp://h:1"),
            *("dask://h:0", "dask://h:65536", "dask://h:99999"),
        ],
    )
    def test_addresses_that_are_none(self, client: type[Client], name: str) -> None:
        with pytest.raises(InvalidParameter, match="is called dask://HOST:PORT"), engine(name):
            pass

    def test_nothing_is_sent_after_the_end(self, client: type[Client]) -> None:
        jobs: Jobs = DaskJobs("dask://h:1")
        jobs.stop()
        late = jobs.submit(abs, -3)
        assert wait([late], timeout=1).done == {late}
        assert late.cancelled()

    def test_the_command_ends_with_a_sentence(
        self, client: type[Client], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        client.refuses = Exception("Client is closed")
        words = ["reproduce", "fig7", "--out", str(tmp_path), "--engine", "dask://h:1"]
        assert run(words) == 3
        assert capsys.readouterr().err.splitlines() == [
            "error: dask://h:1: the scheduler is gone, and with it what was under way there: "
            "Client is closed"
        ]
