"""What both measurements of a server share: lines of numbers, teams that are ready, a result file.

Used by `server_load.py` and `server_deadline.py`.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import sys
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from run import cpu_name, git
from serverstand import SLUG, Player, Stand, prepare, releases
from serverwatch import Answers, Meter, Page, Prober, Used, Watch, quantile

GIB = 1 << 30


@dataclass(frozen=True)
class Line:
    """A measured number, what it should be, and the same work without a server."""

    what: str
    value: float
    unit: str
    target: float | None = None
    yardstick: str = ""
    ratio: float | None = None

    def beside(self, yardstick: str, seconds: float) -> Line:
        """The same line with its ratio to a yardstick."""
        return replace(self, yardstick=yardstick, ratio=self.value / seconds)

    def __str__(self) -> str:
        goal = ""
        if self.target is not None:
            held = "kept" if self.value <= self.target else "MISSED"
            goal = f"  target {self.target:g} {held}"
        ratio = f"  {self.ratio:6.2f} x {self.yardstick}" if self.ratio is not None else ""
        return f"{self.what:58s} {self.value:10.3f} {self.unit:4s}{goal}{ratio}"


@dataclass
class Told:
    """All lines so far; each is printed when it comes."""

    lines: list[Line] = field(default_factory=list)

    def say(self, *more: Line) -> None:
        self.lines.extend(more)
        for line in more:
            print(line, flush=True)

    def write(self, path: Path, room: str, database: str, command: str) -> None:
        """The result with commit, hardware and command."""
        load = os.getloadavg()
        changed = "+changes" if git("status", "--porcelain") else ""
        result = {
            "room": room,
            "when": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "commit": git("rev-parse", "HEAD") + changed,
            "hardware": f"{cpu_name()}, {os.cpu_count()} cores, {platform.system()}",
            "python": platform.python_version(),
            "database": database,
            "command": command,
            "load_average": load,
            "rows": [asdict(line) for line in self.lines],
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(result, indent=1) + "\n")
        print(f"written to {path}; load of the machine: {load[0]:.1f}")


@dataclass(frozen=True)
class Ready:
    """A server whose teams have their data and, in files, what they will hand in."""

    watch: Watch
    players: list[Player]
    organiser: str
    originals: list[Path]
    files: list[Path]

    @classmethod
    def of(
        cls, stand: Stand, users: int, days: int, teams: int, told: Told, grace_seconds: int = 0
    ) -> Ready:
        print(f"{teams} teams, {users} users x {days}+{days} days x 20 slots", flush=True)
        players, organiser = prepare(users, days, teams, grace_seconds)
        watch = stand.start()
        watch.part, meter = "data", Meter(watch)
        stand.wait(data_are_made, 1800)
        used = meter.used()
        told.say(Line("data of all teams made", used.seconds, "s"), *used_lines(used))
        local = stand.home / "teams"
        local.mkdir(exist_ok=True)
        originals, files = releases(stand, players, local)
        size = sum(file.stat().st_size for file in files)
        told.say(Line("size of all releases", size / GIB, "GiB"))
        return cls(watch, players, organiser, originals, files)

    def idle_pages(self, stand: Stand, target: float, told: Told) -> tuple[Prober, float]:
        """A prober that goes on, and the processor time of one page of the idle server."""
        prober = Prober(stand.port, pages_of(self.players, self.organiser))
        # Not a wait for something: pages are asked for meanwhile, at a fixed pace.
        time.sleep(3)  # what pages need once (charts, templates) is not what they need always
        prober.answers()
        meter = Meter(self.watch)
        time.sleep(5)  # long enough for a hundred pages of an idle server
        seen, used = prober.answers(), meter.used()
        page = used.cpu / len(seen.all)
        told.say(*page_lines("of an idle server", seen, target), *used_lines(used))
        told.say(Line("  processor time of one page", page, "s"))
        return prober, page


def data_are_made() -> bool:
    from tracecup.server.models import Round

    return bool(Round.objects.get(contest__slug=SLUG).announced_at)


def pages_of(players: list[Player], organiser: str) -> list[Page]:
    return [
        Page("home", "/"),
        Page("contest", f"/c/{SLUG}/", players[0].cookies),
        Page("team", f"/c/{SLUG}/team/", players[1].cookies),
        Page("run", f"/c/{SLUG}/run/", organiser),
    ]


def page_lines(part: str, told: Answers, target: float) -> list[Line]:
    lines = [
        Line(f"pages {part}: median of {len(told.all)}", quantile(told.all, 0.5), "s"),
        Line(f"pages {part}: 95th percentile", quantile(told.all, 0.95), "s", target),
    ]
    for name, seconds in told.seconds.items():
        lines.append(Line(f"  {name} {part}: 95th percentile", quantile(seconds, 0.95), "s"))
    if told.wrong:
        sys.exit(f"pages failed: {sorted(set(told.wrong))[:10]}")
    return lines


def used_lines(used: Used) -> list[Line]:
    return [
        Line("  processor time of the server", used.cpu, "s"),
        Line("  cores kept busy by others meanwhile", used.others, ""),
    ]
