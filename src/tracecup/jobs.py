"""Where whole jobs run: in this process, in processes of this machine, or on a dask cluster.

A job is a function of its arguments and travels with them, so results never depend on the place.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from tracecup.childlimits import end_with_parent
from tracecup.cluster import COUNT_SECONDS, DASK, DaskJobs, Jobs, dask_modules, give_up
from tracecup.engine import thread_count
from tracecup.errors import InvalidParameter, UnreadableFile

LOCAL, PROCESSES = "local", "processes"
PRODUCT_THREADS = (
    "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"
)  # fmt: skip
"""What libraries of matrix products call the number of their threads."""
ENGINES = "local, processes or dask://HOST:PORT"
TRIES = 4
"""How often a job is begun whose worker dies under it."""


P = ParamSpec("P")
R = TypeVar("R")
K = TypeVar("K")


@contextmanager
def engine(
    name: str = LOCAL, prepare: Callable[[], object] | None = None, also: Sequence[str] = ()
) -> Iterator[Jobs | None]:
    """Where whole jobs run: None for `local` (this process), else an executor.

    `processes` are as many as this machine has cores, `dask://HOST:PORT` is a dask scheduler
    (package `distributed`, the extra `dask`), whose workers need the same tracecup. A worker that
    dies is replaced and its job done again. Leaving with an error, or by Ctrl-C, stops all jobs.
    `prepare` travels with every job and is called before it is unpacked; it must be quick when it
    was called before. `also` names packages that jobs need on a cluster beside those of every job.

    >>> with engine("local") as jobs:
    ...     print(jobs)
    None
    """
    check_engine(name)
    if name == LOCAL:
        yield None
        return
    jobs: Jobs = ProcessJobs() if name == PROCESSES else DaskJobs(name, also)
    try:
        yield jobs if prepare is None else PreparedJobs(jobs, prepare)
    except BaseException:
        jobs.stop()
        raise
    finally:
        jobs.shutdown()


def check_engine(name: str) -> None:
    """Raise unless there may be an engine of that name; nothing is started and nobody asked."""
    if name.startswith(DASK):
        dask_modules(name)
    elif name not in (LOCAL, PROCESSES):
        raise InvalidParameter(f"no engine is called {name!r}: {ENGINES}")


def done_as_they_come(
    jobs: Executor, calls: Iterable[tuple[K, Callable[[], R]]], window: int | None = None
) -> Iterator[tuple[K, Future[R]]]:
    """Key and finished future of every call, a few at a time on the way; the rest is cancelled.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor() as pool:
    ...     calls = [(k, partial(abs, -k)) for k in range(3)]
    ...     print(sorted(future.result() for _, future in done_as_they_come(pool, calls)))
    [0, 1, 2]
    """
    ahead, sent = iter(calls), dict[Future[R], K]()
    try:
        while True:
            most = window or 2 * getattr(jobs, "workers", thread_count()) + 2
            while len(sent) < most and (call := next(ahead, None)) is not None:
                sent[jobs.submit(call[1])] = call[0]
            if not sent:
                return
            # Not until one is done: more workers may come before that.
            for future in wait(sent, COUNT_SECONDS, FIRST_COMPLETED).done:
                yield sent.pop(future), future
    finally:
        for future in sent:
            future.cancel()


def all_done(
    jobs: Executor | None,
    calls: Sequence[Callable[[], R]],
    progress: Callable[[float, float], None] | None = None,
) -> list[R]:
    """The results of all calls in order: here, one after the other, without `jobs`, else by them.

    `progress(done, total)` is told after each. The first call that fails ends all.

    >>> all_done(None, [partial(abs, -1), partial(abs, -2)])
    [1, 2]
    """
    told = progress or (lambda done, total: None)
    if jobs is None:
        found = []
        for call in calls:
            found.append(call())
            told(len(found), len(calls))
        return found
    results: dict[int, R] = {}
    for k, future in done_as_they_come(jobs, enumerate(calls)):
        results[k] = future.result()
        told(len(results), len(calls))
    return [results[k] for k in range(len(calls))]


class PreparedJobs(Jobs):
    """Jobs that need something in the worker before they can even be unpacked there."""

    def __init__(self, jobs: Jobs, prepare: Callable[[], object]) -> None:
        self._jobs, self._prepare = jobs, prepare

    @property
    def workers(self) -> int:
        """How many the jobs below have now."""
        return self._jobs.workers

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Have `fn` called where `prepare` was called before."""
        packed = pickle.dumps(partial(fn, *args, **kwargs))
        sent: Future[R] = self._jobs.submit(_prepared, self._prepare, packed)
        return sent

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the jobs below."""
        self._jobs.shutdown(wait=wait, cancel_futures=cancel_futures)

    def stop(self) -> None:
        """Stop the jobs below."""
        self._jobs.stop()


def _prepared(prepare: Callable[[], object], packed: bytes) -> Any:
    """What a worker does: prepare, unpack, call."""
    prepare()
    return pickle.loads(packed)()  # packed by the process that asked, as the job itself is


class ProcessJobs(Jobs):
    """Processes of this machine; if one dies, all are made anew and what they had is done again.

    Each does its matrix products in one thread, unless somebody set another number: libraries take
    all cores in every process (16 processes on 16 cores had a load of 75) and read their number
    when they are loaded, so it stands in the environment until the shutdown.
    """

    workers: int = 0

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or thread_count()
        self._limited = [name for name in PRODUCT_THREADS if name not in os.environ]
        os.environ.update(dict.fromkeys(self._limited, "1"))
        self._lock, self._stopped = Lock(), False
        self._pool = self._new_pool()

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Have `fn` called in one of the processes."""
        outcome: Future[R] = Future()
        self._send(outcome, partial(fn, *args, **kwargs), 1)
        return outcome

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes when their jobs are done."""
        self._pool.shutdown(wait=wait, cancel_futures=cancel_futures)
        while self._limited:
            os.environ.pop(self._limited.pop(), None)

    def stop(self) -> None:
        """End the processes at once."""
        with self._lock:
            self._stopped = True
            pool = self._pool
        running = getattr(pool, "_processes", None)
        pool.shutdown(wait=False, cancel_futures=True)  # first, or more would be started meanwhile
        for process in list((running or {}).values()):
            process.kill()

    def _new_pool(self) -> ProcessPoolExecutor:
        fresh = multiprocessing.get_context("spawn")  # a fork would copy locks that threads hold
        return ProcessPoolExecutor(self.workers, fresh, initializer=_begin)

    def _send(self, outcome: Future[R], call: Callable[[], R], attempt: int) -> None:
        while True:
            with self._lock:
                pool = self._pool
            try:
                with _without_interrupts():
                    sent = pool.submit(call)
                break
            except BrokenProcessPool:
                if self._stopped:  # and nothing will be made anew
                    give_up(outcome)
                    return
                self._renew(pool)
            except RuntimeError:  # shut down
                give_up(outcome)
                return
        sent.add_done_callback(partial(self._settle, outcome, call, attempt, pool))

    def _settle(
        self,
        outcome: Future[R],
        call: Callable[[], R],
        attempt: int,
        pool: ProcessPoolExecutor,
        sent: Future[R],
    ) -> None:
        error = CancelledError() if sent.cancelled() else sent.exception()
        if isinstance(error, BrokenProcessPool) and not self._stopped and attempt < TRIES:
            self._renew(pool)
            self._send(outcome, call, attempt + 1)
            return
        if isinstance(error, CancelledError) or self._stopped:
            outcome.cancel()
        if not outcome.set_running_or_notify_cancel():
            return
        if isinstance(error, BrokenProcessPool):
            error = UnreadableFile(
                PROCESSES, f"a worker process died {TRIES} times over the same job"
            )
        if error is not None:
            outcome.set_exception(error)
        else:
            outcome.set_result(sent.result())

    def _renew(self, broken: ProcessPoolExecutor) -> None:
        with self._lock:
            if self._pool is broken and not self._stopped:
                self._pool = self._new_pool()


def call_on(jobs: Executor | None, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """`work` of the arguments: here without `jobs`, else by one of them.

    >>> call_on(None, abs, -3)
    3
    """
    if jobs is None:
        return work(*args, **kwargs)
    return jobs.submit(work, *args, **kwargs).result()


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Processes that are started here never hear of Ctrl-C, which a terminal sends to all.

    It is for this process, which ends them; each of them would print where it was. The signal
    waits until this is left.
    """
    if not hasattr(signal, "pthread_sigmask"):  # not on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """A process of many does its kernels in one thread, and ends with who asked."""
    end_with_parent()
    os.environ["TRACECUP_THREADS"] = "1"
