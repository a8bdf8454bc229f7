"""Where parallel work runs: a standard `concurrent.futures.Executor`, threads by default.

Kernels release the GIL, so threads are enough on one machine; results never depend on them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from tracecup.kernels import block_bounds

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
