"""Child processes with limits: what reads files of teams runs here, and can be killed.

Children come from a fork server that has the numeric modules loaded, so that one starts in a few
milliseconds; they know no database.
"""

from __future__ import annotations

import importlib
import json
import multiprocessing
import os
import re
import signal
import time
from contextlib import suppress
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from threading import Event
from typing import Any, Literal

from tracecup.childlimits import end_with_parent, limit_process
from tracecup.errors import TraceCupError
from tracecup.safeio import MIB

PRELOAD = [
    "tracecup.cli.main",
    "tracecup.contest.attackphase",
    "tracecup.contest.results.compute",
    "tracecup.contest.worlds",
    "tracecup.server.judging.compute.warm",
]
ROOM = "tracecup.server.judging.compute"
SECRETS = ("DATABASE_URL", "TRACECUP_MAIL_URL")
NICE = 10  # pages go before jobs
POLL_SECONDS = 0.5
LONGEST_REASON = 500

Why = Literal["error", "memory", "time", "killed", "stopped"]
_FUNCTION = re.compile(r"[a-z][a-z_]*\.[a-z][a-z_]*")

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(PRELOAD)


class SandboxFailed(Exception):
    """A child that did not come to an end; `why` tells our errors from the limits' work."""

    def __init__(self, reason: str, why: Why = "error") -> None:
        super().__init__(reason[:LONGEST_REASON])
        self.reason, self.why = reason[:LONGEST_REASON], why


def begin() -> None:
    """Start the fork server now, so that the first child does not wait for it; may be repeated."""
    if not _inline():
        forkserver.ensure_running()


def run(
    function: str,
    payload: dict[str, Any],
    *,
    memory_mib: int | None = None,
    seconds: float | None = None,
    cpu_seconds: float | None = None,
    threads: int | None = None,
    stop: Event | None = None,
) -> dict[str, Any]:
    """Call `judging.compute.<function>` with a payload of JSON in a child; its answer.

    `function` is `module.name`. The child may take `memory_mib` beside what the fork server
    holds, `seconds` of the clock, `cpu_seconds` of the processor and `threads`; the server's
    settings say how much where they are None. It is killed when `stop` is set and when this
    process dies. `SandboxFailed` in every case but an answer.
    """
    if not _FUNCTION.fullmatch(function):
        raise ValueError(f"not the name of a computation: {function!r}")
    if _inline():
        return _in_this_process(function, payload)
    memory, longest = _limits(memory_mib, seconds)
    # Without a limit of its own the processor's is for a child whose worker is gone.
    most = int(cpu_seconds or longest * (os.cpu_count() or 1) + 60)
    here, there = _context.Pipe(duplex=False)
    child = _context.Process(
        target=_child,
        args=(there, f"{ROOM}.{function}", json.dumps(payload), memory * MIB, most, threads),
        daemon=True,
        name=function,
    )
    with here:
        child.start()
        there.close()
        try:
            return _answer(here, child, longest, stop)
        finally:
            child.kill()
            child.join()


def _answer(here: Connection, child: Any, longest: float, stop: Event | None) -> dict[str, Any]:
    """What the child sends, or why it sends nothing."""
    deadline = time.monotonic() + longest
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            raise SandboxFailed(f"took longer than {longest:g} s", "time")
        if stop is not None and stop.is_set():
            raise SandboxFailed("was stopped", "stopped")
        # Without `stop` there is nothing to look at before the end.
        if wait([here], timeout=min(left, POLL_SECONDS) if stop is not None else left):
            break
    try:
        held = json.loads(here.recv_bytes())
    except (EOFError, OSError, ValueError):
        child.join()
        if child.exitcode == -signal.SIGXCPU:
            raise SandboxFailed("took longer than the processor's limit", "time") from None
        raise SandboxFailed(f"ended without an answer (code {child.exitcode})", "killed") from None
    if "answer" in held:
        answer: dict[str, Any] = held["answer"]
        return answer
    raise SandboxFailed(held["reason"], held["why"])


def _child(
    connection: Connection,
    function: str,
    payload: str,
    memory: int,
    cpu_seconds: int,
    threads: int | None,
) -> None:
    """What runs in the child."""
    end_with_parent()
    for name in SECRETS:
        os.environ.pop(name, None)
    if threads is not None:
        os.environ["TRACECUP_THREADS"] = str(threads)
    with suppress(OSError):
        os.nice(NICE)
    limit_process(memory, cpu_seconds)
    said: dict[str, Any]
    try:
        said = {"answer": _call(function, json.loads(payload))}
        text = json.dumps(said)
    except MemoryError:
        text = json.dumps({"reason": f"needs more than {memory // MIB} MiB", "why": "memory"})
    except BaseException as error:
        text = json.dumps({"reason": _reason(error), "why": "error"})
    connection.send_bytes(text.encode())
    connection.close()


def _in_this_process(function: str, payload: dict[str, Any]) -> dict[str, Any]:
    """For tests: the same answer, the same kind of failure."""
    try:
        answer: dict[str, Any] = json.loads(
            json.dumps(_call(f"{ROOM}.{function}", json.loads(json.dumps(payload))))
        )
    except Exception as error:
        raise SandboxFailed(_reason(error)) from error
    return answer


def _call(function: str, payload: dict[str, Any]) -> Any:
    module, _, name = function.rpartition(".")
    return getattr(importlib.import_module(module), name)(payload)


def _reason(error: BaseException) -> str:
    """Why a computation failed; only our own errors are quoted."""
    kind = type(error).__name__
    return f"{kind}: {error}" if isinstance(error, TraceCupError) else kind


def _inline() -> bool:
    from django.conf import settings

    return settings.configured and bool(getattr(settings, "TRACECUP_INLINE", False))


def _limits(memory_mib: int | None, seconds: float | None) -> tuple[int, float]:
    if memory_mib is None or seconds is None:
        from django.conf import settings

        memory_mib = memory_mib or settings.CONFIG.job_memory_mib
        seconds = seconds or settings.CONFIG.job_seconds
    return memory_mib, seconds
