"""Fetching files so that nothing has to be fetched twice: ranges, SHA-256, whole or not at all.

What is there with the right digest stays; what broke off goes on where it broke off.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tracecup.client.connection import BROKEN_OFF, Connection, Unreachable
from tracecup.safeio import ensure_folder

Progress = Callable[[float, float], None]
BLOCK = 1 << 20
STUCK_TRIES = 5
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


@dataclass(frozen=True)
class RemoteFile:
    """A file on the server: its name, where it is, and what it must turn out to be."""

    name: str
    path: str
    size: int
    sha256: str
    about: str = ""
    query: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, told: Mapping[str, Any], path: str, query: Mapping[str, str] | None = None
    ) -> RemoteFile:
        """From the server's list; a name that could leave the folder is refused."""
        name, digest = str(told.get("name", "")), str(told.get("sha256", ""))
        size = told.get("size")
        proper = _NAME.fullmatch(name) and not name.endswith(".") and not _RESERVED.fullmatch(name)
        if not proper or not _DIGEST.fullmatch(digest) or not isinstance(size, int) or size < 0:
            raise Unreachable(path, "the server lists a file that has no proper name or digest")
        return cls(name, path, size, digest, str(told.get("about", "")), query or {})

    def told(self, fetched: bool) -> dict[str, Any]:
        """As JSON, with whether it had to be fetched."""
        return {
            "name": self.name,
            "size": self.size,
            "sha256": self.sha256,
            "about": self.about,
            "fetched": fetched,
        }


def fetch_all(
    connection: Connection,
    files: Iterable[RemoteFile],
    folder: Path,
    progress: Progress = lambda done, total: None,
) -> list[tuple[RemoteFile, bool]]:
    """Fetch files into a folder; each with whether it had to be fetched at all."""
    wanted = list(files)
    total, done, got = float(sum(file.size for file in wanted)), 0.0, []
    ensure_folder(folder)
    for file in wanted:
        before = done

        def advance(size: float, before: float = before) -> None:
            progress(before + size, total)

        got.append((file, fetch(connection, file, folder / file.name, advance)))
        done += file.size
        progress(done, total)
    return got


def fetch(
    connection: Connection,
    file: RemoteFile,
    target: Path,
    advance: Callable[[float], None] = lambda size: None,
) -> bool:
    """Fetch one file; False if it was there already.

    The unfinished part is called after the digest, so that a changed file begins anew.
    """
    if target.is_file() and target.stat().st_size == file.size and digest(target) == file.sha256:
        return False
    part = target.with_name(f".{target.name[:80]}.{file.sha256[:12]}.part")
    stuck = wrong = 0
    while wrong < 2:
        have = part.stat().st_size if part.is_file() else 0
        try:
            if have < file.size or file.size == 0:
                _append(connection, file, part, have, advance)
        except BROKEN_OFF as error:
            got_on = part.is_file() and part.stat().st_size > have
            stuck = 0 if got_on else stuck + 1
            if stuck == STUCK_TRIES:
                raise Unreachable(connection.account.url, f"broke off {file.name}") from error
            connection.pause(stuck)
            continue
        if part.stat().st_size == file.size and digest(part) == file.sha256:
            part.replace(target)
            return True
        part.unlink(missing_ok=True)
        wrong += 1
    raise Unreachable(
        connection.account.url, f"{file.name} does not have the SHA-256 that was promised"
    )


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def save_stream(
    connection: Connection, path: str, query: Mapping[str, str | None], target: Path
) -> int:
    """Fetch an archive that the server makes on the fly; its size."""
    part = target.with_name(f".{target.name[:80]}.part")
    size = 0
    try:
        with connection.open("GET", path, query=query) as response, part.open("wb") as out:
            while block := response.read(BLOCK):
                size += len(block)
                out.write(block)
            promised = response.headers.get("Content-Length")
            if promised is not None and int(promised) != size:
                raise http.client.IncompleteRead(b"", int(promised) - size)
            out.flush()
            os.fsync(out.fileno())
        part.replace(target)
    except BROKEN_OFF as error:
        raise Unreachable(connection.account.url, f"broke off {target.name}") from error
    finally:
        part.unlink(missing_ok=True)
    return size


def _append(
    connection: Connection,
    file: RemoteFile,
    part: Path,
    have: int,
    advance: Callable[[float], None],
) -> None:
    headers = {"Range": f"bytes={have}-"} if have else {}
    with connection.open("GET", file.path, query=file.query, headers=headers) as response:
        going_on = response.status == 206 and _begins_at(response, have)
        have = have if going_on else 0
        with part.open("ab" if going_on else "wb") as out:
            while block := response.read(BLOCK):
                have += len(block)
                if have > file.size:
                    return
                out.write(block)
                advance(float(have))
            out.flush()
            os.fsync(out.fileno())
        if have < file.size:
            raise http.client.IncompleteRead(b"", file.size - have)


def _begins_at(response: http.client.HTTPResponse, first: int) -> bool:
    said = response.headers.get("Content-Range", "")
    return said.startswith(f"bytes {first}-")
