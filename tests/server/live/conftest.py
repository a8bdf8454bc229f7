"""Real servers in processes of their own: `running_server` on SQLite and on PostgreSQL.

They are forked from a process that has the numeric libraries loaded (`seedbed`). PostgreSQL is
started here, with initdb and pg_ctl as a user that is not root.
"""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tally import tally

from seedbed import Sprout, sprout
from waiting import Process, all_of, line_of

# How long to wait before calling something broken: far beyond what a loaded machine needs.
START_SECONDS = 240
PATIENCE_SECONDS = 600
LONG_SECONDS = 1800
# Runs pieces of code, each in a namespace and with connections of its own.
CONSOLE = """
import contextlib, io, json, os, sys, traceback
import django; django.setup()
from django.db import connections
for line in sys.stdin:
    asked, kept = json.loads(line), dict(os.environ)
    os.environ.update(asked["env"])
    printed, error = io.StringIO(), ""
    try:
        with contextlib.redirect_stdout(printed):
            exec(asked["code"], {"__name__": "console"})
    except BaseException:
        error = traceback.format_exc()
    connections.close_all()
    os.environ.clear()
    os.environ.update(kept)
    print(json.dumps({"printed": printed.getvalue(), "error": error}), flush=True)
"""


@dataclass
class Served:
    """A server's folder and database; `start` and `kill` as often as a test wants."""

    folder: Path
    place: socket.socket
    env: dict[str, str]
    clock: Path
    process: Process | None = None
    others: list[Process] = field(default_factory=list)
    console: Sprout | None = None

    @property
    def port(self) -> int:
        """The port that it always has."""
        return self.place.getsockname()[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        return self.folder.parent / "server.log"

    def start(self, *options: str, afresh: bool = False) -> Served:
        """Start `tracecup serve` and wait until it answers; `afresh`: in a Python of its own."""
        command = [sys.executable, "-m", "tracecup", "serve", str(self.folder)]
        command += ["--port", str(self.port), *options]
        self.process = self.run(command, afresh)
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            if self.process.poll() is not None:
                raise AssertionError(f"the server ended: {self.log.read_text()[-3000:]}")
            try:
                with urllib.request.urlopen(f"{self.url}/health/", timeout=30):
                    return self
            except urllib.error.HTTPError:
                return self
            except OSError:
                time.sleep(0.1)
        raise AssertionError(f"no answer: {self.log.read_text()[-3000:]}")

    def worker(self, *options: str) -> Process:
        """Start `tracecup worker` on the same folder and database."""
        command = [sys.executable, "-m", "tracecup", "worker", str(self.folder), *options]
        made = self.run(command)
        self.others.append(made)
        return made

    def run(self, command: list[str], afresh: bool = False) -> Process:
        """Start a Python program beside the server; what it prints goes into the log."""
        with self.log.open("ab") as log:
            if afresh:
                return subprocess.Popen(
                    command, env=self.env, stdout=log, stderr=log, start_new_session=True
                )
            return sprout(command, self.env, output=log.fileno(), errors=log.fileno())

    def printed(self, command: list[str], **env: str) -> str:
        """Run a Python program to its end; what it printed."""
        with self.log.open("ab") as log:
            made = sprout(command, {**self.env, **env}, errors=log.fileno())
        with made.stdin, made.stdout:
            said = all_of(made, LONG_SECONDS)
        assert made.wait(PATIENCE_SECONDS) == 0, self.log.read_text()[-4000:]
        return said

    def python(self, code: str, **env: str) -> str:
        """Run code with Django set up on this server's database; what it printed.

        One process runs all of it: to start one takes longer than most of what it is asked.
        """
        if self.console is None:
            with self.log.open("ab") as log:
                command = [sys.executable, "-c", CONSOLE]
                self.console = sprout(command, self.env, errors=log.fileno())
        print(json.dumps({"code": code, "env": env}), file=self.console.stdin, flush=True)
        line = line_of(self.console)
        assert line, f"the console ended: {self.log.read_text()[-3000:]}"
        said = json.loads(line)
        assert not said["error"], said["error"][-3000:]
        return said["printed"]

    def move_clock(self, seconds: float) -> None:
        """Step the clock of all processes of this server to `seconds` from the real one."""
        part = self.clock.with_suffix(".part")
        part.write_text(str(seconds))
        part.replace(self.clock)

    def kill(self) -> None:
        """kill -9 of the server with all its children."""
        if self.process is not None:
            tally("servers killed (-9)", database=self.env["DATABASE_URL"])
            self.end()

    def end(self) -> None:
        """End the server as `kill` does; not one of the kills that a test is about."""
        if self.process is not None:
            _kill(self.process)
            self.process = None

    def stop(self) -> None:
        self.end()
        for other in self.others:
            _kill(other)
        self.others.clear()
        if self.console is not None:
            _kill(self.console)
            self.console.stdin.close()
            self.console.stdout.close()
        self.place.close()


@pytest.fixture(scope="session")
def postgres(request):
    """A PostgreSQL of our own; a function from a name to the URL of a fresh database."""
    bin_folder = _postgres_bin()
    if bin_folder is None:
        pytest.skip("skipped: PostgreSQL (initdb, pg_ctl) is not installed here")
    folder = Path(tempfile.mkdtemp(prefix="tracecup-pg-"))
    user = _not_root()
    if user:
        os.chown(folder, user.pw_uid, user.pw_gid)
    data = folder / "data"

    def call(*command: str) -> None:
        more = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}
        done = subprocess.run(
            [str(bin_folder / command[0]), *command[1:]],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
            timeout=PATIENCE_SECONDS,
            **more,
        )
        assert done.returncode == 0, done.stderr.decode()

    call("initdb", "-D", str(data), "-U", "tracecup", "--auth=trust", "-E", "UTF8", "--no-sync")
    options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c max_connections=60"
    # Nobody pulls the plug of this database: what is killed is always the server before it.
    options += " -c fsync=off -c full_page_writes=off"
    wait = ("-w", "-t", str(START_SECONDS))
    call("pg_ctl", "-D", str(data), *wait, "-l", str(folder / "log"), "-o", options, "start")

    def fresh(name: str) -> str:
        call("createdb", "-h", str(folder), "-U", "tracecup", name)
        return f"postgres://tracecup@/{name}?host={folder}"

    yield fresh
    call("pg_ctl", "-D", str(data), "-m", "immediate", "stop")
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request) -> str:
    """ "" for SQLite, the URL of a fresh PostgreSQL database."""
    if request.param == "sqlite":
        return ""
    return request.getfixturevalue("postgres")(f"t{secrets.token_hex(6)}")


@pytest.fixture
def new_server(tmp_path):
    """Make a server (not started) on a database; all are killed in the end."""
    made: list[Served] = []

    def make(database_url: str = "", **env: str) -> Served:
        home = tmp_path / f"served{len(made)}"
        home.mkdir()
        clock = home / "clock"
        clock.write_text("0")
        full = {
            **os.environ,
            "TRACECUP_SERVER_DIR": str(home / "dir"),
            "DATABASE_URL": database_url,
            "TRACECUP_CLOCK": f"file:{clock}",
            "DJANGO_SETTINGS_MODULE": "tracecup.server.settings",
            "TRACECUP_LEASE_SECONDS": "5",
            "PYTHONUNBUFFERED": "1",
            **env,
        }
        served = Served(home / "dir", _own_port(), full, clock)
        made.append(served)
        return served

    yield make
    for served in made:
        served.stop()


@pytest.fixture
def running_server(new_server, database_url) -> Served:
    """A server that answers, on each database in turn."""
    return new_server(database_url).start()


def _own_port() -> socket.socket:
    """A port that stays ours while the server is down: bound, but nobody listens.

    A port that was only looked for may be another process's, or the near end of somebody's
    connection, when the server starts (again).
    """
    place = socket.socket()
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    place.bind(("127.0.0.1", 0))
    return place


def _kill(process: Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(START_SECONDS)


def _postgres_bin() -> Path | None:
    found = shutil.which("initdb")
    if found:
        folder = Path(found).resolve().parent
        return folder if (folder / "createdb").exists() else None
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / "initdb").exists():
            return folder
    return None


def _not_root() -> pwd.struct_passwd | None:
    """Whom PostgreSQL runs as; None where we are not root anyway."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    pytest.skip("skipped: PostgreSQL does not run as root, and there is no other user")
