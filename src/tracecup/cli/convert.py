"""`tracecup convert`: the same content in another container.

CSV, gzip, zstd and Parquet, chosen by the name of the output.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tracecup.cli.common import Json, emit, table_of


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="File to read, any container.")],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="File to write: .csv, .csv.gz, .csv.zst, .parquet")
    ],
    as_json: Json = False,
) -> int:
    """Copy a trace file or ID table between CSV, gzip, zstd and Parquet, without loss.

    The kind of file is found from its header; the output is canonical (LF, no byte order mark).
    Text of any length becomes Parquet, a million rows at a time.

    Example: `tracecup convert pubtraces.csv.gz pubtraces.parquet`
    """
    from tracecup.errors import InvalidParameter
    from tracecup.safeio import DATA_SUFFIXES
    from tracecup.traces import files

    if not target.name.endswith(DATA_SUFFIXES):
        raise InvalidParameter(f"OUT must end in {', '.join(DATA_SUFFIXES)}, got {target.name!r}")
    layout = files.convert(source, target)
    facts = {"in": str(source), "out": str(target), "columns": ",".join(layout.header)}
    emit(as_json, facts, table_of("Converted", list(facts.items())))
    return 0
