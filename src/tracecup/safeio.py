"""Opening and writing files safely: bounded reading of hostile input, atomic writing.

Plain, gzip and zstd are told apart by content when reading and by name when writing.
"""

from __future__ import annotations

import gzip
import os
import secrets
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import zstandard

from tracecup import archives
from tracecup.errors import InvalidFile, Problem, TooLarge, UnreadableFile
from tracecup.frames import Fragments, gzip_frames, zstd_frames

MIB = 1 << 20
BLOCK_BYTES = 1 * MIB
GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
PARQUET_MAGIC = b"PAR1"
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Limits:
    """What a reader may cost. `max_bytes` counts after decompression.

    The defaults hold the largest sensible submission of a 2000 x 400 contest many times over and
    keep a reader below half a gigabyte.
    """

    max_bytes: int = 256 * MIB
    max_line: int = 64 * 1024
    max_rows: int = 12_000_000
    max_ids: int = 60_000_000


DEFAULT_LIMITS = Limits()
LARGE_LIMITS = Limits(
    max_bytes=1_048_576 * MIB, max_rows=1_000_000_000_000, max_ids=1_000_000_000_000
)
"""Files that the owner of this machine works on herself: as large as they are."""


@contextmanager
def open_regular(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a regular file for reading; anything else is an `UnreadableFile`, never a hang."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except (OSError, ValueError) as error:
        raise UnreadableFile(path, _reason(error)) from error
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        raise UnreadableFile(path, f"is {_type_name(mode)}, expected a regular file")
    with os.fdopen(handle, "rb", buffering=0) as file:
        yield cast(IO[bytes], file)


def magic_of(path: str | os.PathLike[str]) -> bytes:
    """The first four bytes of a regular file."""
    with open_regular(path) as file:
        return _read(path, file, 4)


def read_blocks(
    path: str | os.PathLike[str],
    limits: Limits = DEFAULT_LIMITS,
    block_bytes: int = BLOCK_BYTES,
    *,
    foreign: bool = False,
) -> Iterator[bytes]:
    """The content in blocks, decompressed on the way, never more than `limits.max_bytes` in all.

    `foreign`: also xz, and zip archives of one file, as raw data come (`tracecup.archives`).
    Raises `InvalidFile` for a broken or truncated archive and for more bytes than allowed.
    """
    with open_regular(path) as raw:
        magic = _read(path, raw, 4)
        raw.seek(0)
        source = _decompressed(path, raw, magic, foreign)
        packed = source is not raw
        if not packed and os.fstat(raw.fileno()).st_size > limits.max_bytes:
            raise too_large(path, limits, f"{os.fstat(raw.fileno()).st_size} bytes")
        total = 0
        while True:
            block = _read(path, source, block_bytes)
            if not block:
                return
            total += len(block)
            if total > limits.max_bytes:
                unpacked = " after decompression" if packed else ""
                raise too_large(path, limits, f"more than {limits.max_bytes} bytes{unpacked}")
            yield block


def too_large(path: str | os.PathLike[str], limits: Limits, found: str) -> TooLarge:
    """The error for a file over the size limit."""
    return TooLarge(path, [Problem(0, "", found, f"at most {limits.max_bytes} bytes")])


def read_lines(path: str | os.PathLike[str], limits: Limits = DEFAULT_LIMITS) -> Iterator[str]:
    """The lines of a small text table, without line ends and byte order mark, decoded.

    For tables of a few thousand rows (regions, times, places); traces have a faster reader.
    """
    pending, number = b"", 0
    for block in _with_end(read_blocks(path, limits)):
        lines = (pending + block).split(b"\n") if block else ([pending] if pending else [])
        pending = lines.pop() if block else b""
        for line in lines:
            number += 1
            if number > limits.max_rows:
                raise InvalidFile(
                    path, [Problem(number, "", "another row", f"at most {limits.max_rows}")]
                )
            yield _decode(path, line, number, limits)
        if len(pending) > limits.max_line:
            raise long_line(path, number + 1, limits)


def long_line(path: str | os.PathLike[str], number: int, limits: Limits) -> InvalidFile:
    """The error for a line over the length limit."""
    found = f"a line of more than {limits.max_line} bytes"
    return InvalidFile(path, [Problem(number, "", found, f"at most {limits.max_line} bytes")])


def ensure_folder(folder: Path, mode: int = 0o777) -> None:
    """Make a folder and those above it, unless it is there; `UnreadableFile` where that fails."""
    try:
        folder.mkdir(mode=mode, parents=True, exist_ok=True)
    except OSError as error:
        raise UnreadableFile(folder, f"cannot be made: {error.strerror}") from error


@contextmanager
def atomic_write(path: str | os.PathLike[str], mode: int = 0o666) -> Iterator[IO[bytes]]:
    """Write a file that appears whole or not at all: temporary name, fsync, rename.

    A name that ends like one of `COMPRESSIONS` (.gz, .zst) is compressed. The same content gives
    the same bytes.
    """
    target = Path(path)
    with (
        atomic_files((target, mode)) as (temporary,),
        synced_writer(temporary, target.name) as file,
    ):
        yield file


@contextmanager
def synced_writer(temporary: Path, name: str) -> Iterator[IO[bytes]]:
    """Write to `temporary`, compressed as `name` asks for, and fsync at the end."""
    with temporary.open("wb") as raw:
        with _compressed(raw, name) as file:
            yield file
        raw.flush()
        os.fsync(raw.fileno())


@contextmanager
def atomic_files(*targets: tuple[Path, int]) -> Iterator[tuple[Path, ...]]:
    """Temporary paths beside the targets, renamed onto them together if the block succeeds."""
    names = [
        path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}.tmp") for path, _ in targets
    ]
    try:
        for name, (path, mode) in zip(names, targets, strict=True):
            if path.is_dir():
                raise UnreadableFile(path, "is a directory, expected a file to write")
            os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
        yield tuple(names)
        for name, (path, _) in zip(names, targets, strict=True):
            name.replace(path)
        for folder in {path.parent for path, _ in targets}:
            _sync_folder(folder)
    except OSError as error:
        if isinstance(error, UnreadableFile):
            raise
        raise UnreadableFile(targets[0][0], f"cannot be written: {_reason(error)}") from error
    finally:
        for name in names:
            with suppress(OSError):
                name.unlink(missing_ok=True)


def _with_end(blocks: Iterator[bytes]) -> Iterator[bytes]:
    yield from blocks
    yield b""


def _decode(path: str | os.PathLike[str], line: bytes, number: int, limits: Limits) -> str:
    if len(line) > limits.max_line:
        raise long_line(path, number, limits)
    if number == 1:
        line = line.removeprefix(BOM)
    line = line.removesuffix(b"\r")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidFile(path, [Problem(number, "", show(line), "UTF-8 text")]) from error
    if "\0" in text:
        raise InvalidFile(path, [Problem(number, "", "a NUL byte", "text")])
    return text


def show(value: bytes | str, longest: int = 40) -> str:
    """How a found value is shown to people: quoted, escaped, cut."""
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value
    return repr(text if len(text) <= longest else text[:longest] + "…")


def _read(path: str | os.PathLike[str], file: IO[bytes], size: int) -> bytes:
    try:
        return file.read(size) or b""
    except _BROKEN as error:
        raise _broken(path, error) from error
    except OSError as error:
        raise UnreadableFile(path, _reason(error)) from error


def _broken(path: str | os.PathLike[str], error: Exception) -> InvalidFile:
    cut = isinstance(error, EOFError)
    found = "a truncated archive" if cut else f"a broken archive ({error})"
    known = " or ".join(one.name for one in COMPRESSIONS)
    return InvalidFile(path, [Problem(0, "", found, f"a complete {known} file")])


def _decompressed(
    path: str | os.PathLike[str], raw: IO[bytes], magic: bytes, foreign: bool
) -> IO[bytes]:
    for one in COMPRESSIONS:
        if magic.startswith(one.magic):
            return one.reader(raw)
    if foreign and magic == archives.XZ_MAGIC:
        return cast(IO[bytes], archives.WholeXz(raw))
    if foreign and magic == archives.ZIP_MAGIC:
        try:
            return archives.open_zip(raw)
        except archives.BROKEN as error:
            raise _broken(path, error) from error
    return raw


@contextmanager
def _compressed(raw: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    for one in COMPRESSIONS:
        if name.endswith(one.suffix):
            with one.writer(raw) as file:
                yield file
            return
    yield raw


def plain_name(name: str) -> str:
    """A file's name without the suffix of its compression.

    >>> plain_name("info_region.csv.gz"), plain_name("a.parquet")
    ('info_region.csv', 'a.parquet')
    """
    for one in COMPRESSIONS:
        if name.endswith(one.suffix):
            return name.removesuffix(one.suffix)
    return name


def _gzip_writer(raw: IO[bytes]) -> AbstractContextManager[Any]:
    # No name and no time in the header: equal content, equal bytes.
    return gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0)


def _zstd_writer(raw: IO[bytes]) -> AbstractContextManager[Any]:
    packer = zstandard.ZstdCompressor(level=6, write_checksum=True)
    return packer.stream_writer(raw, closefd=False)


@dataclass(frozen=True)
class Compression:
    """A way to pack files: told by `magic` when read, by `suffix` when written.

    `reader` gives the plain bytes of an open file, and raises EOFError or one of `broken` where
    it cannot; `writer` packs into one. `media_type` is what a web server says.
    """

    name: str
    suffix: str
    magic: bytes
    media_type: str
    reader: Callable[[IO[bytes]], IO[bytes]]
    writer: Callable[[IO[bytes]], AbstractContextManager[Any]]
    broken: tuple[type[Exception], ...]


COMPRESSIONS: tuple[Compression, ...] = (
    Compression(
        "gzip",
        ".gz",
        GZIP_MAGIC,
        "application/gzip",
        lambda raw: cast(IO[bytes], gzip_frames(raw)),
        _gzip_writer,
        (zlib.error,),
    ),
    Compression(
        "zstd",
        ".zst",
        ZSTD_MAGIC,
        "application/zstd",
        lambda raw: cast(IO[bytes], zstd_frames(raw)),
        _zstd_writer,
        (zstandard.ZstdError,),
    ),
)
"""All of them; readers, writers, names and the web server follow from here."""
_BROKEN: tuple[type[Exception], ...] = (
    Fragments,
    *archives.BROKEN,
    *(error for one in COMPRESSIONS for error in one.broken),
)
PARQUET_SUFFIX = ".parquet"
TEXT_SUFFIXES = (".csv", *(f".csv{one.suffix}" for one in COMPRESSIONS))
"""How the names of text files may end, plain and packed."""
DATA_SUFFIXES = (*TEXT_SUFFIXES, PARQUET_SUFFIX)
"""How the names of trace files and tables may end."""


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every system can sync a folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _type_name(mode: int) -> str:
    names = {stat.S_IFDIR: "a directory", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    return names.get(stat.S_IFMT(mode), "a device")


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file or folder"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error)
