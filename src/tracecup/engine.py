"""Where parallel work runs: a standard `concurrent.futures.Executor`, threads by default.

Kernels release the GIL, so threads are enough on one machine; results never depend on them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from typing import TypeVar

from tracecup.errors import InvalidParameter, UnreadableFile
from tracecup.kernels import block_bounds

LOCAL, DASK = "local", "dask://"

T = TypeVar("T")


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
