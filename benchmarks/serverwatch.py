"""Watching a server from outside: memory and processor time of its processes, answers of its pages.

Linux only: everything about processes is read from /proc.
"""

from __future__ import annotations

import http.client
import itertools
import multiprocessing
import os
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OK = 200
TICK = os.sysconf("SC_CLK_TCK")
PROBE_SECONDS = 0.05
PROBE_THREADS = 16
FIRST_AFTER_NAME = 2  # fields of /proc/PID/stat are counted from 1, the name is the second


class Watch:
    """Samples the processes below `pids` from a thread until `stop`.

    `rss` adds what each process has in memory, so shared pages count once for each of them;
    `pss` divides shared pages among those who share them and is the memory really taken.
    """

    def __init__(self, *pids: int, every: float = 0.25) -> None:
        self.pids, self._every = pids, every
        self.peaks: dict[str, dict[str, float]] = {}
        self.part = ""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def cpu_seconds(self) -> float:
        """Processor time of all processes that are there, and of those that ended."""
        return sum(map(_tree, self.pids))

    def _run(self) -> None:
        while not self._stop.wait(self._every):
            found = [_memory(pid) for root in self.pids for pid in processes(root)]
            rss, pss = (sum(one[k] for one in found) for k in (0, 1))
            peak = self.peaks.setdefault(self.part, {"rss": 0, "pss": 0, "processes": 0})
            peak["rss"], peak["pss"] = max(peak["rss"], rss), max(peak["pss"], pss)
            peak["processes"] = max(peak["processes"], len(found))


@dataclass(frozen=True)
class Used:
    """What a while took: seconds, processor time of the server, cores that others kept busy."""

    seconds: float
    cpu: float
    others: float


class Meter:
    """Measures from its making to `used`."""

    def __init__(self, watch: Watch) -> None:
        self._watch, self._begun = watch, time.perf_counter()
        self._cpu, self._busy, self._ours = watch.cpu_seconds(), _busy(), _tree(os.getpid())

    def used(self) -> Used:
        seconds = time.perf_counter() - self._begun
        others = (_busy() - self._busy) - (_tree(os.getpid()) - self._ours)
        return Used(seconds, self._watch.cpu_seconds() - self._cpu, max(0.0, others / seconds))


def processes(root: int) -> list[int]:
    """A process and everything below it."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            told = _stat(int(entry.name))
            if told:
                parents[int(entry.name)] = int(told[4 - FIRST_AFTER_NAME - 1])
    found, new = [root], [root]
    while new:
        new = [pid for pid, parent in parents.items() if parent in new]
        found += new
    return found


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _cpu(pid: int) -> float:
    told = _stat(pid)
    first = 14 - FIRST_AFTER_NAME - 1
    return sum(int(ticks) for ticks in told[first : first + 4]) / TICK


def _tree(pid: int) -> float:
    return sum(_cpu(one) for one in processes(pid))


def _busy() -> float:
    """Seconds that all cores together have worked, without waiting for disks."""
    user, nice, system, _, _, *more = Path("/proc/stat").read_text().split("\n")[0].split()[1:]
    return sum(int(ticks) for ticks in (user, nice, system, *more[:3])) / TICK


def _memory(pid: int) -> tuple[int, int]:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0, 0
    sizes = {line.split(":")[0]: line.split()[1] for line in lines[1:]}
    return int(sizes.get("Rss", 0)) * 1024, int(sizes.get("Pss", 0)) * 1024


@dataclass
class Answers:
    """Seconds that pages took, by page, and the answers that were no page."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    @property
    def all(self) -> list[float]:
        return list(itertools.chain(*self.seconds.values()))


@dataclass(frozen=True)
class Page:
    """A page to look at, and the cookies of who looks."""

    name: str
    path: str
    cookies: str = ""


class Prober:
    """A process that asks for a page every 50 ms, in turn, whatever the last one takes.

    Time runs from the instant at which the request was due, so a server that stands still for a
    second cannot hide it by being asked less.
    """

    def __init__(self, port: int, pages: list[Page]) -> None:
        spawn: Any = multiprocessing.get_context("spawn")
        self._here, there = spawn.Pipe()
        self._process = spawn.Process(target=_probe, args=(there, port, pages), daemon=True)
        self._process.start()

    def answers(self) -> Answers:
        """What came since the last call."""
        self._here.send("tell")
        told: Answers = self._here.recv()
        return told

    def stop(self) -> None:
        self._here.send("stop")
        self._process.join(30)


def _probe(connection: Any, port: int, pages: list[Page]) -> None:
    held, lock, local = Answers(), threading.Lock(), threading.local()

    def ask(page: Page, due: float) -> None:
        headers = {"Cookie": page.cookies} if page.cookies else {}
        try:
            if not hasattr(local, "http"):
                local.http = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            local.http.request("GET", page.path, headers=headers)
            answer = local.http.getresponse()
            answer.read()
            problem = "" if answer.status == OK else f"{page.name}: {answer.status}"
        except (OSError, http.client.HTTPException) as error:
            problem = f"{page.name}: {type(error).__name__}"
            del local.http
        with lock:
            held.seconds.setdefault(page.name, []).append(time.perf_counter() - due)
            if problem:
                held.wrong.append(problem)

    due = time.perf_counter()
    with ThreadPoolExecutor(PROBE_THREADS) as pool:
        for page in itertools.cycle(pages):
            due = max(due + PROBE_SECONDS, time.perf_counter() - PROBE_THREADS)
            if connection.poll(max(0.0, due - time.perf_counter())):
                try:
                    if connection.recv() == "stop":
                        return
                except EOFError:
                    return
                with lock:
                    connection.send(held)
                    held = Answers()
            pool.submit(ask, page, due)


def quantile(values: list[float], share: float) -> float:
    """A quantile of a list; nan of an empty one."""
    if len(values) < 2:
        return values[0] if values else float("nan")
    return statistics.quantiles(values, n=100, method="inclusive")[round(share * 100) - 1]
