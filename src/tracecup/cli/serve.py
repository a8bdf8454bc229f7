"""`tracecup serve`: the contest server on this machine, with one command.

SQLite in the folder, or PostgreSQL by DATABASE_URL.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tracecup.cli.common import people
from tracecup.errors import InvalidParameter


def need_server() -> None:
    """Refuse where the server's packages are not installed."""
    from importlib.util import find_spec

    if find_spec("django") is None or find_spec("ninja") is None:
        raise InvalidParameter(
            'the server needs more packages: install them with pip install "tracecup[server]"'
        )


def serve(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The server's folder.")],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8019,
    threads: Annotated[int, typer.Option(min=1, max=64, help="Requests answered at once.")] = 8,
    workers: Annotated[
        int,
        typer.Option(min=0, max=64, help="Jobs worked on at once; 0: `tracecup worker` does it."),
    ] = 1,
    demo: Annotated[
        bool, typer.Option("--demo", help="With a demo contest whose clock you can move.")
    ] = False,
) -> int:
    """Hold contests: pages for visitors, teams and organisers, an API, and the judge.

    Everything is in DIR: database, files, the server's key. On the first start a link is printed
    that makes the first organiser's account. With `DATABASE_URL=postgres://USER@HOST/NAME` rows
    are in PostgreSQL; `tracecup worker` adds workers on this or other machines. Behind a proxy
    set TRACECUP_HOSTS, TRACECUP_SITE_URL, TRACECUP_SECURE=yes and TRACECUP_PROXIED=yes.

    Example: `tracecup serve contest2030 --port 8019`
    """
    need_server()
    from tracecup.server.start import serve as start

    def say(text: str) -> None:
        people().print(text, soft_wrap=True, markup=False, highlight=False)

    start(folder, host, port, threads=threads, workers=workers, demo=demo, say=say)
    return 0
