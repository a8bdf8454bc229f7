"""`tracecup contest verify`: is everything in an archive as its files say?

Exit code 0 if all is equal, 1 if anything differs; every difference is named.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from tracecup.cli.common import Engine, Json, Shared, emit, progress, table_of


def verify(
    archive: Annotated[Path, typer.Argument(metavar="ARCHIVE", help="Folder or zip.")],
    digest: Annotated[
        str | None,
        typer.Option("--digest", help="The manifest's digest as published; else the archive's."),
    ] = None,
    rerun_samples: Annotated[
        bool, typer.Option("--rerun-samples", help="Also run the sample attacks again.")
    ] = False,
    engine: Engine = "local",
    shared: Shared = False,
    as_json: Json = False,
) -> int:
    """Compute every score, minimum, award and commitment of an archive again and compare.

    Files are compared with the manifest, the manifest with its digest, releases with what was
    handed in, commitments with what they fix, results with the stored answers.

    Example: `tracecup contest verify season`
    """
    from tracecup.contest.archive.export import opened
    from tracecup.contest.archive.verify import verify as look
    from tracecup.jobs import PROCESSES
    from tracecup.jobs import engine as engine_of

    with (
        opened(archive) as folder,
        engine_of(engine) as jobs,
        progress("scoring again") as advance,
    ):
        found = look(
            folder,
            digest=digest,
            rerun_samples=rerun_samples,
            progress=advance,
            jobs=jobs,
            shared=shared or engine == PROCESSES,  # of this machine: they read the folder itself
        )
    payload = {"archive": str(archive), "equal": not found, "differences": found}
    if not found:
        emit(as_json, payload, table_of("Verified", [(escape(str(archive)), "all equal")]))
        return 0
    table = Table(title=f"{len(found)} differences", title_justify="left", title_style="bold")
    table.add_column("file", overflow="fold")
    table.add_column("what", overflow="fold")
    for line in found:
        name, _, said = line.partition(": ")
        table.add_row(escape(name), escape(said))
    emit(as_json, payload, table)
    return 1
