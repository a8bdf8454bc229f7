"""Where parallel work runs: a standard `concurrent.futures.Executor`, threads by default.

Kernels release the GIL, so threads are enough on one machine; results never depend on them.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from typing import TypeVar

from tracecup.errors import InvalidParameter, TraceCupError, UnreadableFile
from tracecup.kernels import block_bounds

LOCAL, DASK = "local", "dask://"

T = TypeVar("T")
R = TypeVar("R")


def thread_count() -> int:
    """Threads to use: `TRACECUP_THREADS`, else the cores this process may run on."""
    wanted = os.environ.get("TRACECUP_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


@contextmanager
def threads(count: int | None = None) -> Iterator[Executor]:
    """A thread pool of `count` workers (default: `thread_count()`), closed on exit."""
    with ThreadPoolExecutor(max_workers=count or thread_count()) as pool:
        yield pool


def ahead(work: Callable[[T], R], items: Iterable[T], count: int | None = None) -> Iterator[R]:
    """`work` of each item in order, done by `count` threads that are as many items ahead.

    An error of an item is raised in its turn; one of `items` itself after those before it.

    >>> list(ahead(abs, [3, -4], count=2))
    [3, 4]
    """
    workers = count or thread_count()
    with threads(workers) as pool:
        waiting: deque[Future[R]] = deque()
        source, failure = iter(items), None
        while True:
            try:
                waiting.append(pool.submit(work, next(source)))
            except StopIteration:
                break
            except TraceCupError as error:
                failure = error
                break
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
        if failure is not None:
            raise failure


@contextmanager
def engine(name: str = LOCAL) -> Iterator[Executor | None]:
    """Where whole jobs run: None for `local` (this process), an executor for `dask://HOST:PORT`.

    The workers of a dask cluster need tracecup and the data at the same paths; `distributed`
    comes with the extra `dask`.

    >>> with engine("local") as executor:
    ...     print(executor)
    None
    """
    if name == LOCAL:
        yield None
        return
    if not name.startswith(DASK):
        raise InvalidParameter(f"no engine is called {name!r}: local or dask://HOST:PORT")
    try:
        client_of = import_module("distributed").Client
    except ImportError as error:
        raise InvalidParameter(
            f"engine {name} needs the package distributed, which is not installed here; "
            "install tracecup[dask], or use --engine local"
        ) from error
    try:
        client = client_of("tcp://" + name.removeprefix(DASK))
    except OSError as error:
        raise UnreadableFile(name, f"no scheduler answers: {error}") from error
    with client:
        yield client.get_executor()


def map_blocks(
    work: Callable[[int, int], T],
    n: int,
    *,
    blocks: int | None = None,
    executor: Executor | None = None,
) -> list[T]:
    """Call `work(low, high)` on contiguous blocks of `range(n)`; results in block order.

    >>> map_blocks(lambda low, high: high - low, 5, blocks=2)
    [3, 2]
    """
    bounds = block_bounds(n, blocks or thread_count())
    if len(bounds) <= 1:
        return [work(low, high) for low, high in bounds]
    if executor is not None:
        return list(executor.map(work, *zip(*bounds, strict=True)))
    with threads(min(len(bounds), thread_count())) as pool:
        return list(pool.map(work, *zip(*bounds, strict=True)))
