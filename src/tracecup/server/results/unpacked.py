"""Packed files as plain ones in a zip archive that is made while it is sent.

For browsers and spreadsheets that know no `.zst`; memory is bounded by a block.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tracecup.safeio import read_blocks

DATE = (1980, 1, 1, 0, 0, 0)  # the same files give the same archive


def zip_stream(
    texts: Sequence[tuple[str, bytes]], files: Sequence[tuple[str, Path]]
) -> Iterator[bytes]:
    """A zip archive of texts and of unpacked files, in blocks as it grows.

    >>> from pathlib import Path
    >>> made = b"".join(zip_stream([("README.txt", b"hello")], []))
    >>> zipfile.ZipFile(io.BytesIO(made)).read("README.txt")
    b'hello'
    """
    out = _Tail()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, text in texts:
            archive.writestr(_entry(name), text)
        for name, path in files:
            with archive.open(_entry(name), "w", force_zip64=True) as member:
                for block in read_blocks(path):
                    member.write(block)
                    yield out.taken()
            yield out.taken()
    yield out.taken()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o100644 << 16
    return entry


class _Tail(io.RawIOBase):
    """Keeps what was written since it was last taken; cannot be gone back in."""

    def __init__(self) -> None:
        self._held = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, block: object) -> int:
        data = bytes(memoryview(block))  # type: ignore[arg-type]  # zipfile writes bytes
        self._held += data
        return len(data)

    def taken(self) -> bytes:
        """What was written since."""
        data = bytes(self._held)
        self._held.clear()
        return data
