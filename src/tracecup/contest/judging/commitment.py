"""Commitments: the judge fixes the secrets before the attacks and opens them afterwards.

A commitment is the SHA-256 of a small text with a random nonce; anybody can check it with
`sha256sum`.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike

from tracecup import __version__
from tracecup.errors import InvalidFile, InvalidParameter, Problem
from tracecup.rng import child_seed
from tracecup.safeio import Limits, read_blocks, read_lines, show

SCORER = f"tracecup {__version__}"
"""What computes the scores; a commitment fixes it."""
FIRST_LINE = "tracecup commitment "
AS_HANDED_IN, SORTED = "1", "2"
"""Versions of a commitment, by what the judge shuffled: cells as they were handed in (until
cells were sorted, and for contests of before that are imported), or with their regions sorted."""
NONCE_BYTES = 32

_NONCE = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")


@dataclass(frozen=True)
class Opening:
    """What a commitment fixes for one team: the scorer's version and the hashes of its secrets.

    `files` maps a plain file name (`ptable_team001_data02_TRP.csv`) to the SHA-256 of its plain
    content, whatever it is packed in. The nonce hides it all until it is shown. `version` says
    whether the release has the cells of the file in the order in which they were handed in.

    >>> opening = Opening("team001", "tracecup 0.1.0", {"ptable.csv": "0" * 64}, "a" * 64)
    >>> opening.text.splitlines()[1], len(opening.commitment)
    ('team team001', 64)
    """

    team: str
    scorer: str
    files: Mapping[str, str]
    nonce: str
    version: str = SORTED

    def __post_init__(self) -> None:
        if self.version not in (AS_HANDED_IN, SORTED):
            raise InvalidParameter(f"a commitment has version 1 or 2, got {self.version!r}")
        if not _NONCE.fullmatch(self.nonce):
            raise InvalidParameter(f"a nonce has {NONCE_BYTES} bytes in hexadecimal")
        for name, digest in self.files.items():
            if not _NAME.fullmatch(name) or not _NONCE.fullmatch(digest):
                raise InvalidParameter(f"not a file name with its SHA-256: {name!r} {digest!r}")
        for word in (self.team, self.scorer):
            if not word or "\n" in word:
                raise InvalidParameter(f"team and scorer are one line each, got {word!r}")

    @property
    def text(self) -> str:
        """The opening as a file; its SHA-256 is the commitment."""
        lines = [
            f"{FIRST_LINE}{self.version}",
            f"team {self.team}",
            f"scorer {self.scorer}",
            f"nonce {self.nonce}",
            *(f"{digest}  {name}" for name, digest in sorted(self.files.items())),
        ]
        return "".join(f"{line}\n" for line in lines)

    @property
    def commitment(self) -> str:
        """SHA-256 of the text, in hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def fresh_nonce() -> str:
    """A nonce from the operating system's entropy."""
    return secrets.token_hex(NONCE_BYTES)


def derived_nonce(seed: int, team: int) -> str:
    """A nonce from a seed; for simulations, rehearsals and tests only."""
    return hashlib.sha256(str(child_seed(seed, "nonce", team)).encode()).hexdigest()


def read_opening(path: str | PathLike[str]) -> Opening:
    """Read an opening; anything else is an `InvalidFile`."""
    lines = list(read_lines(path, Limits(max_bytes=1 << 20, max_line=1000, max_rows=1000)))
    wanted = (FIRST_LINE, "team ", "scorer ", "nonce ")
    for number, start in enumerate(wanted):
        line = lines[number] if number < len(lines) else ""
        if not line.startswith(start):
            raise InvalidFile(path, [Problem(number + 1, "", show(line), f"{start.strip()!r}")])
    files = {}
    for number, line in enumerate(lines[4:], start=5):
        digest, _, name = line.partition("  ")
        if not _NONCE.fullmatch(digest) or not _NAME.fullmatch(name):
            raise InvalidFile(path, [Problem(number, "", show(line), "SHA-256 and file name")])
        files[name] = digest
    team, scorer, nonce = (
        line.removeprefix(start) for line, start in zip(lines[1:4], wanted[1:], strict=True)
    )
    if not _NONCE.fullmatch(nonce):
        raise InvalidFile(path, [Problem(4, "", show(nonce), f"{NONCE_BYTES} bytes in hex")])
    version = lines[0].removeprefix(FIRST_LINE)
    if version not in (AS_HANDED_IN, SORTED):
        raise InvalidFile(path, [Problem(1, "", show(lines[0]), "version 1 or 2")])
    return Opening(team, scorer, files, nonce, version)


def content_hash(path: str | PathLike[str]) -> str:
    """SHA-256 of a file's plain content: compressed files are unpacked on the way."""
    digest = hashlib.sha256()
    for block in read_blocks(path, Limits(max_bytes=1 << 34)):
        digest.update(block)
    return digest.hexdigest()
