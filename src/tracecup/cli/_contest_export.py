"""`tracecup contest export`: one zip out of an archive.

With --public only what everybody may have while the contest runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape

from tracecup.cli.common import Json, emit, table_of


def export(
    archive: Annotated[Path, typer.Argument(metavar="ARCHIVE", help="Folder of the archive.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Zip to write.")],
    public: Annotated[
        bool, typer.Option("--public", help="Leave out what is secret while the contest runs.")
    ] = False,
    phase: Annotated[
        Literal["anonymize", "attack"],
        typer.Option("--phase", help="With --public: what is out in which phase."),
    ] = "attack",
    as_json: Json = False,
) -> int:
    """Write an archive as one zip, whole (owner only) or what is public in a phase.

    Public in the anonymization phase: rules, city, clock, the two sample teams. In the attack
    phase also all reference traces, the releases and the commitments. Never: originals, files
    before the shuffle, ID tables, seeds, nonces, answers, scores.

    Example: `tracecup contest export --public season public.zip`
    """
    from tracecup.contest.archive.export import export_public, zip_archive

    if public:
        names = export_public(archive, out, phase)
        what = f"{len(names)} files that are public in the {phase} phase"
    else:
        zip_archive(archive, out)
        names, what = [], "the whole archive, secrets included"
    payload = {"out": str(out), "public": public, "phase": phase if public else None}
    payload |= {"files": names} if public else {}
    rows = [("written to", escape(str(out))), ("holds", what)]
    emit(as_json, payload, table_of("Exported", rows))
    return 0
