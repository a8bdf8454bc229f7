"""Reading packed raw data that nothing here writes: xz, and zip archives of one file.

Only loaders of raw data ask for it; a contest's files are plain, gzip or zstd. `reading_zip` is for
all: what Python says about damaged zip archives, in one place.
"""

from __future__ import annotations

import errno
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

from tracecup.errors import TraceCupError

XZ_MAGIC = b"\xfd7zX"
ZIP_MAGIC = b"PK\x03\x04"
# As for zstd: what a frame may ask for.
XZ_MEMORY = 128 << 20
MAX_MEMBERS = 10_000
BROKEN: tuple[type[Exception], ...] = (
    EOFError,
    lzma.LZMAError,
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,  # zipfile: a member packed in a way that Python does not know
)


@contextmanager
def reading_zip(refusal: Callable[[str], Exception]) -> Iterator[None]:
    """Whatever the library says of a damaged, cut, exotic or encrypted archive, as one error.

    It has no error of its own for most of them: a wrong place is an `OSError`, a wrong name a
    `UnicodeDecodeError`, a wrong field a `struct.error`.
    """
    try:
        yield
    except TraceCupError:
        raise
    except (
        *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError),
        *(ArithmeticError, LookupError, MemoryError, RuntimeError, TypeError, ValueError),
    ) as error:
        raise refusal(str(error) or type(error).__name__) from error
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):  # a place in the file that cannot be
            raise
        raise refusal(str(error)) from error


class WholeXz:
    """Reads xz streams one after another and complains when the last one is cut short."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._object: Any = None
        self._rest = b""

    def read(self, size: int) -> bytes:
        """At most `size` plain bytes, so that a bomb unpacks no faster than it is read."""
        while True:
            if self._object is None:
                packed = self._rest or self._raw.read(1 << 16)
                if not packed:
                    return b""
                self._rest, packed = b"", packed.lstrip(b"\0")  # zeros between streams
                if not packed:
                    continue
                self._object = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)
            else:
                packed = self._raw.read(1 << 16) if self._object.needs_input else b""
                if self._object.needs_input and not packed:
                    raise EOFError
            out = self._object.decompress(packed, max_length=size)
            if self._object.eof:
                self._rest, self._object = self._object.unused_data, None
            if out:
                return cast(bytes, out)


def open_zip(raw: IO[bytes]) -> IO[bytes]:
    """The one file of a zip archive; folders and what macOS adds beside it do not count."""
    archive = zipfile.ZipFile(raw)
    members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        raise zipfile.BadZipFile(f"{len(members)} members, at most {MAX_MEMBERS}")
    files = [m for m in members if not m.is_dir() and not m.filename.startswith("__MACOSX/")]
    if len(files) != 1:
        raise zipfile.BadZipFile(f"{len(files)} files inside, expected one: unpack it")
    if files[0].flag_bits & 1:
        raise zipfile.BadZipFile("the file inside is encrypted")
    return archive.open(files[0])
