"""`tracecup backup` and `tracecup restore`: a whole contest server as one file, and back.

The file fits both databases.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tracecup.cli.common import Json, emit, progress, table_of
from tracecup.cli.serve import need_server

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The server's folder.")]
LeaveOut = Annotated[
    list[str] | None,
    typer.Option(
        "--leave-out", metavar="SHA256", help="Go on without this damaged file; may be repeated."
    ),
]


def add(app: typer.Typer) -> None:
    """Put the verbs on the command line."""
    app.command("backup")(backup)
    app.command("restore")(restore)


def backup(
    folder: Folder,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The file; without it a new one in DIR/backups."),
    ] = None,
    leave_out: LeaveOut = None,
    as_json: Json = False,
) -> int:
    """Save a contest server into one file, also while it runs.

    Accounts, contests, submissions, scores, log and all files are in it: keep it like the server
    itself. Sessions are not; after a restore people log in again. Every file is compared with its
    SHA-256 on the way: one that has rotted on the disk is named, and no backup is written unless
    it is left out by name.

    Example: `tracecup backup contest2030 --out contest2030.tar.zst`
    """
    need_server()
    from tracecup.errors import UnreadableFile
    from tracecup.server.config import ServerConfig
    from tracecup.server.start import set_up

    if not ServerConfig(folder).blobs.is_dir():
        raise UnreadableFile(folder, "no folder of a contest server")
    set_up(folder)
    from tracecup.server import clock
    from tracecup.server.site.backup import backup_name, save

    path = out or folder / "backups" / backup_name(clock.now())
    path.parent.mkdir(parents=True, exist_ok=True)
    with progress("saving files") as advance:
        made = save(path, advance, leave_out or ())
    facts = [
        ("file", str(path)),
        ("rows", str(sum(made.rows.values()))),
        ("files", f"{made.blobs}"),
        *(("left out", sha256) for sha256 in made.left_out),
    ]
    payload = {
        "file": str(path),
        "rows": made.rows,
        "files": made.blobs,
        "left_out": list(made.left_out),
    }
    emit(as_json, payload, table_of("Backup", facts))
    return 0


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `tracecup backup` made.")],
    folder: Folder,
    leave_out: LeaveOut = None,
    as_json: Json = False,
) -> int:
    """Put a backup into an empty server; DATABASE_URL may name the other database.

    Every file is checked against its SHA-256; one that was changed is named, and nothing is
    restored unless it is left out by name. A server that holds anything is refused.

    Example: `tracecup restore contest2030.tar.zst new-folder`
    """
    need_server()
    from tracecup.server.start import set_up

    set_up(folder)
    from tracecup.server.site.backup import restore as put_back

    with progress("restoring files") as advance:
        made = put_back(file, advance, leave_out or ())
    facts = [
        ("folder", str(folder)),
        ("saved at", f"{made.made_at.isoformat()} from {made.database}"),
        ("rows", str(sum(made.rows.values()))),
        ("files", str(made.blobs)),
        *(("left out", sha256) for sha256 in made.left_out),
    ]
    payload = {
        "folder": str(folder),
        "rows": made.rows,
        "files": made.blobs,
        "left_out": list(made.left_out),
    }
    emit(as_json, payload, table_of("Restored", facts))
    return 0
