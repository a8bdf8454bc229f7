"""What executors of whole jobs have in common, and the one on a dask cluster.

A job reaches the cluster as bytes; what goes wrong there is told in words of ours.
"""

from __future__ import annotations

import pickle
import platform
import re
import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Executor, Future
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import ParamSpec, TypeVar
from uuid import uuid4

from tracecup.errors import InvalidParameter, TraceCupError, UnreadableFile

DASK = "dask://"
ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[\w.-]+):[0-9]{1,5}")
WAIT_SECONDS = 30
COMPARED = ("tracecup", "numpy", "numba", "scipy")
MISSING = "not installed"

P = ParamSpec("P")
R = TypeVar("R")


class Jobs(Executor):
    """An executor of whole jobs: `workers` run at a time, `stop` gives up all that is under way."""

    workers: int

    @abstractmethod
    def stop(self) -> None:
        """Cancel what waits and end what runs; every future ends, most with CancelledError."""


class DaskJobs(Jobs):
    """The workers of a dask scheduler; it has another worker do what one left undone.

    A job reaches the cluster as bytes, which only a worker opens: the scheduler needs no tracecup.
    """

    def __init__(self, name: str, also: Sequence[str] = ()) -> None:
        """`also` names packages whose versions are compared beside the usual ones."""
        try:
            self._dask, self._pickle = import_module("distributed"), import_module("cloudpickle")
        except ImportError as error:
            raise InvalidParameter(
                f"engine {name} needs the package distributed, which is not installed here; "
                "install tracecup[dask], or use --engine processes"
            ) from error
        if not ADDRESS.fullmatch(name.removeprefix(DASK)):
            raise InvalidParameter(f"a dask scheduler is called {DASK}HOST:PORT, got {name!r}")
        self._name, self._stopped = name, False
        # A job carries its data on purpose: scattered data would be gone with the worker that holds
        # them, and the job with them.
        warnings.filterwarnings("ignore", "Sending large graph")
        try:
            self._client = self._dask.Client(
                f"tcp://{name.removeprefix(DASK)}", set_as_default=False
            )
        except OSError as error:
            raise UnreadableFile(name, f"no scheduler answers: {error}") from error
        try:
            self._client.wait_for_workers(1, timeout=WAIT_SECONDS)
        except BaseException as error:
            self._client.close()
            if isinstance(error, TimeoutError):
                raise UnreadableFile(name, "the scheduler has no worker") from error
            raise
        try:
            self._compare_versions(also)
            self.workers = sum(self._client.nthreads().values())
        except BaseException as error:
            self._client.close()
            if isinstance(error, OSError) and not isinstance(error, TraceCupError):
                raise self._lost(error) from error
            raise
        self._executor = self._client.get_executor(pure=False)

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Have `fn` called by one of the workers; the arguments travel with it."""
        outcome: Future[R] = Future()
        packed = self._pickle.dumps(_Answer(partial(fn, *args, **kwargs)))
        if self._stopped:
            give_up(outcome)
            return outcome
        try:
            sent = self._executor.submit(pickle.loads, packed, key=f"{_called(fn)}-{uuid4().hex}")
        except Exception as error:  # a closed client tells so by a class of its own
            raise self._lost(error) from error
        outcome.add_done_callback(lambda told: sent.cancel() if told.cancelled() else None)
        sent.add_done_callback(partial(self._settle, outcome))
        return outcome

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster, which stays as it was."""
        with suppress(CancelledError):
            self._executor.shutdown(wait=wait and not cancel_futures)
        self._client.close()

    def stop(self) -> None:
        """Have the scheduler forget all jobs of this client."""
        self._stopped = True
        # Leaving is for whoever has an error already, maybe that the scheduler is gone.
        with suppress(Exception):
            self._executor.shutdown(wait=False)

    def _settle(self, outcome: Future[R], sent: Future[R]) -> None:
        """What became of a job, where the cluster failed in words of ours."""
        if sent.cancelled() and self._stopped:
            outcome.cancel()
        if not outcome.set_running_or_notify_cancel():
            return
        error = CancelledError() if sent.cancelled() else sent.exception()
        if error is None:
            outcome.set_result(sent.result())
        else:
            outcome.set_exception(self._told(error))

    def _told(self, error: BaseException) -> BaseException:
        """An error of a job as it is, one of the cluster as one of ours."""
        if isinstance(error, TraceCupError):
            return error
        if isinstance(error, self._dask.KilledWorker):
            died, last = error.allowed_failures + 1, error.last_worker.address
            return UnreadableFile(
                self._name,
                f"a job was given up, since {died} workers died under it, the last one at {last}; "
                "often they were short of memory: see their logs",
            )
        if isinstance(error, (CancelledError, self._dask.comm.CommClosedError)):
            return self._lost(error)
        if isinstance(error, ImportError):
            return InvalidParameter(f"a worker of {self._name} lacks what a job needs: {error}")
        return error

    def _lost(self, error: BaseException) -> UnreadableFile:
        """There is no way to the scheduler any more."""
        why = f": {error}" if str(error) else ""
        return UnreadableFile(
            self._name, f"the scheduler is gone, and with it what was under way there{why}"
        )

    def _compare_versions(self, also: Sequence[str]) -> None:
        """Raise unless all workers have what this process has."""
        try:
            theirs = self._client.run(own_versions, *also)
        except ImportError as error:
            raise InvalidParameter(
                f"a worker of {self._name} has no tracecup.cluster: {error}"
            ) from error
        here = own_versions(*also)
        for worker, there in sorted(theirs.items()):
            for what in here:
                if there.get(what, MISSING) == MISSING != here[what]:
                    raise InvalidParameter(
                        f"worker {worker} of {self._name} has no {what}, which is needed there in "
                        f"version {here[what]}, as here"
                    )
            differ = [
                f"{what} {there.get(what)} there, {here[what]} here"
                for what in here
                if there.get(what) != here[what]
            ]
            if differ:
                raise InvalidParameter(
                    f"worker {worker} of {self._name} has other versions: {'; '.join(differ)}; "
                    "results could differ"
                )


class _Answer:
    """A job whose unpacking is its doing: `pickle.loads` is all that a scheduler hears of."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call

    def __reduce__(self) -> tuple[Callable[[], object], tuple[()]]:
        return self._call, ()


def give_up(outcome: Future[R]) -> None:
    """End a future as cancelled; whoever waits for it hears of it."""
    outcome.cancel()
    outcome.set_running_or_notify_cancel()


def _called(fn: Callable[..., object]) -> str:
    """The name of a function for dask, which learns by it how long such jobs take.

    >>> _called(partial(partial(abs), 1))
    'abs'
    """
    while isinstance(fn, partial):
        fn = fn.func
    return getattr(fn, "__name__", type(fn).__name__)


def own_versions(*also: str) -> dict[str, str]:
    """What results may depend on: Python and the packages that compute, and those named.

    >>> sorted(own_versions())
    ['numba', 'numpy', 'python', 'scipy', 'tracecup']
    """
    found = {"python": ".".join(platform.python_version_tuple()[:2])}
    for package in (*COMPARED, *also):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = MISSING
    return found
