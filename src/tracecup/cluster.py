"""What executors of whole jobs have in common, and the one on a dask cluster.

A job reaches the cluster as bytes; what goes wrong there is told in words of ours.
"""

from __future__ import annotations

import asyncio
import pickle
import platform
import re
import time
import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from threading import Thread
from typing import Any, ParamSpec, TypeVar
from uuid import uuid4

from tracecup.errors import InvalidParameter, TraceCupError, UnreadableFile

DASK = "dask://"
ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[\w.-]+):([0-9]{1,5})")
LAST_PORT = 65_535
WAIT_SECONDS = 30
"""How long a scheduler may take to answer, and then to have a first worker."""
COUNT_SECONDS = 5
"""How often the workers of a cluster are counted: more of them may come while jobs run."""
COMPARED = ("tracecup", "numpy", "numba", "scipy")
MISSING = "not installed"
UNKNOWN_THERE = "Can't get attribute"
"""How pickle's error begins where a module is another one than here."""

P = ParamSpec("P")
R = TypeVar("R")


class Jobs(Executor):
    """An executor of whole jobs: `workers` run at a time, `stop` gives up all that is under way."""

    @property
    @abstractmethod
    def workers(self) -> int:
        """How many jobs run at a time, as of now: a cluster may grow."""

    @abstractmethod
    def stop(self) -> None:
        """Cancel what waits and end what runs; every future ends, most with CancelledError."""


class DaskJobs(Jobs):
    """The workers of a dask scheduler; it has another worker do what one left undone.

    A job reaches the cluster as bytes, which only a worker opens: the scheduler needs no tracecup.
    With it travel the versions that it needs, so that workers may come at any time.
    """

    def __init__(self, name: str, also: Sequence[str] = ()) -> None:
        """`also` names packages whose versions are compared beside the usual ones."""
        self._dask, self._pickle = dask_modules(name)
        self._name, self._stopped = name, False
        self._address = f"tcp://{name.removeprefix(DASK)}"
        # A job carries its data on purpose: scattered data would be gone with the worker that holds
        # them, and the job with them.
        warnings.filterwarnings("ignore", "Sending large graph")
        self._client = self._connected()
        try:
            self._client.wait_for_workers(1, timeout=WAIT_SECONDS)
        except BaseException as error:
            self._client.close()
            if isinstance(error, TimeoutError):
                raise UnreadableFile(name, "the scheduler has no worker") from error
            raise
        try:
            self._compare_versions(also)
            self._workers: int = sum(self._client.nthreads().values())
            self._counted = time.monotonic()
        except BaseException as error:
            self._client.close()
            if isinstance(error, OSError) and not isinstance(error, TraceCupError):
                raise self._lost(error) from error
            raise
        self._executor = self._client.get_executor(pure=False)

    def _connected(self) -> Any:
        """A client of the scheduler, if one answers in time.

        dask waits for ever where something takes the connection and says nothing, and leaves half a
        client where something else answers, so a thread of its own asks first with a greeting.
        """
        outcome: Future[Any] = Future()

        def connect() -> None:
            try:
                asyncio.run(self._greet())
                outcome.set_result(self._dask.Client(self._address, set_as_default=False))
            except BaseException as error:
                outcome.set_exception(error)

        with warnings.catch_warnings():
            # Versions are compared later and told in a sentence, not in a table of dask's.
            warnings.filterwarnings("ignore", "Mismatched versions found")
            Thread(target=connect, name="greet the scheduler", daemon=True).start()
            try:
                return outcome.result(WAIT_SECONDS)
            except TimeoutError as error:
                why = f"no scheduler answers within {WAIT_SECONDS} s"
                raise UnreadableFile(self._name, why) from error
            except OSError as error:
                raise UnreadableFile(self._name, f"no scheduler answers: {error}") from error
            except Exception as error:
                why = f"what answers there is no scheduler of this dask: {error}"
                raise UnreadableFile(self._name, why) from error
            finally:
                if not outcome.done():
                    outcome.add_done_callback(_close_late)

    async def _greet(self) -> None:
        """Raise unless whoever listens speaks as dask does."""
        greeting = self._dask.comm.connect(self._address)
        await (await asyncio.wait_for(greeting, WAIT_SECONDS)).close()

    @property
    def workers(self) -> int:
        """The threads of all workers, counted a moment ago."""
        now = time.monotonic()
        if now - self._counted >= COUNT_SECONDS and self._client.status == "running":
            self._counted = now
            with suppress(Exception):  # a job that is lost tells better what happened
                self._workers = sum(self._client.nthreads().values())
        return self._workers

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Have `fn` called by one of the workers; the arguments travel with it."""
        outcome: Future[R] = Future()
        job = _Done(self._needs), _Done(partial(fn, *args, **kwargs))
        packed = self._pickle.dumps(job)
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

    def _settle(self, outcome: Future[R], sent: Future[tuple[None, R]]) -> None:
        """What became of a job, where the cluster failed in words of ours."""
        if sent.cancelled() and self._stopped:
            outcome.cancel()
        if not outcome.set_running_or_notify_cancel():
            return
        error = CancelledError() if sent.cancelled() else sent.exception()
        if error is None:
            outcome.set_result(sent.result()[1])
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
        lacking = isinstance(error, AttributeError) and str(error).startswith(UNKNOWN_THERE)
        if isinstance(error, ImportError) or lacking:
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
            _demand_same(f"worker {worker} of {self._name}", there, here)
        self._needs = partial(_demand_here, self._name, here, tuple(also))


def dask_modules(name: str) -> tuple[Any, Any]:
    """The packages distributed and cloudpickle, for an engine of that name; asks nobody yet."""
    try:
        found = import_module("distributed"), import_module("cloudpickle")
    except ImportError as error:
        raise InvalidParameter(
            f"engine {name} needs the package distributed, which is not installed here; "
            "install tracecup[dask], or use --engine processes"
        ) from error
    address = ADDRESS.fullmatch(name.removeprefix(DASK))
    if address is None or not 1 <= int(address[2]) <= LAST_PORT:
        raise InvalidParameter(f"a dask scheduler is called {DASK}HOST:PORT, got {name!r}")
    return found


class _Done:
    """A call that unpacking does: `pickle.loads` is all that a scheduler hears of.

    Of several in a tuple the first is done before the second is even unpacked.
    """

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call

    def __reduce__(self) -> tuple[Callable[[], object], tuple[()]]:
        return self._call, ()


def _demand_here(name: str, wanted: Mapping[str, str], also: tuple[str, ...]) -> None:
    """What a worker does before a job: it may have come after all others were compared."""
    _demand_same(f"a worker of {name} on {platform.node()}", _versions_here(also), wanted)


@cache
def _versions_here(also: tuple[str, ...]) -> dict[str, str]:
    """The versions of this process, looked up once: that takes as long as a small job."""
    return own_versions(*also)


def _demand_same(worker: str, there: Mapping[str, str], here: Mapping[str, str]) -> None:
    """Raise unless a worker has the versions of the process that sends the jobs."""
    for what in here:
        if there.get(what, MISSING) == MISSING != here[what]:
            raise InvalidParameter(
                f"{worker} has no {what}, which is needed there in version {here[what]}, as here"
            )
    differ = [
        f"{what} {there.get(what)} there, {here[what]} here"
        for what in here
        if there.get(what) != here[what]
    ]
    if differ:
        raise InvalidParameter(
            f"{worker} has other versions: {'; '.join(differ)}; results could differ"
        )


def _close_late(outcome: Future[Any]) -> None:
    """Close a client that came when nobody waited for it any more."""
    if outcome.exception() is None:
        outcome.result().close()


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
