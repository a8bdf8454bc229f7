"""The manifest of an archive: every file with its size and SHA-256, and the digest over it all.

The digest is published with the results; one flipped byte anywhere is found and named.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tracecup.contest.ledger import file_hash
from tracecup.engine import threads
from tracecup.errors import InvalidFile, Problem
from tracecup.safeio import Limits, atomic_write, read_blocks

MANIFEST = "MANIFEST.json"
DIGEST = "MANIFEST.sha256"
FORMAT = "tracecup-manifest-1"
# Made from the archive or about the machine, so not part of what is fixed.
OUTSIDE = frozenset({MANIFEST, DIGEST, "timings.json", "report.html"})
WORK = ".work"
LIMITS = Limits(max_bytes=1 << 28)

_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Listed:
    """What the manifest says about one file."""

    size: int
    sha256: str


def write_manifest(folder: Path) -> str:
    """List all files of the folder (but `OUTSIDE`) and write the digest beside it; the digest.

    The digest file is in the form that `sha256sum --check` reads.
    """
    names = files_of(folder)
    with threads() as pool:
        hashes = list(pool.map(lambda name: file_hash(folder / name), names))
    listed = {
        name: {"size": (folder / name).stat().st_size, "sha256": digest}
        for name, digest in zip(names, hashes, strict=True)
    }
    text = json.dumps({"format": FORMAT, "files": listed}, indent=1, sort_keys=True) + "\n"
    with atomic_write(folder / MANIFEST) as file:
        file.write(text.encode())
    digest = hashlib.sha256(text.encode()).hexdigest()
    with atomic_write(folder / DIGEST) as file:
        file.write(f"{digest}  {MANIFEST}\n".encode())
    return digest


def read_manifest(folder: Path) -> dict[str, Listed]:
    """The files that the manifest lists; names that lead out of the folder are refused."""
    path = folder / MANIFEST
    text = b"".join(read_blocks(path, LIMITS))
    try:
        held = json.loads(text)
        if held["format"] != FORMAT:
            raise ValueError(held["format"])
        files = held["files"].items()
        listed = {str(n): Listed(int(f["size"]), str(f["sha256"])) for n, f in files}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidFile(path, [Problem(0, "", "something else", f"a {FORMAT}")]) from error
    for name, about in listed.items():
        if not is_safe_name(name) or not _HASH.fullmatch(about.sha256):
            raise InvalidFile(path, [Problem(0, "", repr(name), "a file inside the archive")])
    return listed


def read_digest(folder: Path) -> str:
    """The published digest of the manifest."""
    path = folder / DIGEST
    text = b"".join(read_blocks(path, Limits(max_bytes=1000))).decode("ascii", "replace")
    digest, _, name = text.partition("  ")
    if not _HASH.fullmatch(digest) or name != f"{MANIFEST}\n":
        raise InvalidFile(path, [Problem(1, "", "something else", f"a SHA-256 and {MANIFEST}")])
    return digest


def check_manifest(folder: Path, digest: str | None = None) -> list[str]:
    """Every difference between the manifest and the folder, in words; empty if there is none.

    `digest` is the one that was published; without it the one in the folder is taken.
    """
    found = []
    published = digest or read_digest(folder)
    if file_hash(folder / MANIFEST) != published:
        source = "as published" if digest else f"of {DIGEST}"
        found.append(f"{MANIFEST}: does not have the digest {source}, {published}")
    listed = read_manifest(folder)
    there = set(files_of(folder))

    def look(name: str) -> str | None:
        if name not in there:
            return f"{name}: is missing"
        size = (folder / name).stat().st_size
        if size != listed[name].size:
            return f"{name}: has {size} bytes, the manifest says {listed[name].size}"
        if file_hash(folder / name) != listed[name].sha256:
            return f"{name}: its content is not the one of the manifest"
        return None

    with threads() as pool:
        found += [words for words in pool.map(look, sorted(listed)) if words]
    found += [f"{name}: is not in the manifest" for name in sorted(there - set(listed))]
    return found


def files_of(folder: Path) -> list[str]:
    """All files inside, as relative POSIX paths in order, but `OUTSIDE` and what is in `WORK`."""
    names = (p.relative_to(folder).as_posix() for p in folder.rglob("*") if not p.is_dir())
    return sorted(n for n in names if n not in OUTSIDE and not n.startswith(f"{WORK}/"))


def is_safe_name(name: str) -> bool:
    """Whether a name from a file stays inside the folder it is joined to.

    >>> is_safe_name("public/info_time.csv"), is_safe_name("../etc/passwd")
    (True, False)
    """
    parts = PurePosixPath(name).parts
    windows = "\\" in name or ":" in name
    return bool(parts) and not name.startswith("/") and ".." not in parts and not windows
