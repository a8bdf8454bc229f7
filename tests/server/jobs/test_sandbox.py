"""The sandbox: answers come back, limits bite, nothing outlives its worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from django.conf import settings

from tracecup.server.jobs import sandbox
from tracecup.server.jobs.sandbox import SandboxFailed

PATIENCE = 240
COMPUTE = """
import os, time
from tracecup.errors import InvalidParameter

def echo(payload):
    return {"got": payload, "pid": os.getpid(), "url": os.environ.get("DATABASE_URL"),
            "mail": os.environ.get("TRACECUP_MAIL_URL"),
            "threads": os.environ.get("TRACECUP_THREADS")}

def fill(payload):
    held = [bytearray(1 << 20) for _ in range(payload["mib"])]
    return {"held": len(held)}

def sleep(payload):
    with open(payload["pid_file"], "w") as file:
        file.write(str(os.getpid()))
    time.sleep(payload["seconds"])
    return {}

def fail(payload):
    raise InvalidParameter("a rule was broken")

def leak(payload):
    raise KeyError("secret value")

def vanish(payload):
    os._exit(7)

def spin(payload):
    while True:
        pass
"""


@pytest.fixture(autouse=True)
def room(tmp_path, monkeypatch):
    """A room of computations that exists only here, run in real children."""
    folder = tmp_path / "path" / "sandboxed"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "probe.py").write_text(COMPUTE)
    monkeypatch.syspath_prepend(str(folder.parent))
    monkeypatch.setattr(sandbox, "ROOM", "sandboxed")
    monkeypatch.setattr(settings, "TRACECUP_INLINE", False, raising=False)


@pytest.fixture
def children(monkeypatch):
    """The processes that were asked for an answer, by number."""
    found: list[int] = []
    really = sandbox._answer

    def answer(here, child, *more):
        found.append(child.pid)
        return really(here, child, *more)

    monkeypatch.setattr(sandbox, "_answer", answer)
    return found


class TestRun:
    def test_answer_of_another_process(self):
        answer = sandbox.run("probe.echo", {"a": [1, 2.5, None]})
        assert answer["got"] == {"a": [1, 2.5, None]}
        assert answer["pid"] != os.getpid()

    def test_child_knows_no_database_and_its_threads(self, monkeypatch):
        monkeypatch.setenv("DATABASE_URL", "postgres://somebody@nowhere/x")
        monkeypatch.setenv("TRACECUP_MAIL_URL", "smtp://somebody:secret@nowhere")
        answer = sandbox.run("probe.echo", {}, threads=1)
        assert answer["url"] is answer["mail"] is None
        assert answer["threads"] == "1"

    def test_memory_is_limited(self):
        assert sandbox.run("probe.fill", {"mib": 50}, memory_mib=300) == {"held": 50}
        with pytest.raises(SandboxFailed, match="more than 300 MiB") as caught:
            sandbox.run("probe.fill", {"mib": 2000}, memory_mib=300)
        assert caught.value.why == "memory"

    def test_time_is_limited_and_the_child_is_gone(self, tmp_path, children):
        with pytest.raises(SandboxFailed, match="longer than 1 s") as caught:
            asked = {"seconds": 600, "pid_file": str(tmp_path / "pid")}
            sandbox.run("probe.sleep", asked, seconds=1)
        assert caught.value.why == "time"
        assert len(children) == 1
        assert _gone(children[0])

    def test_the_processor_is_limited_whatever_the_clock_says(self):
        with pytest.raises(SandboxFailed, match="the processor's limit") as caught:
            sandbox.run("probe.spin", {}, seconds=600, cpu_seconds=1)
        assert caught.value.why == "time"

    def test_stopped_from_outside(self, tmp_path):
        stop = threading.Event()
        timer = threading.Timer(0.5, stop.set)
        timer.start()
        with pytest.raises(SandboxFailed) as caught:
            sandbox.run(
                "probe.sleep", {"seconds": 600, "pid_file": str(tmp_path / "pid")}, stop=stop
            )
        timer.join()
        assert caught.value.why == "stopped"

    def test_our_errors_are_quoted(self):
        with pytest.raises(SandboxFailed, match="InvalidParameter: a rule was broken"):
            sandbox.run("probe.fail", {})

    def test_other_errors_only_by_name(self):
        with pytest.raises(SandboxFailed) as caught:
            sandbox.run("probe.leak", {})
        assert caught.value.reason == "KeyError"

    def test_child_that_vanishes(self):
        with pytest.raises(SandboxFailed, match="code 7") as caught:
            sandbox.run("probe.vanish", {})
        assert caught.value.why == "killed"

    @pytest.mark.parametrize("name", ["os.system", "probe", "..x.y", "probe.echo.x", "Probe.echo"])
    def test_other_names_are_refused(self, name):
        if name == "os.system":
            with pytest.raises(SandboxFailed, match="ModuleNotFoundError"):
                sandbox.run(name, {})
        else:
            with pytest.raises(ValueError, match="not the name"):
                sandbox.run(name, {})

    def test_inline_in_tests(self, monkeypatch):
        monkeypatch.setattr(settings, "TRACECUP_INLINE", True, raising=False)
        assert sandbox.run("probe.echo", {})["pid"] == os.getpid()
        with pytest.raises(SandboxFailed, match="a rule was broken"):
            sandbox.run("probe.fail", {})


def test_child_dies_with_its_worker(tmp_path):
    """kill -9 of the worker leaves nothing running."""
    pid_file = tmp_path / "pid"
    payload = {"seconds": 600, "pid_file": str(pid_file)}
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'path')!r})\n"
        "from tracecup.server.jobs import sandbox\n"
        "sandbox.ROOM = 'sandboxed'\n"
        f"sandbox.run('probe.sleep', {payload!r}, memory_mib=500, seconds=600)\n"
    )
    worker = subprocess.Popen([sys.executable, "-c", code])
    until = time.monotonic() + PATIENCE
    while not (pid_file.exists() and pid_file.read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    child = int(pid_file.read_text())
    worker.send_signal(signal.SIGKILL)
    worker.wait(PATIENCE)
    assert _gone(child)


def _gone(pid: int) -> bool:
    """Whether a process comes to its end; a dead one that nobody has asked after is gone, too."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.05)
    return False
