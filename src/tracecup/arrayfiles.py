"""Model files: a .npz archive of plain arrays and a JSON header.

Versioned and self-describing; nothing in it can execute, and a small file unpacks to no huge one.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from tracecup.archives import reading_zip
from tracecup.errors import InvalidFile, Problem, TraceCupError, UnreadableFile
from tracecup.records import Timetable
from tracecup.safeio import MIB, Limits, atomic_write, open_regular, too_large

Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]

MAX_HEADER = MIB
"""Bytes of the JSON header at most."""


class FieldProblem(Problem):
    """One thing wrong in a header or an array: it has fields where a table has columns."""

    part = "field"


@dataclass(frozen=True)
class ArchiveFormat:
    """A kind of model file: its name, its version, and the shape of every array in letters whose
    sizes stand in the header ("N+1" is one more than "N").

    A `hashed` file holds the SHA-256 of its arrays in the header: a changed number is noticed.
    Whoever changes a file on purpose writes the hash anew, so readers check what they are given.
    With `limits` a larger file is refused unread.
    """

    name: str
    version: int
    shapes: Mapping[str, tuple[str, ...]]
    hashed: bool = False
    limits: Limits | None = None

    def write(self, path: str | PathLike[str], header: Header, arrays: Arrays) -> None:
        """Write the file; it appears whole or not at all."""
        header = {"format": self.name, "version": self.version} | header
        if self.hashed:
            header["sha256"] = digest_of(arrays)
        text = np.frombuffer(json.dumps(header, indent=1).encode(), dtype=np.uint8)
        save: Any = np.savez  # its stub takes the names of arrays for options
        with atomic_write(path) as file:
            save(file, header=text, **arrays)

    def read(
        self, path: str | PathLike[str], named: str | PathLike[str] | None = None
    ) -> tuple[Header, Arrays]:
        """Header and arrays of a file, of the right shapes and finite; else an `InvalidFile`.

        Sizes, shapes and types are compared before any array is read. Errors call the file
        `named` where it was unpacked from another one.
        """
        called = path if named is None else named
        with (
            reading_zip(lambda found: self.invalid(called, found)),
            open_regular(path) as file,
        ):
            size = os.fstat(file.fileno()).st_size
            if self.limits is not None and size > self.limits.max_bytes:
                raise too_large(called, self.limits, f"{size} bytes")
            with zipfile.ZipFile(file) as archive:
                return self._read(called, archive, size)

    def _read(
        self, path: str | PathLike[str], archive: zipfile.ZipFile, size: int
    ) -> tuple[Header, Arrays]:
        if not _stored_plain(archive):
            raise self.invalid(path, "compressed members")
        header = _header_of(archive)
        if not isinstance(header, dict) or header.get("format") != self.name:
            raise self.invalid(path, "another kind of archive")
        if header.get("version") != self.version:
            raise self.invalid(path, f"version {header.get('version')!r:.40}")
        self._check_announced(path, archive, header.get("sizes"), size)
        read = {name: _array_of(archive, name) for name in self.shapes}
        for name, array in read.items():
            if not np.isfinite(array).all():
                raise self.invalid(path, f"numbers in {name} that are not finite")
        if self.hashed and header.get("sha256") != digest_of(read):
            raise self.invalid(path, "arrays that do not have the SHA-256 of the header")
        return header, read

    def _check_announced(
        self, path: str | PathLike[str], archive: zipfile.ZipFile, given: Any, size: int
    ) -> None:
        """Refuse arrays of other shapes than the header's sizes say, before they are read."""
        sizes = dict[str, int]()
        if not isinstance(given, dict):
            raise self.invalid(path, f"{given!r:.40}", "sizes", "the sizes of the arrays")
        for key, side in given.items():
            if type(side) is not int or side < 0:
                raise self.invalid(path, f"{side!r:.40}", f"sizes.{key}"[:80], "a whole number")
            sizes |= {key: side, f"{key}+1": side + 1}
        total = 0
        for name, letters in self.shapes.items():
            wanted = tuple(sizes[side] for side in letters)
            shape, kind = _announced(archive, name)
            if shape != wanted:
                raise self.invalid(path, f"array {name} of shape {shape} instead of {wanted}")
            if kind.kind not in "iufb":
                raise self.invalid(path, f"array {name} of {kind!s:.40}")
            total += math.prod(shape) * kind.itemsize
        if total > size:
            raise self.invalid(path, f"arrays of {total} bytes in a file of {size}")

    def invalid(
        self, path: str | PathLike[str], found: str, field: str = "", expected: str = ""
    ) -> InvalidFile:
        """The error for a file in which `found` was found, perhaps in a field of its header."""
        usual = f"a {self.name} file of version {self.version}"
        return InvalidFile(path, [FieldProblem(0, field, found, expected or usual)])


def digest_of(arrays: Mapping[str, NDArray[Any]]) -> str:
    """SHA-256 over names, types, shapes and bytes of arrays, whatever their order.

    >>> digest_of({"a": np.zeros(2), "b": np.ones(1)})[:16]
    '25fd32cb1f32d34c'
    """
    found = hashlib.sha256()
    for name in sorted(arrays):
        held = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {held.dtype.str} {held.shape} ".encode())
        found.update(held.data)
    return found.hexdigest()


def format_of(path: str | PathLike[str]) -> str:
    """The name of a model file's format; "" for anything else, which its reader then refuses."""
    try:
        with (
            reading_zip(lambda found: UnreadableFile(path, found)),
            open_regular(path) as file,
            zipfile.ZipFile(file) as archive,
        ):
            return str(_header_of(archive)["format"]) if _stored_plain(archive) else ""
    except TraceCupError:
        return ""


def header_of_day(day: Timetable) -> dict[str, int]:
    """How a model file describes the days it makes."""
    return {"slots": day.slots, "slot_minutes": day.slot_minutes, "start": day.start}


def day_of_header(header: Mapping[str, Any]) -> Timetable:
    """The days that a model file describes, one instant in every slot.

    >>> day_of_header({"slots": 12, "slot_minutes": 60, "start": 360}).slot_minutes
    60
    """
    slots, minutes, start = (int(header[name]) for name in ("slots", "slot_minutes", "start"))
    return Timetable(start, minutes, slots, slots)


def _stored_plain(archive: zipfile.ZipFile) -> bool:
    """Members must be stored plain, so that a small file cannot unpack to a huge one."""
    return all(member.compress_type == zipfile.ZIP_STORED for member in archive.infolist())


def _header_of(archive: zipfile.ZipFile) -> Any:
    shape, kind = _announced(archive, "header")
    if kind != np.uint8 or len(shape) != 1 or not 0 < shape[0] <= MAX_HEADER:
        raise ValueError(f"a header of shape {shape} and type {kind!s:.40}")
    return json.loads(_array_of(archive, "header").tobytes())


def _announced(archive: zipfile.ZipFile, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type of an array as they stand before its data."""
    with _member(archive, name) as file:
        version = npy.read_magic(file)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"array {name} of npy version {version}")
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, kind = read(file)
    return shape, kind


def _array_of(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with _member(archive, name) as file:
        found: NDArray[Any] = npy.read_array(file, allow_pickle=False)
    return found


def _member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    return archive.open(f"{name}.npy")
