"""`tracecup worker`: more hands for a contest server, on its machine or on others.

Beside the server it uses the same folder and database; elsewhere it needs an address and a token.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer

from tracecup.cli.common import people
from tracecup.cli.serve import need_server
from tracecup.engine import thread_count
from tracecup.errors import InvalidParameter

TOKEN_VARIABLE = "TRACECUP_WORKER_TOKEN"


def worker(
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="The server's folder, if it is here.")
    ] = None,
    url: Annotated[str, typer.Option(help="Address of a server elsewhere.")] = "",
    token: Annotated[
        str, typer.Option(envvar=TOKEN_VARIABLE, help="Worker token for a server elsewhere.")
    ] = "",
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Also over plain http to another machine.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Jobs worked on at once.")] = 1,
    new_token: Annotated[
        str, typer.Option(metavar="NAME", help="Print a token for a worker elsewhere and end.")
    ] = "",
    revoke_token: Annotated[
        str, typer.Option(metavar="NAME", help="Make the token of that name worthless and end.")
    ] = "",
) -> int:
    """Work on the jobs of a contest server: data, checks by the judge, sample attacks, scores.

    With DIR it uses the server's own folder and database (`DATABASE_URL` as for `serve`). With
    `--url` it works for a server on another machine: it fetches files and returns results over
    HTTP and needs neither the database nor a shared disk. The address has to be encrypted (https)
    unless it is on this machine; no redirect is followed. Any worker may be killed at any moment.

    Example: `tracecup worker contest2030 --jobs 2`
    """
    need_server()
    if (folder is None) == (not url):
        raise InvalidParameter("give the server's folder, or its address with --url")
    if new_token or revoke_token:
        return _change_token(folder, new_token, revoke_token)
    stop = threading.Event()
    threads = max(1, thread_count() // jobs)
    with ExitStack() as held:
        if folder:
            crew = _local(folder, jobs, threads, held)
        else:
            crew = _remote(url, token, jobs, threads, insecure)
        _until_signal(crew, stop)
    return 0


def _local(folder: Path, jobs: int, threads: int, held: ExitStack) -> list[Any]:
    from tracecup.server.start import set_up, using

    held.enter_context(using(set_up(folder)))
    from tracecup.server.jobs.worker import Worker

    name = f"{socket.gethostname()}-{os.getpid()}"
    return [Worker(f"{name}-{k}", threads=threads) for k in range(jobs)]


def _remote(url: str, token: str, jobs: int, threads: int, insecure: bool) -> list[Any]:
    from tracecup.server.jobs.remote import RemoteWorker

    if not token:
        raise InvalidParameter(f"a server elsewhere needs --token or {TOKEN_VARIABLE}")
    return [RemoteWorker(url, token, threads=threads, insecure=insecure) for _ in range(jobs)]


def _until_signal(crew: list[Any], stop: threading.Event) -> None:
    """Let all work until SIGTERM or Ctrl-C, or until one of them cannot go on."""
    trouble: list[BaseException] = []

    def work(one: Any) -> None:
        try:
            one.run_forever(stop)
        except BaseException as error:
            trouble.append(error)
            stop.set()

    def end(_signal: int, _frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    hands = [threading.Thread(target=work, args=(one,), daemon=True) for one in crew]
    for hand in hands:
        hand.start()
    people().print(f"working, {len(crew)} at a time; stop with Ctrl-C")
    while not stop.wait(0.5):
        pass
    for hand in hands:
        hand.join(10)
    if trouble:
        raise trouble[0]


def _change_token(folder: Path | None, new: str, gone: str) -> int:
    if folder is None:
        raise InvalidParameter("tokens are made and revoked beside the server: give its folder")
    from tracecup.server.start import set_up

    set_up(folder)
    from tracecup.server.access import SYSTEM
    from tracecup.server.errors import Refused
    from tracecup.server.judging.workers import new_worker_token, revoke_worker_token

    try:
        if gone:
            revoke_worker_token(gone, SYSTEM)
            people().print(f"the token {gone} is worthless now")
        if new:
            print(new_worker_token(new, SYSTEM))
    except Refused as error:
        raise InvalidParameter(error.message) from error
    return 0
