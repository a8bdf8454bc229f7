"""`tracecup client`: take part in a contest on a server from one's own machine.

Each verb has its function in a module `_client_NAME.py`.
"""

from __future__ import annotations

import typer

from tracecup.cli._client_attack import attack
from tracecup.cli._client_boards import defence, results, targets
from tracecup.cli._client_common import Verb
from tracecup.cli._client_data import check, download
from tracecup.cli._client_hand_in import choose, describe, list_submissions, submit, withdraw
from tracecup.cli._client_login import login, logout, status

COMMANDS: dict[str, Verb] = {
    "login": login,
    "status": status,
    "download": download,
    "check": check,
    "submit": submit,
    "list": list_submissions,
    "choose": choose,
    "describe": describe,
    "withdraw": withdraw,
    "targets": targets,
    "attack": attack,
    "defence": defence,
    "results": results,
    "logout": logout,
}
HELP = """Take part in a contest on a server.

The way through a contest: `login` once; `download` your data; anonymize; `check` the file with the
server's own rules, which costs nothing; `submit` it. When the releases are out, `download` again,
see your `targets`, and `attack` them all in one go, or attack in your own way and `submit` the
answers, one by one or as one zip. `defence` tells which attack hurts you, `results` who stands
where. `status` says at any time what comes next, how much time is left, and how many tries.
"""


def add(app: typer.Typer) -> None:
    """Put the verb on the command line."""
    client = typer.Typer(no_args_is_help=True, help=HELP)
    for name, command in COMMANDS.items():
        client.command(name)(command)
    app.add_typer(client, name="client")
