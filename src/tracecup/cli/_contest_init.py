"""`tracecup contest init`: a folder with a commented `contest.toml` to start from.

Never overwrites rules that are there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape

from tracecup.cli.common import Json, emit, table_of


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder of the contest; made if missing.")
    ],
    name: Annotated[str | None, typer.Option("--name", help="Name of the contest.")] = None,
    preset: Annotated[
        Literal["paper", "organisers2019"],
        typer.Option(
            "--preset",
            help="paper: one challenge, one round. organisers2019: two challenges, two rounds "
            "and the choices of the program of 2019.",
        ),
    ] = "paper",
    as_json: Json = False,
) -> int:
    """Write the rules of a new contest: DIR/contest.toml, with a comment on every key.

    Example: `tracecup contest init mycontest --name "Spring contest"`
    """
    from tracecup.contest.rules import Rules
    from tracecup.contest.rules.file import RULES_FILE, write_rules
    from tracecup.errors import InvalidParameter, UnreadableFile

    rules = Rules.preset(preset)
    if name is not None:
        rules = rules.renamed(name)
    rules.check()
    path = folder / RULES_FILE
    if path.exists() or path.is_symlink():
        raise InvalidParameter(f"{path} is there already; remove it first or choose another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnreadableFile(folder, f"cannot be made: {error.strerror}") from error
    write_rules(path, rules)
    rows = [
        ("contest", escape(rules.name)),
        ("rules", escape(str(path))),
        ("preset", preset),
    ]
    emit(
        as_json,
        {"rules": str(path), "name": rules.name, "preset": preset},
        table_of("New contest", rows),
    )
    return 0
