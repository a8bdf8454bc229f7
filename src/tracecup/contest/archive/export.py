"""One file out of an archive: all of it, or what may be public while the contest runs.

What is public is listed; everything else stays inside, whatever is added to archives later.
"""

from __future__ import annotations

import json
import os
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Literal

from tracecup.archives import reading_zip
from tracecup.contest.archive.folder import (
    ABOUT_FILE,
    CITY_FILE,
    CLOCK_FILE,
    COMMITMENTS_FILE,
    PUBLIC,
    SECRET,
    Archive,
)
from tracecup.contest.archive.manifest import (
    DIGEST,
    FORMAT,
    MANIFEST,
    OUTSIDE,
    files_of,
    is_safe_name,
)
from tracecup.contest.archive.parcel import content_of
from tracecup.contest.entries import Entry
from tracecup.contest.rules.file import RULES_FILE
from tracecup.contest.stages import TIMINGS_FILE
from tracecup.errors import InvalidFile, InvalidParameter, Problem, UnreadableFile
from tracecup.safeio import (
    BLOCK_BYTES,
    COMPRESSIONS,
    MIB,
    PARQUET_SUFFIX,
    atomic_files,
    open_regular,
)

Phase = Literal["anonymize", "attack"]
PHASES: tuple[Phase, ...] = ("anonymize", "attack")
SAMPLE_FILES = ("reftraces", "orgtraces", "pubtraces", "ptable")
# Compressing these again costs time and saves nothing.
PACKED = (*(one.suffix for one in COMPRESSIONS), PARQUET_SUFFIX, ".npz")
DATE = (1980, 1, 1, 0, 0, 0)
MAX_UNPACKED = 64 << 30
MAX_FILES = 2_000_000


def export_public(folder: Path, out: Path, phase: Phase = "attack") -> list[str]:
    """Write a zip of what everybody may have in a phase of the running contest; the names in it.

    anonymize: rules, city, clock, the sample teams with all their truth. attack: also all
    reference traces, the published releases and the commitments. Never: original and obfuscated
    traces and ID tables of the teams, seeds, nonces, answers, scores. The zip has a manifest of
    its own, since the archive's lists the hashes of secrets.
    """
    if phase not in PHASES:
        raise InvalidParameter(f"a phase is one of {', '.join(PHASES)}, got {phase!r}")
    archive = Archive(folder)
    names = sorted(_public_names(archive, phase))
    listed = {}
    for name in names:
        content = content_of(folder / name)
        listed[name] = {"size": len(content), "sha256": sha256(content).hexdigest()}
    manifest = json.dumps({"format": FORMAT, "files": listed}, indent=1, sort_keys=True) + "\n"
    digest = sha256(manifest.encode()).hexdigest()
    own = {MANIFEST: manifest.encode(), DIGEST: f"{digest}  {MANIFEST}\n".encode()}
    _write_zip(out, folder, names, 0o666, own)
    return [*names, *own]


def zip_archive(folder: Path, out: Path) -> Path:
    """Write all of an archive as one zip, readable by its owner only: the secrets are in it.

    Only the timings are left out, so that the same archive gives the same bytes.
    """
    extra = sorted(n for n in OUTSIDE if n != TIMINGS_FILE and (folder / n).is_file())
    _write_zip(out, folder, [*files_of(folder), *extra], 0o600)
    return out


@contextmanager
def opened(path: Path) -> Iterator[Path]:
    """The folder of an archive that is a folder, or a zip (unpacked for as long as it is used)."""
    if path.is_dir():
        yield path
        return
    with TemporaryDirectory(prefix="tracecup-") as folder:
        with open_regular(path) as file:
            _unpack(path, file, Path(folder))
        yield Path(folder)


def _public_names(archive: Archive, phase: Phase) -> Iterator[str]:
    yield from (ABOUT_FILE, RULES_FILE, f"{PUBLIC}/{CITY_FILE}", f"{PUBLIC}/{CLOCK_FILE}")
    for entry in archive.samples:
        yield from (_name(archive, entry, kind) for kind in SAMPLE_FILES)
    if phase == "attack":
        yield f"{PUBLIC}/{COMMITMENTS_FILE}"
        for entry in archive.published():
            yield _name(archive, entry, "reftraces")
            yield _name(archive, entry, "pubtraces")


def _name(archive: Archive, entry: Entry, kind: str) -> str:
    return archive.public_file(entry, kind).relative_to(archive.root).as_posix()


def _write_zip(
    out: Path, folder: Path, names: list[str], mode: int, own: dict[str, bytes] | None = None
) -> None:
    """The same files give the same bytes: no dates, sorted names."""
    with atomic_files((out, mode)) as (temporary,), temporary.open("wb") as raw:
        with zipfile.ZipFile(raw, "w") as pack:
            for name in names:
                with (
                    open_regular(folder / name) as source,
                    pack.open(_about(name), "w", force_zip64=True) as target,
                ):
                    while block := source.read(BLOCK_BYTES):
                        target.write(block)
            for name, content in (own or {}).items():
                pack.writestr(_about(name), content)
        raw.flush()
        os.fsync(raw.fileno())


def _about(name: str) -> zipfile.ZipInfo:
    about = zipfile.ZipInfo(name, DATE)
    secret = name.startswith(f"{SECRET}/")
    about.external_attr = (stat.S_IFREG | (0o600 if secret else 0o644)) << 16
    about.create_system = 3  # Unix: the mode above is meant
    packed = name.endswith(PACKED)
    about.compress_type = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
    return about


def _unpack(path: Path, file: IO[bytes], folder: Path) -> None:
    """Unpack a zip of an archive; names that lead out of it and bombs are refused."""
    try:
        with (
            reading_zip(lambda found: _no_archive(path, found)),
            zipfile.ZipFile(file) as pack,
        ):
            members = pack.infolist()
            size = sum(member.file_size for member in members)
            if size > MAX_UNPACKED or len(members) > MAX_FILES:
                found = f"{len(members)} files of {size // MIB} MiB"
                raise _no_archive(path, found)
            for member in members:
                if not is_safe_name(member.filename) or member.is_dir():
                    raise _no_archive(path, repr(member.filename))
                target = folder / member.filename
                _make_room(path, target)
                with pack.open(member) as source, target.open("xb") as copy:
                    _copy(path, source, copy, member.file_size)
    except OSError as error:
        if isinstance(error, UnreadableFile):
            raise
        raise UnreadableFile(path, f"cannot be unpacked: {error.strerror or error}") from error


def _make_room(path: Path, target: Path) -> None:
    """The folder of a member; no member is a folder of others, or there twice."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise _no_archive(path, f"a folder that is a file, {target.parent.name!r}") from None
    if target.exists():
        raise _no_archive(path, f"the file {target.name!r} twice")


def _copy(path: Path, source: IO[bytes], target: IO[bytes], size: int) -> None:
    """Copy, but never more than the zip says that there is."""
    while block := source.read(BLOCK_BYTES):
        size -= len(block)
        if size < 0:
            raise _no_archive(path, "a file larger than the zip says")
        target.write(block)


def _no_archive(path: Path, found: str) -> InvalidFile:
    return InvalidFile(path, [Problem(0, "", found, "the zip of an archive")])
