"""Starting a server: folder, tables, first link, web server, worker; stopping it in good order.

`tracecup serve` calls this; nothing else does.
"""

from __future__ import annotations

import fcntl
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from tracecup.errors import InvalidParameter
from tracecup.server.config import FOLDER_VARIABLE, ServerConfig

Say = Callable[[str], None]


def set_up(folder: Path) -> ServerConfig:
    """Point Django at a server's folder and make its tables; may be called on every start."""
    os.environ[FOLDER_VARIABLE] = str(folder.absolute())
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tracecup.server.settings")
    config = ServerConfig.of_environment()
    config.prepare()
    import django
    from django.core.management import call_command

    django.setup()
    with (config.folder / "migrating.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # processes of one folder often start together
        call_command("migrate", interactive=False, verbosity=0)
    return config


@contextmanager
def using(config: ServerConfig) -> Iterator[None]:
    """Hold a server's folder; the first who does removes the unfinished files of killed ones.

    Every server and local worker of a folder holds a shared lock while it runs; who can get it
    alone knows that nobody is writing.
    """
    with (config.folder / "serving.lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for left in config.incoming.glob("*"):
                if left.is_file():
                    left.unlink(missing_ok=True)
        except BlockingIOError:
            pass
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield


def serve(
    folder: Path,
    host: str,
    port: int,
    *,
    threads: int = 8,
    workers: int = 1,
    demo: bool = False,
    say: Say = print,
) -> None:
    """Serve until SIGTERM or SIGINT. `workers` 0 leaves the work to `tracecup worker`."""
    config = set_up(folder)
    with using(config):
        _serve(config, host, port, threads, workers, demo, say)


def _serve(
    config: ServerConfig,
    host: str,
    port: int,
    threads: int,
    workers: int,
    demo: bool,
    say: Say,
) -> None:
    from django.conf import settings

    from tracecup.server.doorkeeper import looked_up, owner_looked_up
    from tracecup.server.jobs import sandbox
    from tracecup.server.jobs.worker import Worker
    from tracecup.server.web import arrivals
    from tracecup.server.web.receiving import make_server
    from tracecup.server.wsgi import application

    address = f"http://{host if host not in ('0.0.0.0', '::') else config.hosts[0]}:{port}"
    site = (config.site_url or address).rstrip("/")
    settings.SERVED_AT = site
    try:
        server = make_server(
            application,
            host,
            port,
            threads,
            config.upload_bytes,
            folder=config.incoming,
            proxied=config.proxied,
            arrived=config.folder / arrivals.FOLDER,
            known=looked_up,
            whose=owner_looked_up,
        )
    except OSError as error:
        told = f"cannot listen on {host}, port {port} ({error.strerror}); choose another --port"
        raise InvalidParameter(told) from error
    if demo:
        from tracecup.server.demo import ensure_demo

        ensure_demo(site, say)
    else:
        _say_first_link(site, say)
    sandbox.begin()
    stop = threading.Event()
    crew = [
        threading.Thread(
            target=Worker(f"{os.uname().nodename}-{os.getpid()}-{k}").run_forever,
            args=(stop,),
            name=f"worker-{k}",
            daemon=True,
        )
        for k in range(workers)
    ]
    for one in crew:
        one.start()

    def end(_signal: int, _frame: FrameType | None) -> None:
        stop.set()
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, end)
    if not config.mail_url:
        say("No mail server is set (TRACECUP_MAIL_URL): letters are printed here.")
    say(f"serving {config.folder} at {site}")
    try:
        server.run()
    finally:
        stop.set()
        server.close()
        for one in crew:
            one.join(5)


def _say_first_link(site: str, say: Say) -> None:
    from tracecup.server.people.links import first_organiser_link

    link = first_organiser_link()
    if link is not None:
        say("No organiser yet. This link makes the first account, once, within 14 days:")
        say(f"  {site}/link/{link}/")
