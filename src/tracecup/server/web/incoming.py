"""A file on its way in: on disk with its SHA-256, within its limit, gone again when not kept.

Uploads that a web framework has put on disk already are read where they lie.
"""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from django.utils.translation import gettext as _

from tracecup.safeio import MIB
from tracecup.server.errors import Refused
from tracecup.server.storage import BLOCK, RESERVE_BYTES, store

Source = Path | IO[bytes]


@dataclass(frozen=True)
class Incoming:
    """A complete file at `path` that is not kept yet."""

    path: Path
    sha256: str
    size: int


@contextmanager
def spooled(source: Source, max_bytes: int) -> Iterator[Incoming]:
    """The file of a source on disk; `Refused` above `max_bytes` and on a full disk.

    Holds one block in memory at a time.
    """
    lies_at = _path_of(source)
    if lies_at is not None:
        with lies_at.open("rb") as file:
            yield Incoming(lies_at, *_digest(blocks_of(file), max_bytes))
        return
    assert not isinstance(source, Path)
    with store().temporary() as path:
        yield written(path, blocks_of(source), max_bytes)


def written(path: Path, blocks: Iterable[bytes], max_bytes: int) -> Incoming:
    """Write blocks to a new file, as far as limit and disk allow."""
    try:
        with path.open("xb") as file:
            return Incoming(path, *_digest(_copied(blocks, file), max_bytes))
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise disk_full() from error


def blocks_of(file: IO[bytes]) -> Iterator[bytes]:
    """What is left to read in a file, block by block."""
    while block := file.read(BLOCK):
        yield block


def require_space(coming: int = 0) -> None:
    """`Refused` where the disk has no room for so many bytes more."""
    if store().free() < RESERVE_BYTES + coming:
        raise disk_full()


def disk_full() -> Refused:
    """The refusal for a full disk."""
    return Refused(
        "storage", _("The server's disk is full; nothing was stored and no try was charged.")
    )


def too_large(max_bytes: int) -> Refused:
    """The refusal for a file over its limit."""
    return Refused(
        "too-large",
        _("The file is larger than {most} MiB.").format(most=max_bytes // MIB),
        most=max_bytes,
    )


def _path_of(source: Source) -> Path | None:
    if isinstance(source, Path):
        return source
    # Django's uploads on disk say where they are; those in memory have no such method.
    lies_at = getattr(source, "temporary_file_path", None)
    return Path(lies_at()) if lies_at is not None else None


def _digest(blocks: Iterable[bytes], max_bytes: int) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    for block in blocks:
        size += len(block)
        if size > max_bytes:
            raise too_large(max_bytes)
        digest.update(block)
    return digest.hexdigest(), size


def _copied(blocks: Iterable[bytes], file: IO[bytes]) -> Iterator[bytes]:
    for block in blocks:
        require_space(len(block))
        file.write(block)
        yield block
    file.flush()
