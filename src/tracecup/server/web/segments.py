"""Bytes that lie in several places, read as one file: parts of files, and zip archives of files.

A web server can seek in them, so downloads can be resumed and nothing is built beforehand.
"""

from __future__ import annotations

import io
import struct
import zlib
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import IO, Any

from tracecup.server.storage import BLOCK

Part = bytes | tuple[Path, int]

_STORED, _UTF8_NAME, _VERSION, _VERSION_64 = 0, 0x0800, 20, 45
_DATE = 0x0021  # 1980-01-01: the same files give the same archive
_MOST_32, _MOST_16 = 0xFFFFFFFF, 0xFFFF
_PLAIN_FILE = 0o100644 << 16


class Segments(io.RawIOBase):
    """A read-only file made of parts: bytes, or a whole file with its size.

    `start` and `length` cut a range out of it; positions count from `start`.
    """

    def __init__(self, parts: Sequence[Part], start: int = 0, length: int | None = None) -> None:
        self._parts = list(parts)
        self._ends = list(accumulate(_size(part) for part in self._parts))
        whole = self._ends[-1] if self._ends else 0
        self._start = min(start, whole)
        self._length = whole - self._start if length is None else min(length, whole - self._start)
        self._at = 0
        self._open: tuple[int, IO[bytes]] | None = None

    def __len__(self) -> int:
        """How many bytes there are."""
        return self._length

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True

    def tell(self) -> int:
        """Where reading goes on."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go on reading elsewhere."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._length}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Read what is left of one part, as much as fits."""
        view = memoryview(buffer).cast("B")
        wanted = min(len(view), self._length - self._at)
        if wanted <= 0:
            return 0
        position = self._start + self._at
        k = bisect_right(self._ends, position)
        inside = position - (self._ends[k - 1] if k else 0)
        part = self._parts[k]
        if isinstance(part, bytes):
            block = part[inside : inside + wanted]
        else:
            file = self._file(k, part[0])
            file.seek(inside)
            block = file.read(min(wanted, part[1] - inside))
            if not block:
                raise OSError("a file is shorter than it was")
        view[: len(block)] = block
        self._at += len(block)
        return len(block)

    def close(self) -> None:
        """Close what is open."""
        if self._open is not None:
            self._open[1].close()
            self._open = None
        super().close()

    def _file(self, k: int, path: Path) -> IO[bytes]:
        if self._open is None or self._open[0] != k:
            if self._open is not None:
                self._open[1].close()
            self._open = (k, path.open("rb"))
        return self._open[1]


@dataclass(frozen=True)
class Packed:
    """A file that goes into an archive: its name there, its bytes, their size and CRC-32."""

    name: str
    part: Part
    size: int
    crc: int

    @classmethod
    def of_bytes(cls, name: str, content: bytes) -> Packed:
        """From bytes."""
        return cls(name, content, len(content), zlib.crc32(content))

    @classmethod
    def of_blob(cls, name: str, path: Path, size: int) -> Packed:
        """From a file that never changes."""
        return cls(name, (path, size), size, crc_of(path))


def zip_parts(files: Sequence[Packed]) -> list[Part]:
    """The parts of a zip archive that stores these files as they are.

    Sizes and checksums are known beforehand, so the whole archive is known without being made;
    large counts and sizes are written in the 64-bit records of the format.
    """
    parts: list[Part] = []
    directory: list[bytes] = []
    offset = 0
    for file in files:
        name = file.name.encode()
        header = _local_header(file, name)
        directory.append(_directory_entry(file, name, offset))
        parts += [header, file.part]
        offset += len(header) + file.size
    entries = b"".join(directory)
    return [*parts, entries + _end(len(files), len(entries), offset)]


@lru_cache(maxsize=4096)
def crc_of(path: Path) -> int:
    """CRC-32 of a file that never changes."""
    crc = 0
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            crc = zlib.crc32(block, crc)
    return crc


def _local_header(file: Packed, name: bytes) -> bytes:
    big = file.size >= _MOST_32
    extra = struct.pack("<HHQQ", 1, 16, file.size, file.size) if big else b""
    size = _MOST_32 if big else file.size
    version = _VERSION_64 if big else _VERSION
    return (
        struct.pack(
            "<4s5H3L2H",
            b"PK\x03\x04",
            version,
            _UTF8_NAME,
            _STORED,
            0,
            _DATE,
            file.crc,
            size,
            size,
            len(name),
            len(extra),
        )
        + name
        + extra
    )


def _directory_entry(file: Packed, name: bytes, offset: int) -> bytes:
    big = [value for value in (file.size, file.size, offset) if value >= _MOST_32]
    extra = struct.pack(f"<HH{len(big)}Q", 1, 8 * len(big), *big) if big else b""
    size, at = min(file.size, _MOST_32), min(offset, _MOST_32)
    version = _VERSION_64 if big else _VERSION
    return (
        struct.pack(
            "<4s6H3L5H2L",
            b"PK\x01\x02",
            (3 << 8) | version,
            version,
            _UTF8_NAME,
            _STORED,
            0,
            _DATE,
            file.crc,
            size,
            size,
            len(name),
            len(extra),
            0,
            0,
            0,
            _PLAIN_FILE,
            at,
        )
        + name
        + extra
    )


def _end(count: int, size: int, offset: int) -> bytes:
    record = b""
    if count >= _MOST_16 or size >= _MOST_32 or offset >= _MOST_32:
        record = struct.pack(
            "<4sQ2H2L4Q",
            b"PK\x06\x06",
            44,
            _VERSION_64,
            _VERSION_64,
            0,
            0,
            count,
            count,
            size,
            offset,
        ) + struct.pack("<4sLQL", b"PK\x06\x07", 0, offset + size, 1)
    shown = min(count, _MOST_16)
    return record + struct.pack(
        "<4s4H2LH",
        b"PK\x05\x06",
        0,
        0,
        shown,
        shown,
        min(size, _MOST_32),
        min(offset, _MOST_32),
        0,
    )


def _size(part: Part) -> int:
    return len(part) if isinstance(part, bytes) else part[1]
