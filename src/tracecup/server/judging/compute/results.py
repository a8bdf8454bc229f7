"""All results of a round: its archive is laid out in a folder and scored from the files.

The same functions compute a season's results, and `tracecup contest verify` compares with them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tracecup.contest.archive.export import zip_archive
from tracecup.contest.archive.folder import RECEIPTS_FILE, Archive, Received
from tracecup.contest.archive.manifest import write_manifest
from tracecup.contest.archive.scored import results_of, score_all
from tracecup.contest.judging.commitment import SCORER, content_hash
from tracecup.contest.results.compute import write_results
from tracecup.contest.results.users import USERS
from tracecup.contest.smallfiles import make_folder, write_json, write_text
from tracecup.safeio import PARQUET_MAGIC, ZSTD_MAGIC, Limits, atomic_write, magic_of, read_blocks

SECRET = "secret/"
WHOLE = Limits(max_bytes=1 << 40)
ARCHIVE_FOLDER, ZIP_FILE = "archive", "archive.zip"


def of_round(payload: dict[str, Any]) -> dict[str, Any]:
    """Score everything of a round and compute its results.

    `files` are the archive's by their place in it, `texts` its small files. Writes all tables,
    answers them (but the one of single users, which is long) with summary and single scores.
    """
    root = Path(payload["out"]).parent / ARCHIVE_FOLDER
    archive = lay_out(root, payload["files"], payload["texts"], link=True)
    results = results_of(archive, score_all(archive))
    out = Path(payload["out"])
    write_results(out, results)
    return {
        "tables": {
            name: {column: list(held) for column, held in table.columns.items()}
            for name, table in results.tables.items()
            if name != USERS
        },
        "summary": json.loads(json.dumps(results.summary)),
        "scorer": SCORER,
    }


def zipped(payload: dict[str, Any]) -> dict[str, Any]:
    """Lay out a finished archive, results included, and pack it into one file."""
    root, out = Path(payload["out"]).parent / ARCHIVE_FOLDER, Path(payload["out"])
    lay_out(root, payload["files"], payload["texts"], received=payload["received"])
    digest = write_manifest(root)
    zip_archive(root, out / ZIP_FILE)
    return {"digest": digest}


def lay_out(
    root: Path,
    files: Mapping[str, str],
    texts: Mapping[str, str],
    *,
    link: bool = False,
    received: Mapping[str, str] | None = None,
) -> Archive:
    """Put the files of an archive in their places; with `link` only links to them, for a while.

    Names in an archive end in .csv.zst; what a team sent in another container is packed anew, so
    that the names are right. The plain content, and with it every commitment, stays the same.
    `received` are the receipts of what teams handed in, SHA-256 by name; they are written down
    beside the digest of the plain content, which a verification can compare.
    """
    make_folder(root)
    for name, text in texts.items():
        write_text(root / name, text, secret=name.startswith(SECRET))
    for name, source in files.items():
        target, secret = root / name, name.startswith(SECRET)
        make_folder(target.parent, secret=secret)
        if link:
            target.symlink_to(source)
        else:
            _copy(Path(source), target, 0o600 if secret else 0o644)
    if received:
        told = {
            name: asdict(Received(sha256, content_hash(files[name])))
            for name, sha256 in received.items()
        }
        write_json(root / SECRET / RECEIPTS_FILE, told, secret=True)
    return Archive(root)


def _copy(source: Path, target: Path, mode: int) -> None:
    packed = not target.name.endswith(".zst") or magic_of(source) in (ZSTD_MAGIC, PARQUET_MAGIC)
    if packed:
        shutil.copyfile(source, target)
        target.chmod(mode)
        return
    with atomic_write(target, mode) as file:
        for block in read_blocks(source, WHOLE):
            file.write(block)
