"""Small files of a contest: JSON and text, written whole or not at all; secrets are their owner's.

The layout of an archive is in `archive.folder`; here is only how a file of it gets there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from tracecup.errors import InvalidFile, Problem
from tracecup.safeio import MIB, Limits, atomic_write, read_blocks

T = TypeVar("T")

SECRET_FOLDER_MODE, SECRET_FILE_MODE = 0o700, 0o600


def read_json(path: Path) -> Any:
    """A JSON file; `InvalidFile` if it is none."""
    try:
        return json.loads(b"".join(read_blocks(path, Limits(max_bytes=64 * MIB))))
    except (ValueError, RecursionError) as error:
        raise InvalidFile(path, [Problem(0, "", "no JSON", "JSON")]) from error


def json_text(held: object) -> str:
    """JSON as archives hold it: sorted keys, so that equal contents are equal bytes.

    >>> json_text({"b": 1, "a": 2})
    '{\\n "a": 2,\\n "b": 1\\n}\\n'
    """
    return json.dumps(held, indent=1, sort_keys=True) + "\n"


def write_text(path: Path, text: str, *, secret: bool = False) -> Path:
    """Write a small text file, folders included; it appears whole or not at all."""
    make_folder(path.parent, secret=secret)
    with atomic_write(path, SECRET_FILE_MODE if secret else 0o666) as file:
        file.write(text.encode())
    return path


def write_json(path: Path, held: object, *, secret: bool = False) -> Path:
    """Write a JSON file with sorted keys."""
    return write_text(path, json_text(held), secret=secret)


def write_data(
    path: Path, write: Callable[[Path, T], None], data: T, *, secret: bool = False
) -> Path:
    """Call `write(path, data)`, folders included; secrets are for their owner only."""
    make_folder(path.parent, secret=secret)
    write(path, data)
    if secret:
        path.chmod(SECRET_FILE_MODE)
    return path


def make_folder(folder: Path, *, secret: bool = False) -> None:
    """Make a folder and those above it; secret ones can be entered by their owner only."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for path in reversed(missing):
        path.mkdir(SECRET_FOLDER_MODE if secret else 0o777, exist_ok=True)
