"""The ledger of a long job: which steps are done, with the hashes of what they wrote.

A step whose record and files are there is not done again, whatever happened in between.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from threading import Lock

from tracecup.errors import UnreadableFile
from tracecup.safeio import BLOCK_BYTES, open_regular


class Ledger:
    """Records of finished steps in one file of JSON lines, appended and synced one by one.

    Steps write files below `folder`; the ledger itself lies at `path`.

    A line that a crash cut short is dropped when the ledger is opened again; its step then
    counts as not done. May be used from several threads.
    """

    def __init__(self, path: Path, folder: Path) -> None:
        self._path, self._folder, self._lock = path, folder, Lock()
        self._steps: dict[str, dict[str, str]] = {}
        if self._path.exists():
            self._load()

    def _load(self) -> None:
        whole = 0
        for line in self._path.read_bytes().splitlines(keepends=True):
            if not line.endswith(b"\n"):
                break
            try:
                record = json.loads(line)
                self._steps[str(record["step"])] = {str(k): str(v) for k, v in record["files"]}
            except (ValueError, KeyError, TypeError):
                break
            whole += len(line)
        with self._path.open("r+b") as file:
            file.truncate(whole)

    def done(self, step: str) -> bool:
        """Whether the step is recorded and all its files have the recorded content."""
        files = self._steps.get(step)
        if files is None:
            return False
        return all(
            (self._folder / name).is_file() and file_hash(self._folder / name) == digest
            for name, digest in files.items()
        )

    def record(self, step: str, files: Iterable[Path]) -> None:
        """Note that a step is done and has written `files` (paths inside the folder)."""
        hashes = [(path.relative_to(self._folder).as_posix(), file_hash(path)) for path in files]
        line = json.dumps({"step": step, "files": hashes}, separators=(",", ":")) + "\n"
        try:
            with self._lock, self._path.open("ab") as file:
                file.write(line.encode())
                file.flush()
                os.fsync(file.fileno())
                self._steps[step] = dict(hashes)
        except OSError as error:
            raise UnreadableFile(self._path, f"cannot be written: {error.strerror}") from error


def file_hash(path: Path) -> str:
    """SHA-256 of a file as it is, in hexadecimal.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     file_hash(Path(file.name))[:8]
    'e3b0c442'
    """
    digest = hashlib.sha256()
    with open_regular(path) as file:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()
