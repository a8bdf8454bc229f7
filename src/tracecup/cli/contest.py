"""`tracecup contest`: everything about a whole contest; each command has a file of its own.

A new command is a function in a module `_contest_NAME.py` and a line in `COMMANDS`.
"""

from __future__ import annotations

from collections.abc import Callable

import typer

from tracecup.cli._contest_export import export
from tracecup.cli._contest_init import init
from tracecup.cli._contest_simulate import simulate
from tracecup.cli._contest_verify import verify

COMMANDS: dict[str, Callable[..., int]] = {
    "init": init,
    "simulate": simulate,
    "verify": verify,
    "export": export,
}


def add(app: typer.Typer) -> None:
    """Put the verb on the command line."""
    contest = typer.Typer(no_args_is_help=True, help="Set up and run a contest.")
    for name, command in COMMANDS.items():
        contest.command(name)(command)
    app.add_typer(contest, name="contest")
