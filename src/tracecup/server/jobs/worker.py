"""A worker: takes a job, has it computed in a child process, writes what came of it.

As many as you like may run; any of them may die at any moment.
"""

from __future__ import annotations

import logging
import os
import shutil
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

from django.conf import settings
from django.db import close_old_connections, connection
from django.db.utils import DatabaseError

from tracecup.errors import TraceCupError
from tracecup.server import clockwatch
from tracecup.server.errors import Refused
from tracecup.server.jobs import queue, sandbox, schedule
from tracecup.server.jobs.kinds import kind_of
from tracecup.server.jobs.processes import is_alive
from tracecup.server.jobs.queue import LostLease, NotNow
from tracecup.server.jobs.sandbox import SandboxFailed
from tracecup.server.jobs.task import Task
from tracecup.server.models import Job, Round
from tracecup.server.storage import Blob, store

IDLE_SECONDS = 0.5
SCHEDULE_SECONDS = 1.0
RENEWALS_PER_LEASE = 3
TROUBLE_SECONDS = 2.0

log = logging.getLogger(__name__)


class Worker:
    """Works on one job at a time.

    `threads` is what one computation may use; `kinds` limits it to some kinds of jobs.
    """

    def __init__(
        self, name: str = "", *, kinds: Iterable[str] | None = None, threads: int | None = None
    ) -> None:
        self.name = name or f"{socket.gethostname()}-{os.getpid()}"
        self._kinds, self._threads = list(kinds) if kinds is not None else None, threads
        self._stop = Event()

    def run_forever(self, stop: Event) -> None:
        """Work until `stop` is set; a computation that runs then is given up and done later."""
        self._stop = stop
        clear_work_folder()
        looked = 0.0
        while not stop.is_set():
            try:
                close_old_connections()
                if time.monotonic() - looked >= SCHEDULE_SECONDS:
                    schedule.due()
                    looked = time.monotonic()
                if not self.run_one():
                    stop.wait(IDLE_SECONDS)
            except DatabaseError:
                # The database is away or busy; jobs are safe, and so is this loop.
                log.exception("a worker cannot reach the database")
                connection.close()
                stop.wait(TROUBLE_SECONDS)
        connection.close()

    def run_one(self) -> bool:
        """Take and do one job; False if there is none."""
        job = queue.lease(self.name, self._kinds)
        if job is None:
            return False
        begun = time.perf_counter()
        try:
            with heartbeat(job, self._stop) as halt:
                self._work(job, halt)
            self._say("job done", job, begun)
        except LostLease:
            self._say("job lost to another worker", job, begun)
        except NotNow as later:
            queue.put_back(job, later.reason, later.seconds)
        except SandboxFailed as failed:
            if failed.why == "stopped":
                queue.put_back(job, "its worker was stopped", 0)
            else:
                self._failed(job, failed.reason, begun)
        except DatabaseError:
            raise
        except (Refused, TraceCupError) as error:
            self._failed(job, getattr(error, "message", str(error)), begun)
        except Exception as error:
            log.exception("a job failed", extra={"job": job.pk, "kind": job.kind})
            self._failed(job, type(error).__name__, begun)
        return True

    def _work(self, job: Job, halt: Event) -> None:
        begun = time.perf_counter()
        kind = kind_of(job.kind)
        if kind.act is not None:
            queue.finish(job, {}, act, time.perf_counter() - begun)
        elif kind.chore is not None:
            result = kind.chore(job.payload)
            queue.finish(job, result, None, time.perf_counter() - begun)
        elif kind.prepare is not None:
            task = kind.prepare(job)
            if task is None:
                queue.finish_idle(job, kind.prepare)
                return
            finish(job, *compute(task, halt, threads=self._threads))

    def _failed(self, job: Job, reason: str, begun: float) -> None:
        with suppress(LostLease):
            queue.fail(job, reason)
        self._say("job failed", job, begun)

    def _say(self, words: str, job: Job, begun: float) -> None:
        seconds = round(time.perf_counter() - begun, 3)
        log.info(words, extra={"job": job.pk, "kind": job.kind, "seconds": seconds})


def act(job: Job) -> None:
    """Do what an act does; inside the transaction that finishes the job."""
    round = Round.objects.select_related("contest").get(pk=job.payload["round"])
    if clockwatch.holds(round.contest):
        raise NotNow("the clock is in doubt", 5)
    do = kind_of(job.kind).act
    assert do is not None
    try:
        do(round)
    except Refused as error:
        raise NotNow(error.message, 10) from error


def finish(job: Job, result: dict[str, Any], outputs: dict[str, Blob]) -> None:
    """Write what a computation came to: rows and the job's end in one transaction."""
    apply = kind_of(job.kind).apply
    assert apply is not None
    kept = {"seconds": result["seconds"], "inputs_sha256": result["inputs_sha256"]}
    queue.finish(job, kept, lambda row: apply(row, result, outputs), result["seconds"])


def compute(
    task: Task, halt: Event | None = None, threads: int | None = None
) -> tuple[dict[str, Any], dict[str, Blob]]:
    """Do a task in a child process here; its answer and the files it wrote, stored."""
    blobs = store()
    with TemporaryDirectory(dir=_work_folder(), prefix=f"{os.getpid()}-") as folder:
        out = Path(folder) / "out"
        out.mkdir()
        files = {name: str(blobs.checked(sha256)) for name, sha256 in task.inputs.items()}
        payload = {**task.payload, "files": files, "out": str(out)}
        begun = time.perf_counter()
        seconds = settings.CONFIG.job_seconds * task.patience
        result = sandbox.run(task.function, payload, seconds=seconds, threads=threads, stop=halt)
        result["seconds"] = round(time.perf_counter() - begun, 3)
        result["inputs_sha256"] = task.inputs_sha256
        return result, {path.name: blobs.put_file(path) for path in sorted(out.iterdir())}


def drain(limit: int = 10_000) -> int:
    """Do everything that is due or waiting now, one after the other; how many jobs that was."""
    worker, done = Worker("drain"), 0
    while done < limit:
        schedule.due()
        if not worker.run_one():
            return done
        done += 1
    raise RuntimeError(f"the queue is not empty after {limit} jobs")


@contextmanager
def heartbeat(job: Job, stop: Event) -> Iterator[Event]:
    """Renew a job's lease from a thread; the event is set when it is lost or all is to stop."""
    halt, done = Event(), Event()
    if getattr(settings, "TRACECUP_INLINE", False):
        yield halt
        return

    def beat() -> None:
        every = settings.CONFIG.lease_seconds / RENEWALS_PER_LEASE
        try:
            _until(done, stop, every, lambda: queue.renew(job))
        finally:
            connection.close()
            halt.set()

    thread = Thread(target=beat, name=f"heartbeat-{job.pk}", daemon=True)
    thread.start()
    try:
        yield halt
    finally:
        done.set()
        thread.join()


def clear_work_folder() -> None:
    """Remove what killed workers of this machine left behind."""
    for left in _work_folder().iterdir():
        owner = left.name.partition("-")[0]
        if owner.isdigit() and not is_alive(int(owner)):
            shutil.rmtree(left, ignore_errors=True)


def _until(done: Event, stop: Event, every: float, renew: Callable[[], bool]) -> None:
    """Renew every so often until the job is done, the lease is lost, or the worker stops."""
    next_at = time.monotonic() + every
    while not done.wait(0.2):
        if stop.is_set():
            return
        if time.monotonic() < next_at:
            continue
        next_at = time.monotonic() + every
        try:
            if not renew():
                return
        except DatabaseError:
            # Busy for a moment: the lease has two more chances before it runs out.
            log.warning("a lease could not be renewed")


def _work_folder() -> Path:
    folder: Path = settings.CONFIG.folder / "work"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
