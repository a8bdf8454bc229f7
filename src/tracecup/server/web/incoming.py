"""A file on its way in: on disk with its SHA-256, within its limit, gone again when not kept.

A body that is a file, and a file inside a form (`formfiles`), is hashed while it arrives and later
linked into the store, so its bytes are written once.
"""

from __future__ import annotations

import errno
import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

from django.db import OperationalError
from waitress.buffers import FileBasedBuffer, OverflowableBuffer

from tracecup.safeio import MIB
from tracecup.server.storage import (
    BLOCK,
    RESERVE_BYTES,
    BlobStore,
    disk_full,
    store,
    too_large,
)

MEMORY_BODY = 64 * 1024
LOOK_AT_DISK = 4 * MIB
# The words of SQLite and of PostgreSQL.
_FULL = re.compile(r"disk is full|disk full|No space left on device")


@dataclass(frozen=True)
class Incoming:
    """A complete file at `path` that is not kept yet."""

    path: Path
    sha256: str
    size: int


Source = Path | IO[bytes] | Incoming


class Spool(OverflowableBuffer):
    """A body while it arrives: small ones in memory, others on disk in `folder`, hashed on the way.

    In the server's own folder, so that nothing is left elsewhere.
    """

    buf: Any = None

    def __init__(self, folder: Path) -> None:
        super().__init__(MEMORY_BODY)
        self._folder = folder
        self._digest, self._size = hashlib.sha256(), 0

    def append(self, block: bytes) -> None:
        """Take what arrived."""
        super().append(block)
        self._digest.update(block)
        self._size += len(block)

    def landed(self) -> Incoming | None:
        """The whole body as a file, until the request is answered; None where it is in memory."""
        if not self.overflowed:
            return None
        file = self.buf.getfile()
        file.flush()
        return Incoming(Path(file.name), self._digest.hexdigest(), self._size)

    def _set_large_buffer(self) -> None:
        before = self.buf
        require_room(self._folder)
        self.buf, self.overflowed = _File(self._folder, before), True
        if before is not None:
            before.close()


class _File(FileBasedBuffer):
    """A body on disk, in our own folder; looks now and then how much room is left."""

    def __init__(self, folder: Path, before: Any = None) -> None:
        self._folder, self._unseen = folder, 0
        super().__init__(self.newfile(), before)

    def newfile(self) -> Any:
        return NamedTemporaryFile("w+b", dir=self._folder, suffix=".part")

    def append(self, block: bytes) -> None:
        self._unseen += len(block)
        if self._unseen >= LOOK_AT_DISK:
            self._unseen = 0
            require_room(self._folder)
        super().append(block)


def require_room(folder: Path) -> None:
    """`OSError` (disk full) where less than the reserve is left for unfinished files."""
    if BlobStore(folder, folder).free() < RESERVE_BYTES:
        raise OSError(errno.ENOSPC, "the disk is full")


@contextmanager
def spooled(source: Source, max_bytes: int) -> Iterator[Incoming]:
    """The file of a source on disk; `Refused` above `max_bytes` and on a full disk.

    Holds one block in memory at a time.
    """
    source = getattr(source, "incoming", source)  # the file of a form, where it landed
    if isinstance(source, Incoming):
        if source.size > max_bytes:
            raise too_large(max_bytes)
        yield source
        return
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
        if not is_disk_full(error):
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


def is_disk_full(error: BaseException | None) -> bool:
    """Whether an error, or what it came from, is a disk that is full; the database's, too."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        if isinstance(error, OperationalError) and _FULL.search(str(error)):
            return True
        error = error.__cause__
    return False


def _path_of(source: Path | IO[bytes]) -> Path | None:
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
