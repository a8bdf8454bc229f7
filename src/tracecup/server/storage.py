"""The blob store: bytes of files on disk, found by their SHA-256, written whole or not at all.

Blobs are never changed; a file's name, owner and audience are rows of the database. Whoever uses
the bytes of a blob asks for them with `checked`, which compares them with the SHA-256.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import logging
import math
import os
import re
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from django.conf import settings
from django.utils.translation import gettext as _

from tracecup.safeio import MIB
from tracecup.server.errors import Refused

BLOCK = MIB
RESERVE_BYTES = 64 * MIB
LOCK_FILE = ".lock"
_BLOB = re.compile(r"[0-9a-f]{64}")
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Blob:
    """What was stored: its digest and size."""

    sha256: str
    size: int


class Damaged(Refused):
    """A blob that is missing, or whose bytes are not those that were received."""

    def __init__(self, sha256: str, found: str) -> None:
        said = _(
            "The file {name} is damaged on the server's disk. Nothing was done with it; "
            "please tell the organisers."
        )
        super().__init__("internal", said.format(name=sha256[:12]), sha256=sha256)
        self.sha256, self.found = sha256, found
        log.error("the blob %s is %s", sha256, found)


class BlobStore:
    """Blobs below `root`, unfinished files below `incoming`.

    `free` tells the bytes left on the disk; tests hand in a full one. A blob that is put again is
    touched: who removes old ones that nobody names (`discard`) leaves it alone then.
    """

    def __init__(self, root: Path, incoming: Path) -> None:
        self.root, self.incoming = root, incoming

    def free(self) -> int:
        """Bytes that are left on the disk."""
        found = os.statvfs(self.root)
        return found.f_bavail * found.f_frsize

    def path(self, sha256: str) -> Path:
        """Where a blob lies; its bytes may have rotted (`checked`)."""
        return self.root / sha256[:2] / sha256

    def checked(self, sha256: str) -> Path:
        """Where a blob lies whose bytes are those that were stored; else `Damaged`.

        Reads it once from front to back: disks rot, and a score from other bytes is no score.
        """
        path = self.path(sha256)
        try:
            found = _sha256(path)
        except FileNotFoundError:
            raise Damaged(sha256, "missing") from None
        except OSError as error:
            raise Damaged(sha256, f"unreadable ({error.strerror})") from error
        if found != sha256:
            raise Damaged(sha256, "not what was stored")
        return path

    def has(self, sha256: str) -> bool:
        """Whether a blob is there."""
        return self.path(sha256).is_file()

    def unused_since(self, seconds: float) -> list[str]:
        """The blobs that nobody has put for so many seconds; used or not, the rows know."""
        before = time.time() - seconds
        blobs = [path for path in self.root.glob("??/*") if _BLOB.fullmatch(path.name)]
        return sorted(path.name for path in blobs if _put_at(path) < before)

    def discard(self, sha256: str, seconds: float) -> int | None:
        """Remove a blob unless somebody has put it within so many seconds; how many bytes it had.

        None: it is there, because it was put again or all are held; the next time will do.
        """
        path = self.path(sha256)
        try:
            with self._locked(fcntl.LOCK_EX | fcntl.LOCK_NB):
                if time.time() - _put_at(path) < seconds:
                    return None
                size = path.stat().st_size
                path.unlink()
        except BlockingIOError:
            return None
        return size

    def touch(self, sha256: str) -> None:
        """As if a blob were put again, before another row names it; it has to be there."""
        with self.held():
            os.utime(self.path(sha256))

    @contextmanager
    def held(self) -> Iterator[None]:
        """While this is open no blob is removed."""
        with self._locked(fcntl.LOCK_SH):
            yield

    @contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        with (self.root / LOCK_FILE).open("ab") as file:
            fcntl.flock(file, how)
            yield

    def put_blocks(self, blocks: Iterable[bytes], max_bytes: int) -> Blob:
        """Store what comes block by block; `Refused` above `max_bytes` or on a full disk."""
        with self.temporary() as path:
            digest, size = hashlib.sha256(), 0
            with _refusing_full_disk(), path.open("xb") as file:
                for block in blocks:
                    size += len(block)
                    if size > max_bytes:
                        raise too_large(max_bytes)
                    if self.free() < RESERVE_BYTES:
                        raise OSError(errno.ENOSPC, "the disk is full")
                    digest.update(block)
                    file.write(block)
                file.flush()
                os.fsync(file.fileno())
            return self._keep(path, digest.hexdigest(), size)

    def put_file(self, source: Path | IO[bytes], max_bytes: int = 1 << 40) -> Blob:
        """Store a copy of a file."""
        if isinstance(source, Path):
            with source.open("rb") as file:
                return self.put_blocks(_blocks(file), max_bytes)
        return self.put_blocks(_blocks(source), max_bytes)

    def keep(self, path: Path, sha256: str, size: int) -> Blob:
        """Store a whole file whose digest is known: what lies in `incoming` is linked, not copied.

        Nobody writes to it any more; its first name may go at any time.
        """
        if path.resolve().parent != self.incoming.resolve():
            return self.put_file(path)
        with _refusing_full_disk():
            if self.free() < RESERVE_BYTES:
                raise OSError(errno.ENOSPC, "the disk is full")
            with path.open("rb") as file:
                os.fsync(file.fileno())
        with self.temporary() as linked:
            try:
                linked.hardlink_to(path)
            except OSError:  # a file system without links
                return self.put_file(path)
            return self._keep(linked, sha256, size)

    @contextmanager
    def temporary(self) -> Iterator[Path]:
        """A path for an unfinished file; what is left there is removed."""
        self.incoming.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.incoming / f"{secrets.token_hex(8)}.part"
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)

    def _keep(self, path: Path, sha256: str, size: int) -> Blob:
        target = self.path(sha256)
        # Held: between a look at the blob and the touch nobody finds it old and removes it.
        with _refusing_full_disk(), self.held():
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if target.exists() and _sha256(target) == sha256:
                os.utime(target)
            else:  # new, or in the place of a blob that has rotted
                path.chmod(0o600)
                path.replace(target)
                _sync(target.parent)
        return Blob(sha256, size)


def store() -> BlobStore:
    """The blob store of this server."""
    return BlobStore(settings.CONFIG.blobs, settings.CONFIG.incoming)


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


@contextmanager
def _refusing_full_disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise disk_full() from error


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _put_at(path: Path) -> float:
    """When a blob was put last; in all eternity where it is gone."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return math.inf


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    while block := file.read(BLOCK):
        yield block


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
