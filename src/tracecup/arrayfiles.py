"""Model files: a .npz archive of plain arrays and a JSON header.

Versioned and self-describing; nothing in it can execute, and a small file unpacks to no huge one.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracecup.archives import reading_zip
from tracecup.errors import InvalidFile, Problem, TraceCupError, UnreadableFile
from tracecup.records import Timetable
from tracecup.safeio import atomic_write, open_regular

Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class ArchiveFormat:
    """A kind of model file: its name, its version, and the shape of every array in letters whose
    sizes stand in the header ("N+1" is one more than "N").

    A `hashed` file holds the SHA-256 of its arrays in the header: a changed number is noticed.
    """

    name: str
    version: int
    shapes: Mapping[str, tuple[str, ...]]
    hashed: bool = False

    def write(self, path: str | PathLike[str], header: Header, arrays: Arrays) -> None:
        """Write the file; it appears whole or not at all."""
        header = {"format": self.name, "version": self.version} | header
        if self.hashed:
            header["sha256"] = digest_of(arrays)
        text = np.frombuffer(json.dumps(header, indent=1).encode(), dtype=np.uint8)
        save: Any = np.savez  # its stub takes the names of arrays for options
        with atomic_write(path) as file:
            save(file, header=text, **arrays)

    def read(self, path: str | PathLike[str]) -> tuple[Header, Arrays]:
        """Header and arrays of a file, of the right shapes and finite; else an `InvalidFile`."""
        with (
            reading_zip(lambda found: self.invalid(path, found)),
            open_regular(path) as file,
        ):
            return self._read(path, file)

    def _read(self, path: str | PathLike[str], file: Any) -> tuple[Header, Arrays]:
        if not _stored_plain(file):
            raise self.invalid(path, "compressed members")
        with np.load(file, allow_pickle=False) as arrays:
            header = json.loads(arrays["header"].tobytes())
            if not isinstance(header, dict) or header.get("format") != self.name:
                raise self.invalid(path, "another kind of archive")
            if header.get("version") != self.version:
                raise self.invalid(path, f"version {header.get('version')}")
            read = {name: arrays[name] for name in self.shapes}
        sizes = {key: int(size) for key, size in header["sizes"].items()}
        sizes |= {f"{key}+1": size + 1 for key, size in sizes.items()}
        for name, shape in self.shapes.items():
            wanted = tuple(sizes[side] for side in shape)
            if read[name].shape != wanted:
                found = f"array {name} of shape {read[name].shape} instead of {wanted}"
                raise self.invalid(path, found)
            if read[name].dtype.kind not in "iufb":
                raise self.invalid(path, f"array {name} of {read[name].dtype}")
            if not np.isfinite(read[name]).all():
                raise self.invalid(path, f"numbers in {name} that are not finite")
        if self.hashed and header.get("sha256") != digest_of(read):
            raise self.invalid(path, "arrays that do not have the SHA-256 of the header")
        return header, read

    def invalid(self, path: str | PathLike[str], found: str) -> InvalidFile:
        """The error for a file in which `found` was found."""
        return InvalidFile(
            path, [Problem(0, "", found, f"a {self.name} file of version {self.version}")]
        )


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
        with reading_zip(lambda found: UnreadableFile(path, found)), open_regular(path) as file:
            if not _stored_plain(file):
                return ""
            with np.load(file, allow_pickle=False) as arrays:
                return str(json.loads(arrays["header"].tobytes())["format"])
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


def _stored_plain(file: Any) -> bool:
    """Members must be stored plain, so that a small file cannot unpack to a huge one."""
    with zipfile.ZipFile(file) as archive:
        plain = all(member.compress_type == zipfile.ZIP_STORED for member in archive.infolist())
    file.seek(0)
    return plain
