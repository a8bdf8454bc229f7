"""The layout of deploy/ on this machine: PostgreSQL, two web processes, workers, nginx before them.

nginx reads deploy/nginx/tracecup.conf with other ports, without TLS, and with limits that one
address may exceed: here all teams come from one.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from serverstand import Stand, free_port
from serverwatch import Watch

CONF = Path(__file__).parent.parent / "deploy" / "nginx" / "tracecup.conf"
CONNECTIONS = 120


def require_nginx() -> None:
    """End with a sentence where nginx is missing, before anything is started."""
    if shutil.which("nginx") is None:
        sys.exit(
            "nginx is not on PATH: install it (the package nginx-light of Debian and Ubuntu will "
            "do), or add its folder, often /usr/sbin, to PATH"
        )


class Postgres:
    """A PostgreSQL of its own in a folder that is removed afterwards; it syncs as by default."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tracecup-load-pg-"))
        self._user = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
        if self._user:
            os.chown(self.folder, self._user.pw_uid, self._user.pw_gid)
        data = str(self.folder / "data")
        self._call("initdb", "-D", data, "-U", "tracecup", "--auth=trust", "-E", "UTF8")
        options = (
            f"-c listen_addresses='' -c unix_socket_directories='{self.folder}' "
            f"-c max_connections={CONNECTIONS}"
        )
        log = str(self.folder / "log")
        self._call("pg_ctl", "-D", data, "-w", "-l", log, "-o", options, "start")
        self._call("createdb", "-h", str(self.folder), "-U", "tracecup", "load")
        self.url = f"postgres://tracecup@/load?host={self.folder}"
        self.pid = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])

    def stop(self) -> None:
        self._call("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _call(self, name: str, *words: str) -> None:
        folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
        found = shutil.which(name, path=os.pathsep.join([*map(str, folders), os.environ["PATH"]]))
        if found is None:
            sys.exit(f"PostgreSQL is not installed here: no {name}")
        user: dict[str, Any] = {}
        if self._user:
            user = {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}
        done = subprocess.run(
            [found, *words], cwd=self.folder, check=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, **user,
        )  # fmt: skip
        if done.returncode:
            sys.exit(f"{name}: {done.stderr.decode()}")


class Layout(Stand):
    """Web processes and workers behind nginx, whose port is the one that teams see."""

    def __init__(self, home: Path, postgres: Postgres, webs: int = 2) -> None:
        super().__init__(home, postgres.url)
        os.environ["TRACECUP_PROXIED"] = "yes"
        self._postgres = postgres
        self._web_ports = [free_port() for _ in range(webs)]
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self, workers: int = 2) -> Watch:
        """All processes; every second worker is a remote one, with a token over HTTP."""
        from tracecup.server.access import SYSTEM
        from tracecup.server.judging.workers import new_worker_token

        tracecup = [sys.executable, "-m", "tracecup"]
        for port in self._web_ports:
            self._begin(*tracecup, "serve", str(self.folder), "--port", str(port), "--workers", "0")
        conf = self.home / "nginx.conf"
        conf.write_text(nginx_conf(CONF.read_text(), self.home, self.port, self._web_ports))
        self._begin("nginx", "-e", str(self.home / "nginx.log"), "-c", str(conf))
        self.process = self._processes[0]
        self.wait(self.answers, 300)
        for k in range(workers):
            if k % 2 == 0:
                self._begin(*tracecup, "worker", str(self.folder))
            else:
                os.environ["TRACECUP_WORKER_TOKEN"] = new_worker_token(f"remote{k}", SYSTEM)
                self._begin(*tracecup, "worker", "--url", f"http://127.0.0.1:{self.port}")
        return Watch(*(one.pid for one in self._processes), self._postgres.pid)

    def answers(self) -> bool:
        with contextlib.suppress(OSError):
            return self.status("/health/") == 200
        return False

    def stop(self) -> None:
        for one in self._processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(one.pid, signal.SIGKILL)
            one.wait()
        self._processes.clear()

    def _begin(self, *command: str) -> None:
        with (self.home / "log").open("ab") as log:
            self._processes.append(
                subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
            )


def nginx_conf(text: str, home: Path, port: int, web_ports: list[int]) -> str:
    """The file of deploy/ as a whole configuration for one user's own nginx."""
    servers = "\n".join(f"    server 127.0.0.1:{web};" for web in web_ports)
    text = re.sub(r"(    server 127\.0\.0\.1:\d+;\n)+", servers + "\n", text)
    text = text.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};")
    text = re.sub(r"    ssl_certificate.*\n", "", text)
    text = text.replace("rate=20r/s", "rate=2000r/s").replace("visitors 100", "visitors 2000")
    text = text.replace("server_name contest.example.org;", "server_name _;")
    temporary = "".join(
        f"{kind}_temp_path {home}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;\n" if os.geteuid() == 0 else ""
    return (
        f"{user}daemon off;\nworker_processes 1;\npid {home}/nginx.pid;\n"
        "events { worker_connections 4096; }\n"
        f"http {{\naccess_log off;\n{temporary}{text}}}\n"
    )
