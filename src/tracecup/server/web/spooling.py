"""Bodies while they arrive: small ones in memory, others on disk, as long as there is room.

In the server's own folder, so that nothing is left elsewhere.
"""

from __future__ import annotations

import errno
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from waitress.buffers import FileBasedBuffer, OverflowableBuffer

from tracecup.safeio import MIB
from tracecup.server.storage import RESERVE_BYTES, BlobStore

MEMORY_BODY = 64 * 1024
LOOK_AT_DISK = 4 * MIB


class Spool(OverflowableBuffer):
    """A body: small ones in memory, others on disk."""

    buf: Any = None

    def __init__(self, folder: Path) -> None:
        super().__init__(MEMORY_BODY)
        self._folder = folder

    def _set_large_buffer(self) -> None:
        before = self.buf
        require_room(self._folder)
        self.buf, self.overflowed = _File(self._folder, before), True
        if before is not None:
            before.close()


def require_room(folder: Path) -> None:
    """`OSError` (disk full) where less than the reserve is left for unfinished files."""
    if BlobStore(folder, folder).free() < RESERVE_BYTES:
        raise OSError(errno.ENOSPC, "the disk is full")


class _File(FileBasedBuffer):
    """A body on disk, in our own folder; looks now and then how much room is left."""

    def __init__(self, folder: Path, before: Any = None) -> None:
        self._folder, self._unseen = folder, 0
        super().__init__(self.newfile(), before)

    def newfile(self) -> IO[bytes]:
        return TemporaryFile("w+b", dir=self._folder)

    def append(self, block: bytes) -> None:
        self._unseen += len(block)
        if self._unseen >= LOOK_AT_DISK:
            self._unseen = 0
            require_room(self._folder)
        super().append(block)
