"""A process that has loaded what every server loads, and forks itself into one on request.

`sprout` is `subprocess.Popen` for programs of this package: what the new process runs is the same,
but numeric libraries are in memory from the beginning, which is most of the time of a start.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import gc
import importlib
import json
import multiprocessing.util
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import types
from pathlib import Path
from typing import IO, Any

SERVER_MODULES = (
    "django.core.management",
    "django.db.models",
    "psycopg",
    "pydantic",
    "tracecup.server.start",
    "waitress",
    "whitenoise",
)
"""What a server imports beside its fork server's list, and can be imported without settings."""
BLOCK = 65_536


class Sprout:
    """A process that a seedbed forked; the part of `subprocess.Popen` that tests use."""

    def __init__(self, args: list[str], told: int, stdin: IO | None, stdout: IO | None) -> None:
        self.args, self.stdin, self.stdout = args, stdin, stdout
        self.returncode: int | None = None
        self._told = os.fdopen(told, "rb", buffering=0)
        self.pid = int(self._told.readline())

    def poll(self) -> int | None:
        """The exit code where it has ended."""
        return self._look(0)

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, once it has ended."""
        code = self._look(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return code

    def _look(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._told], [], [], timeout)[0]:
            self.returncode = int(self._told.readline() or -signal.SIGKILL)
            self._told.close()
        return self.returncode


class Seedbed:
    """The near end of the process; it ends with this one."""

    def __init__(self) -> None:
        self._control, there = socket.socketpair()
        with there:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(there.fileno())],
                pass_fds=[there.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._lock = threading.Lock()
        atexit.register(self.end)

    def end(self) -> None:
        self._control.close()
        self._process.wait()

    def sprout(
        self, command: list[str], env: dict[str, str], output: int | None, errors: int
    ) -> Sprout:
        """Run `[sys.executable, ...]` in a session of its own.

        Without `output`, a descriptor, what it reads and prints goes through pipes, as text.
        """
        near, far = [], [os.open(os.devnull, os.O_RDONLY), os.dup(errors), os.dup(errors)]
        if output is None:
            (from_it, far_out), (far_in, to_it) = os.pipe(), os.pipe()
            for k, end in enumerate((far_in, far_out)):
                os.close(far[k])
                far[k] = end
            near = [os.fdopen(to_it, "w"), os.fdopen(from_it)]
        else:
            os.dup2(output, far[1])
        told, telling = os.pipe()
        asked = json.dumps({"command": command[1:], "env": env, "cwd": str(Path.cwd())})
        try:
            with self._lock:
                socket.send_fds(self._control, [b"x"], [*far, telling])
                self._control.sendall(asked.encode() + b"\n")
        finally:
            for end in (*far, telling):
                os.close(end)
        return Sprout(command, told, *(near or (None, None)))


_held: list[Seedbed] = []


def sprout(
    command: list[str], env: dict[str, str], *, output: int | None = None, errors: int
) -> Sprout:
    """See `Seedbed.sprout`; the seedbed of this process is made when it is first needed."""
    if not _held:
        _held.append(Seedbed())
    return _held[0].sprout(command, env, output, errors)


def main(control: socket.socket) -> None:
    """Fork whatever is asked for until nobody can ask."""
    from tracecup.server.jobs.sandbox import PRELOAD

    for name in (*PRELOAD, *SERVER_MODULES):
        importlib.import_module(name)
    gc.freeze()
    while True:
        first, ends, _, _ = socket.recv_fds(control, 1, 4)
        _clear_up()
        if not first:
            return
        line = bytearray()
        while not line.endswith(b"\n"):
            line += control.recv(BLOCK)
        if os.fork() == 0:
            control.close()
            _watch(json.loads(line), *ends)
            return
        for end in ends:
            os.close(end)


def _clear_up() -> None:
    """Let go of watchers whose program has ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _watch(asked: dict[str, Any], stdin: int, stdout: int, stderr: int, telling: int) -> None:
    """Fork once more, into the program; tell its number, and how it ended."""
    pid = os.fork()
    if pid == 0:
        os.close(telling)
        _become(asked, (stdin, stdout, stderr))
        return
    for end in (stdin, stdout, stderr):
        os.close(end)
    os.write(telling, b"%d\n" % pid)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    with contextlib.suppress(BrokenPipeError):
        os.write(telling, b"%d\n" % code)
    os._exit(0)


def _become(asked: dict[str, Any], ends: tuple[int, int, int]) -> None:
    """Be what `python` is with these arguments, environment and descriptors."""
    os.setsid()
    for number, end in enumerate(ends):
        os.dup2(end, number)
        os.close(end)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - open as long as the program runs
    sys.stdout = open(1, "w", 1, closefd=False)  # noqa: SIM115 - open as long as the program runs
    sys.stderr = open(2, "w", 1, closefd=False)  # noqa: SIM115 - open as long as the program runs
    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["cwd"])
    _keep_a_copy()
    how, *sys.argv = asked["command"]
    if how == "-m":
        sys.path[0] = asked["cwd"]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    elif how == "-c":
        sys.path[0] = ""
        code, sys.argv[0] = sys.argv[0], "-c"
        made = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(code, "<string>", "exec"), made.__dict__)
    else:
        sys.path[0] = str(Path(how).parent)
        sys.argv.insert(0, how)
        runpy.run_path(how, run_name="__main__")


def _keep_a_copy() -> None:
    """Fork a child that waits to become the fork server of this process (`server.jobs.sandbox`).

    It is as if that were started anew, only that its modules are loaded: it is a child of the
    server, of the same group, and has seen nothing of what the server does afterwards.
    """
    here, there = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        here.close()
        line, ends, _, _ = socket.recv_fds(there, BLOCK, 16)
        there.close()
        if line:
            asked = json.loads(line)
            _put(ends, asked["ends"])
            exec(asked["code"], {"__name__": "__main__"})
        os._exit(0)
    there.close()
    owner, spawn = os.getpid(), multiprocessing.util.spawnv_passfds

    def instead(path: Any, args: list[Any], ends: list[int]) -> int:
        if "multiprocessing.forkserver" not in args[-1] or os.getpid() != owner:
            return spawn(path, args, ends)
        multiprocessing.util.spawnv_passfds = spawn
        asked = {"code": args[-1], "ends": list(ends)}
        with here:
            socket.send_fds(here, [json.dumps(asked).encode()], list(ends))
        return pid

    multiprocessing.util.spawnv_passfds = instead


def _put(ends: list[int], numbers: list[int]) -> None:
    """Give descriptors the numbers that they have in the process they come from."""
    away = [fcntl.fcntl(end, fcntl.F_DUPFD, max(numbers) + 1) for end in ends]
    for end in ends:
        os.close(end)
    for end, number in zip(away, numbers, strict=True):
        os.dup2(end, number)
        os.close(end)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
