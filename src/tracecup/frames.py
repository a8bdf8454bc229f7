"""Reading packed files frame by frame, so that a hostile one costs no more than an honest one.

A frame of zstd or member of gzip takes time even where it holds nothing; how many there may be
depends on what came out of them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import IO, Any

import zstandard

# zstd frames may ask for huge windows; 128 MiB is what the format's own tool accepts by default.
ZSTD_MAX_WINDOW = 128 << 20
# gzip unpacks no more than is asked for. zstd unpacks a whole step, of which a byte may hold 30,000
# plain ones: small steps, so that a bomb unpacks some 30 MiB at a time.
GZIP_STEP, ZSTD_STEP = 8 << 10, 1 << 10
FRAMES_FREE = 100
BYTES_PER_FRAME = 4096
"""Beyond the first hundred, frames hold so many bytes on average (tools write 64 KiB and more)."""


class Fragments(Exception):
    """A file of so many pieces that reading it would cost more than its content is worth."""


class Frames:
    """Reads frames one after another and complains when the last one is cut short.

    `new` makes a decompressor with `decompress`, `eof` and `unused_data`, which gets `step` packed
    bytes at a time; a `bounded` one also takes how much to give, and has an `unconsumed_tail`. At
    most `FRAMES_FREE` + plain bytes / `BYTES_PER_FRAME` frames are begun (`Fragments`): a file of a
    million empty ones costs as little as one of a hundred.
    """

    def __init__(
        self, raw: IO[bytes], new: Callable[[], Any], step: int, *, bounded: bool = False
    ) -> None:
        self._raw, self._new, self._step, self._bounded = raw, new, step, bounded
        self._object: Any = None
        self._rest = b""
        self._ready = memoryview(b"")
        self._frames = self._plain = 0

    def read(self, size: int) -> bytes:
        """The next `size` plain bytes; fewer at the end only, and then none."""
        parts: list[memoryview] = []
        missing = size
        while missing and (self._ready or self._unpack(missing)):
            parts.append(self._ready[:missing])
            self._ready = self._ready[missing:]
            missing -= len(parts[-1])
        alone: Any = parts[0].obj if len(parts) == 1 and not missing else b""
        if size and len(alone) == size:
            return bytes(alone)  # the block as it was unpacked: not copied
        return b"".join(parts)

    def _unpack(self, most: int) -> bool:
        """Have some more plain bytes ready, at most `most` if bounded; whether there are any."""
        while not self._ready:
            packed = self._rest or self._raw.read(self._step)
            self._rest = b""
            ended = not packed
            if self._object is None:
                if ended:
                    return False
                packed = packed if not self._frames else packed.lstrip(b"\0")  # padding of tapes
                if not packed:
                    continue
                self._begin()
            # A bounded one may have more to give when all packed bytes are in.
            plain = self._plain_of(packed, most) if packed or self._bounded else b""
            if ended and not plain and self._object is not None:
                raise EOFError
            self._ready = memoryview(plain)
            self._plain += len(plain)
        return True

    def _plain_of(self, packed: bytes, most: int) -> bytes:
        one = self._object
        plain: bytes = one.decompress(packed, most) if self._bounded else one.decompress(packed)
        if one.eof:
            self._rest, self._object = one.unused_data, None
        elif self._bounded:
            self._rest = one.unconsumed_tail
        return plain

    def _begin(self) -> None:
        self._frames += 1
        if self._frames > FRAMES_FREE + self._plain // BYTES_PER_FRAME:
            raise Fragments(f"{self._frames} pieces for {self._plain} bytes")
        self._object = self._new()


def gzip_frames(raw: IO[bytes]) -> Frames:
    """The members of a gzip file, each with its checksum verified."""
    return Frames(raw, lambda: zlib.decompressobj(wbits=31), GZIP_STEP, bounded=True)


def zstd_frames(raw: IO[bytes]) -> Frames:
    """The frames of a zstd file."""
    unpacker = zstandard.ZstdDecompressor(max_window_size=ZSTD_MAX_WINDOW)
    return Frames(raw, unpacker.decompressobj, ZSTD_STEP)
