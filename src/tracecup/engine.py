"""Where parallel work runs: a standard `concurrent.futures.Executor`, threads by default.

Kernels release the GIL, so threads are enough on one machine; results never depend on them.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice
from typing import TypeVar

from tracecup.errors import InvalidParameter, TraceCupError
from tracecup.kernels import block_bounds

T = TypeVar("T")
R = TypeVar("R")


def thread_count() -> int:
    """Threads to use: `TRACECUP_THREADS`, else the cores this process may run on."""
    wanted = os.environ.get("TRACECUP_THREADS", "")
    if not wanted:
        return cores()
    if not re.fullmatch(r"[0-9]{1,6}", wanted) or int(wanted) == 0:
        raise InvalidParameter(
            f"TRACECUP_THREADS is a number of threads, at least 1, got {wanted[:80]!r}"
        )
    return int(wanted)


def cores() -> int:
    """The cores that this process may run on."""
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

    An error of an item is raised in its turn; one of `items` itself after those before it. A lone
    item is done here: a thread would only have to begin with empty memory of its own.

    >>> list(ahead(abs, [3, -4], count=2))
    [3, 4]
    """
    workers, failures = count or thread_count(), list[TraceCupError]()
    source = _until_error(items, failures)
    first = list(islice(source, 2))
    if len(first) < 2:
        yield from map(work, first)
    else:
        with threads(workers) as pool:
            waiting: deque[Future[R]] = deque()
            for item in chain(first, source):
                waiting.append(pool.submit(work, item))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
    for failure in failures:
        raise failure


def _until_error(items: Iterable[T], failures: list[TraceCupError]) -> Iterator[T]:
    """The items up to an error, which is noted."""
    try:
        yield from items
    except TraceCupError as error:
        failures.append(error)


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
