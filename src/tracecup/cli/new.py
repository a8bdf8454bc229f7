"""`tracecup new`: a starter kit for a method of one's own.

Writes a file of some twenty lines that works, and a test that passes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tracecup.cli.common import Json, emit, table_of

Name = Annotated[
    str, typer.Argument(help="Name of the method and of its file: small letters, digits, _.")
]
Folder = Annotated[Path, typer.Option("--folder", help="Where to write; made if missing.")]


def add(app: typer.Typer) -> None:
    """Put the verb on the command line."""
    new = typer.Typer(no_args_is_help=True, help="Begin a method of your own, with a test.")
    new.command("obfuscator")(obfuscator)
    new.command("attack")(attack)
    app.add_typer(new, name="new")


def obfuscator(name: Name, folder: Folder = Path(), as_json: Json = False) -> int:
    """Write NAME.py, a small obfuscation that works, and test_NAME.py, which passes.

    Example: `tracecup new obfuscator my_noise`
    """
    from tracecup.front.starter import write_kit

    return _told(write_kit("obfuscator", name, folder), name, "--defence", as_json)


def attack(
    name: Name,
    trace: Annotated[
        bool, typer.Option("--trace", help="A trace inference instead of a re-identification.")
    ] = False,
    folder: Folder = Path(),
    as_json: Json = False,
) -> int:
    """Write NAME.py, a small attack that works, and test_NAME.py, which passes.

    Example: `tracecup new attack my_attack`
    """
    from tracecup.front.starter import Sort, write_kit

    sort: Sort = "trace-attack" if trace else "attack"
    option = "--trace" if trace else "--reid"
    return _told(write_kit(sort, name, folder), name, option, as_json)


def _told(paths: tuple[Path, Path], name: str, option: str, as_json: bool) -> int:
    method, test = paths
    steps = [
        ("method", str(method)),
        ("test", str(test)),
        ("check it", f"tracecup check {method}:{name}"),
        ("test it", f"pytest {test}"),
        ("measure it", f"python {method}"),
        ("use it", f"tracecup compare --plugin {method} {option} +{name} ..."),
    ]
    emit(as_json, {"method": str(method), "test": str(test)}, table_of(f"New: {name}", steps))
    return 0
