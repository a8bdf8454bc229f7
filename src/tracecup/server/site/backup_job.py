"""Backups that an organiser asks for: made by a worker, and at once restored somewhere to see.

A backup that cannot be restored is told, not hidden.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings

from tracecup.server import clock
from tracecup.server.config import FOLDER_VARIABLE
from tracecup.server.site.backup import backup_name, save

BACKUP_FOLDER = "backups"
TEST_SECONDS = 1800

# A fresh process with a folder and an SQLite database of its own; it prints how many rows it has.
_RESTORE = """
import sys
from pathlib import Path
from tracecup.server.start import set_up
set_up(Path(sys.argv[2]))
from tracecup.server.site.backup import restore
print(sum(restore(Path(sys.argv[1])).rows.values()))
"""


def handle_backup(payload: dict[str, Any]) -> dict[str, Any]:
    """The job `backup`: write one into the server's folder, then restore it elsewhere as a test."""
    folder: Path = settings.CONFIG.folder / BACKUP_FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / backup_name(clock.now())
    made = save(path)
    rows = sum(made.rows.values())
    return {
        "file": path.name,
        "size": path.stat().st_size,
        "rows": rows,
        "files": made.blobs,
        "restore_test": restore_test(path, rows),
    }


def restore_test(path: Path, rows: int) -> str:
    """`ok` if a backup can be restored with all its rows; else what went wrong, in short."""
    with TemporaryDirectory(dir=settings.CONFIG.incoming, prefix="restore-test-") as folder:
        kept = {k: v for k, v in os.environ.items() if k != "DATABASE_URL"}
        try:
            done = subprocess.run(
                [sys.executable, "-c", _RESTORE, str(path), folder],
                env={**kept, FOLDER_VARIABLE: folder},
                capture_output=True,
                text=True,
                timeout=TEST_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "took too long"
    found = done.stdout.strip()
    if done.returncode != 0:
        # The last line names the error; nothing before it is needed.
        return f"failed: {(done.stderr.strip().splitlines() or ['no reason'])[-1][:200]}"
    return "ok" if found == str(rows) else f"failed: {found} rows of {rows}"
