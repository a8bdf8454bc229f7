"""What a worker on another machine needs of an archive to look at one data set: its files.

They travel with the job, are unpacked into a folder of its own, and are gone when it is done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from tracecup.contest.archive.folder import ANSWERS, ATTACKS_FILE, KNEW_FILE, MODEL_FILE, RESULTS
from tracecup.contest.entries import Entry
from tracecup.safeio import BLOCK_BYTES, open_regular

_TEAM = re.compile(r"team(\d{3})")


@dataclass(frozen=True, eq=False)
class Parcel:
    """Files by their names in the archive at `root`."""

    root: str
    files: Mapping[str, bytes]

    @classmethod
    def of(cls, root: Path, names: Sequence[str], entry: Entry) -> Parcel:
        """The files among `names` that concern a data set; each must be a regular file."""
        return cls(
            str(root), {name: content_of(root / name) for name in names if concerns(name, entry)}
        )

    @contextmanager
    def unpacked(self) -> Iterator[Path]:
        """A folder with the files, readable by its owner only."""
        with TemporaryDirectory(prefix="tracecup-") as folder:
            for name, content in self.files.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            yield Path(folder)


def concerns(name: str, entry: Entry) -> bool:
    """Whether a file of an archive is about the whole contest, this team, or an answer to it.

    >>> entry = Entry(2)
    >>> [
    ...     concerns(f"answers/team001/{entry.answer('etable', '001')}", one)
    ...     for one in (entry, Entry(1))
    ... ]
    [True, False]
    >>> concerns("public/info_region.csv", entry), concerns("secret/team003/x.csv", entry)
    (True, False)
    """
    path = PurePosixPath(name)
    if path.parts[0] == RESULTS or path.name == MODEL_FILE:
        return False
    if path.parts[0] == ANSWERS:
        return path.name in (ATTACKS_FILE, KNEW_FILE) or f"-{entry.number}_" in path.name
    return set(_TEAM.findall(name)) <= {entry.number}


def content_of(path: Path) -> bytes:
    """All bytes of a regular file."""
    with open_regular(path) as file:
        return b"".join(iter(lambda: file.read(BLOCK_BYTES), b""))
