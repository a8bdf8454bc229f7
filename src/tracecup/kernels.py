"""The one way this package compiles inner loops: numba, without the GIL, cached on disk.

Every kernel has a slow, obvious twin in the tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` with numba (nopython, nogil); keep the machine code between runs.

    Where no cache folder is writable the kernel is compiled in memory instead, since a
    read-only installation must still work.

    >>> @kernel
    ... def triple(x: int) -> int:
    ...     return 3 * x
    >>> triple(14)
    42
    """
    try:
        compiled = numba.njit(nogil=True, cache=True, error_model="numpy")(function)
    except RuntimeError:  # numba: "no locator available"
        compiled = numba.njit(nogil=True, error_model="numpy")(function)
    _save_alone(compiled)
    return cast(Callable[P, R], compiled)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` into each kernel that calls it.

    A call that passes an array counts its references, which costs more than a short loop body.
    """
    return cast(Callable[P, R], numba.njit(inline="always", error_model="numpy")(function))


def _save_alone(compiled: Any) -> None:
    """Let one process at a time add to the cache of a kernel.

    numba reads which files there are, then writes one more: two processes that compile a kernel
    for different types at once would take the same file, and later run each other's code.
    """
    files = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if files is None:
        return
    save = files.save

    def alone(key: Any, data: Any) -> None:
        with _locked(Path(files._cache_path) / "kernels.lock"):
            save(key, data)

    files.save = alone


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock, where the system has such."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        yield
        return
    with ExitStack() as held:
        with suppress(OSError):  # a file system without locks: as numba does it
            fcntl.flock(held.enter_context(path.open("ab")), fcntl.LOCK_EX)
        yield


def block_bounds(n: int, blocks: int) -> list[tuple[int, int]]:
    """Cut `range(n)` into at most `blocks` contiguous pieces of nearly equal size.

    >>> block_bounds(7, 3)
    [(0, 3), (3, 6), (6, 7)]
    """
    if n <= 0:
        return []
    step = math.ceil(n / max(1, blocks))
    return [(low, min(low + step, n)) for low in range(0, n, step)]
