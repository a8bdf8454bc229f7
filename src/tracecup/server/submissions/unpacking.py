"""Zip archives of strangers: read within limits, one member at a time, never by its own path.

Names are only looked at, bytes go to files that we name; nothing is unpacked beside another.
"""

from __future__ import annotations

import stat
import struct
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from django.utils.translation import gettext as _

from tracecup.archives import reading_zip
from tracecup.contest.filenames import MAX_MEMBERS, parse_file_name
from tracecup.safeio import MIB
from tracecup.server.errors import Refused
from tracecup.server.storage import store
from tracecup.server.web.incoming import Incoming, blocks_of, written

MAX_DIRECTORY_BYTES = 2 * MIB
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

_END = b"PK\x05\x06"
_END_BYTES = 22
_LOCATOR = b"PK\x06\x07"
_LOCATOR_BYTES = 20
_LONGEST_COMMENT = 1 << 16
_ENCRYPTED = 0x1
_JUNK = ("__MACOSX/", ".DS_Store", "Thumbs.db")


@dataclass
class _Budget:
    """Bytes that may still come out of an archive."""

    left: int


@dataclass(frozen=True)
class PackedFile:
    """One file of an archive: `name` its last part, `problem` why it is not even opened."""

    name: str
    shown: str
    problem: str
    _archive: zipfile.ZipFile = field(repr=False)
    _info: zipfile.ZipInfo = field(repr=False)
    _most: int = 0
    _budget: _Budget = field(default_factory=lambda: _Budget(0), repr=False)

    @contextmanager
    def spooled(self) -> Iterator[Incoming]:
        """The member on disk while it is needed; `Refused` for too much or broken content."""
        with store().temporary() as path:
            broken = Refused("invalid", _("This part of the archive is broken."))
            with reading_zip(lambda _found: broken), self._archive.open(self._info) as file:
                got = written(path, self._within_budget(file), self._most)
            yield got

    def _within_budget(self, file: IO[bytes]) -> Iterator[bytes]:
        for block in blocks_of(file):
            self._budget.left -= len(block)
            if self._budget.left < 0:
                raise _too_much()
            yield block


def members(path: Path, member_bytes: int, total_bytes: int) -> Iterator[PackedFile]:
    """The files of a zip archive, one after another; use each before the next.

    `Refused` for what is no zip archive, has too many entries or says that it unpacks to more
    than `total_bytes`. What it says is not believed: the limits hold while unpacking, too.
    """
    with path.open("rb") as raw:
        _require_small_directory(raw)
        with reading_zip(lambda _found: _no_archive()):
            archive = zipfile.ZipFile(raw)
        with archive:
            infos = [info for info in archive.infolist() if not _is_junk(info)]
            if len(infos) > MAX_MEMBERS:
                raise _too_many()
            if sum(info.file_size for info in infos) > total_bytes:
                raise _too_much()
            budget = _Budget(total_bytes)
            same = Counter(_meaning(info) for info in infos)
            for info in infos:
                problem = _problem(info, member_bytes, repeated=same[_meaning(info)] > 1)
                yield PackedFile(
                    _last(info.filename),
                    _shown(info.filename),
                    problem,
                    archive,
                    info,
                    member_bytes,
                    budget,
                )


def _require_small_directory(raw: IO[bytes]) -> None:
    """Look at the end record before the library reads the directory it speaks of into memory."""
    size = raw.seek(0, 2)
    raw.seek(max(0, size - _END_BYTES - _LONGEST_COMMENT - _LOCATOR_BYTES))
    tail = raw.read()
    at = len(tail) - _END_BYTES
    # The same search as the library's: an end record without a comment goes first.
    if at < 0 or tail[at : at + 4] != _END or tail[-2:] != b"\0\0":
        at = tail.rfind(_END)
    if at < 0 or at + _END_BYTES > len(tail):
        raise _no_archive()
    entries, directory_bytes = struct.unpack_from("<HL", tail, at + 10)
    if tail[max(0, at - _LOCATOR_BYTES) : at].startswith(_LOCATOR):
        # Larger counts are in another record; archives that need it are too large for us.
        raise _too_many()
    if entries > MAX_MEMBERS or directory_bytes > MAX_DIRECTORY_BYTES:
        raise _too_many()
    raw.seek(0)


def _problem(info: zipfile.ZipInfo, member_bytes: int, *, repeated: bool) -> str:
    """Why a member is not opened; empty if it is."""
    name, mode = info.filename, info.external_attr >> 16
    parts = name.replace("\\", "/").split("/")
    leads_out = name.startswith("/") or ".." in parts or any(one in name for one in "\\:")
    found = {
        _("The name of the file leads out of the archive."): (
            leads_out or "\0" in info.orig_filename
        ),
        _("This is not a plain file."): stat.S_IFMT(mode) not in (0, stat.S_IFREG),
        _("The file is encrypted."): bool(info.flag_bits & _ENCRYPTED),
        _("The file is packed in a way that is not accepted; use plain zip (deflate)."): (
            info.compress_type not in METHODS
        ),
        _("The archive holds several files for the same purpose; none of them is taken."): repeated,
        _("The file is larger than {most} MiB.").format(most=member_bytes // MIB): (
            info.file_size > member_bytes
        ),
    }
    return next((problem for problem, holds in found.items() if holds), "")


def _meaning(info: zipfile.ZipInfo) -> object:
    """What must be there only once: the answer that a name stands for, else the name."""
    last = _last(info.filename)
    return parse_file_name(last) or last


def _is_junk(info: zipfile.ZipInfo) -> bool:
    return (
        info.filename.endswith("/")
        or info.filename.startswith(_JUNK[0])
        or _last(info.filename) in _JUNK
    )


def _last(name: str) -> str:
    return name.replace("\\", "/").rsplit("/", 1)[-1]


def _shown(name: str) -> str:
    return "".join(one if one.isprintable() else "?" for one in name)[:200]


def _no_archive() -> Refused:
    return Refused("invalid", _("This is not a zip archive, or it is cut off."))


def _too_much() -> Refused:
    return Refused("too-large", _("The archive unpacks to more than is allowed."))


def _too_many() -> Refused:
    return Refused(
        "too-large",
        _("The archive has more than {most} entries.").format(most=MAX_MEMBERS),
    )
