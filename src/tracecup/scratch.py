"""Arrays that may be larger than memory: beyond a size they live in a file that nobody else sees.

The same code then works on a thousand users and on millions; only where the bytes lie differs.
"""

from __future__ import annotations

import errno
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tracecup.errors import InvalidParameter, UnreadableFile

MIB = 1 << 20
HELD_MIB = 512
"""An array of up to so many MiB is held in memory, unless TRACECUP_HELD_MIB says otherwise."""
HELD_VARIABLE = "TRACECUP_HELD_MIB"
FOLDER_VARIABLE = "TRACECUP_SCRATCH"
PART_BYTES = 64 * MIB
"""Bytes of one part of an array that is worked on at a time."""

Advance = Callable[[float, float], None]
_listening: ContextVar[Advance | None] = ContextVar("listening", default=None)


def held_bytes() -> int:
    """The bytes up to which an array is held in memory."""
    asked = os.environ.get(HELD_VARIABLE, "")
    if not asked:
        return HELD_MIB * MIB
    if not asked.isdigit():
        raise InvalidParameter(f"{HELD_VARIABLE} is a whole number of MiB, got {asked[:40]!r}")
    return int(asked) * MIB


def folder() -> str:
    """Where files of large arrays lie: TRACECUP_SCRATCH, else the system's temporary folder."""
    return os.environ.get(FOLDER_VARIABLE) or tempfile.gettempdir()


def empty(shape: int | Sequence[int], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Room for an array, in memory or beyond `held_bytes()` in a file of its own.

    The file has no name: it is gone with the array, whatever happens. Pages of it that are not in
    use count as cache that the system takes back, not as memory of this process. The disk's room
    is taken at once, so that no other array can have it; `UnreadableFile` where it has none, before
    anything is written.

    >>> empty((2, 3), np.int32).shape
    (2, 3)
    """
    size = tuple(shape) if isinstance(shape, Sequence) else (int(shape),)
    kind = np.dtype(dtype)
    n_bytes = math.prod(size) * kind.itemsize
    if n_bytes <= held_bytes():
        return np.empty(size, dtype=kind)
    where = folder()
    if n_bytes > shutil.disk_usage(where).free:
        raise _no_room(where, n_bytes)
    with tempfile.TemporaryFile(dir=where) as file:
        try:
            _reserve(file.fileno(), n_bytes)
        except OSError as error:
            raise _no_room(where, n_bytes) from error
        return np.asarray(np.memmap(file, kind, "r+", shape=size))


def _reserve(file: int, n_bytes: int) -> None:
    """Make a file so long, with room on the disk: a page without any would end the process."""
    if hasattr(os, "posix_fallocate"):
        try:
            return os.posix_fallocate(file, 0, n_bytes)
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
                raise
    # macOS, Windows and some file systems reserve nothing: what was free a moment ago has to do.
    return os.truncate(file, n_bytes)


def _no_room(where: str, n_bytes: int) -> UnreadableFile:
    free = shutil.disk_usage(where).free
    return UnreadableFile(
        where,
        f"an array of {n_bytes / 2**30:.1f} GiB needs a place, {free / 2**30:.1f} GiB are "
        f"free; let {FOLDER_VARIABLE} name a folder with more, or ask for less (fewer users, "
        "match=argmax)",
    )


def filled(shape: int | Sequence[int], value: float, dtype: DTypeLike) -> NDArray[Any]:
    """The same, with one value everywhere.

    >>> filled(2, -1, np.int32).tolist()
    [-1, -1]
    """
    room = empty(shape, dtype)
    for low, high in parts(len(room), _row_bytes(room)):
        room[low:high] = value
    return room


def parts(n: int, row_bytes: int, unit: int = 1) -> list[tuple[int, int]]:
    """Bounds of parts of `n` rows of so many bytes, about 64 MiB each, in multiples of `unit`.

    >>> parts(5, 32 * MIB)
    [(0, 2), (2, 4), (4, 5)]
    """
    step = max(1, PART_BYTES // max(1, row_bytes) // unit) * unit
    return [(low, min(low + step, n)) for low in range(0, n, step)]


@contextmanager
def listening(advance: Advance | None) -> Iterator[None]:
    """Tell `advance(done, total)` how far long loops of `stepped` are, as long as this lasts."""
    token = _listening.set(advance)
    try:
        yield
    finally:
        _listening.reset(token)


def stepped(bounds: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The bounds one after the other; who listens hears of each when it is done.

    >>> with listening(print):
    ...     for _ in stepped([(0, 2), (2, 3)]):
    ...         pass
    1 2
    2 2
    """
    advance = _listening.get()
    for done, bound in enumerate(bounds, 1):
        yield bound
        if advance is not None:
            advance(done, len(bounds))


def peak_mb() -> int:
    """Memory that this process had at most, in MB; pages of files that were in it count."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak * (1 if sys.platform == "darwin" else 1024) / 1e6)


def _row_bytes(room: NDArray[Any]) -> int:
    return room.itemsize * math.prod(room.shape[1:])
