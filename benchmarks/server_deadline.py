"""`make bench-deadline`: 200 teams hand in within the last minute, on the layout of deploy/.

PostgreSQL, two web processes, a worker beside them and one over HTTP, nginx before all. Files come
more and more often towards the end of the minute, pages are asked for every 50 ms meanwhile. Then
the clock passes the deadline, and every receipt is compared with what the server holds. Results go
to out/bench/deadline.json.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import http
import json
import math
import os
import platform
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import urllib.parse
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

# A script's neighbours need the path above, so these cannot stand at the top.
from run import cpu_name, git  # noqa: E402 - needs the path
from server_load import GIB, Line, all_scored, data_are_made, page_lines, pages_of, used_lines  # noqa: E402
from serverlayout import Layout, Postgres  # noqa: E402 - needs the path
from serverstand import SLUG, Player, prepare, releases  # noqa: E402 - needs the path
from serverwatch import Meter, Prober, quantile  # noqa: E402 - needs the path

PAGE_TARGET = 1.0
MINUTE = 60.0
MIB = 1 << 20


@dataclass(frozen=True)
class Receipt:
    """What a team was told: when it began (of the minute), how long it took, the answer."""

    team: int
    due: float
    seconds: float
    status: int
    told: Any


def hand_in(layout: Layout, players: list[Player], files: list[Path]) -> list[Receipt]:
    """Each team at its own moment of the minute; twice as many in its second half as evenly."""
    dice = random.Random(1)
    due = [MINUTE * math.sqrt(dice.random()) for _ in players]
    begun, receipts = time.perf_counter(), list[Receipt]()

    def post(player: Player, file: Path, at: float) -> None:
        time.sleep(max(0.0, begun + at - time.perf_counter()))
        address = f"/api/v1/contests/{SLUG}/uploads/{urllib.parse.quote(file.name)}"
        sent = time.perf_counter()
        try:
            status, told = layout.put(address, player.token, file)
        except (OSError, ValueError) as error:
            status, told = 0, f"{type(error).__name__}: {error}"
        receipts.append(Receipt(player.number, at, time.perf_counter() - sent, status, told))

    hands = [
        threading.Thread(target=post, args=one) for one in zip(players, files, due, strict=True)
    ]
    for hand in hands:
        hand.start()
    for hand in hands:
        hand.join()
    return sorted(receipts, key=lambda one: one.team)


def lost(players: list[Player], files: list[Path], told: list[Receipt]) -> list[str]:
    """What differs between receipts, the server's rows and blobs, and the files that were sent."""
    from django.urls import reverse

    from tracecup.server.models import Submission
    from tracecup.server.storage import store

    wrong = []
    for player, file, receipt in zip(players, files, told, strict=True):
        if receipt.status != http.HTTPStatus.CREATED:
            wrong.append(f"team {player.number}: {receipt.status} {receipt.told}"[:300])
            continue
        sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
        rows = Submission.objects.filter(contest__slug=SLUG, team__number=player.number)
        held = [(reverse("receipt", args=[row.receipt]), row.sha256) for row in rows]
        if held != [(receipt.told["receipt"], sha256)]:
            wrong.append(f"team {player.number}: the server has {held}")
        elif hashlib.sha256(store().path(sha256).read_bytes()).hexdigest() != sha256:
            wrong.append(f"team {player.number}: the stored file differs")
    return wrong


def measure(layout: Layout, users: int, days: int, teams: int, judge: bool) -> list[Line]:
    lines: list[Line] = []

    def say(*more: Line) -> None:
        lines.extend(more)
        for line in more:
            print(line, flush=True)

    print(f"{teams} teams, {users} users x {days}+{days} days x 20 slots", flush=True)
    players, organiser = prepare(users, days, teams)
    watch = layout.start()
    watch.part, meter = "data", Meter(watch)
    layout.wait(data_are_made, 1800)
    used = meter.used()
    say(Line("data of all teams made", used.seconds, "s"), *used_lines(used))
    local = layout.home / "teams"
    local.mkdir(exist_ok=True)
    _, files = releases(layout, players, local)
    say(Line("size of all releases", sum(file.stat().st_size for file in files) / MIB, "MiB"))

    prober = Prober(layout.port, pages_of(players, organiser))
    time.sleep(3)  # what pages need once (charts, templates) is not what they need always
    prober.answers()
    meter = Meter(watch)
    time.sleep(5)  # long enough for a hundred pages of an idle server
    told, used = prober.answers(), meter.used()
    say(*page_lines("of an idle server", told, PAGE_TARGET), *used_lines(used))

    watch.part, meter = "receipts", Meter(watch)
    receipts = hand_in(layout, players, files)
    told, used = prober.answers(), meter.used()
    seconds = [one.seconds for one in receipts]
    last = max(one.due + one.seconds for one in receipts)
    wrong = lost(players, files, receipts)
    say(
        Line(
            "receipts of teams", sum(one.status == http.HTTPStatus.CREATED for one in receipts), ""
        ),
        Line("lost or different", len(wrong), "", 0.0),
        Line("receipt: median", quantile(seconds, 0.5), "s"),
        Line("receipt: 95th percentile", quantile(seconds, 0.95), "s"),
        Line("receipt: slowest", max(seconds), "s"),
        Line("last receipt after the minute began", last, "s"),
        *used_lines(used),
        *page_lines("while files come in", told, PAGE_TARGET),
    )
    if wrong:
        sys.exit("; ".join(wrong)[:3000])
    if judge:
        watch.part, meter = "judging", Meter(watch)
        layout.move_clock(8.1)
        layout.wait(lambda: all_scored(teams), 3600)
        told, used = prober.answers(), meter.used()
        say(
            Line("judged, published, sample attacks scored", used.seconds, "s"),
            *used_lines(used),
            *page_lines("while the judge works", told, PAGE_TARGET),
        )
    prober.stop()
    watch.stop()
    for part, one in watch.peaks.items():
        say(Line(f"memory: {part}, shared pages once", one["pss"] / GIB, "GiB"))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=100)
    parser.add_argument("--days", type=int, default=20)
    parser.add_argument("--teams", type=int, default=200)
    parser.add_argument("--judge", action="store_true", help="wait for sample attacks, too")
    parser.add_argument("--out", type=Path, default=Path("out/bench"), help="folder of results")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))
    home, load = Path(tempfile.mkdtemp(prefix="tracecup-load-")), os.getloadavg()
    postgres = Postgres()
    layout = Layout(home, postgres)
    try:
        lines = measure(layout, given.users, given.days, given.teams, given.judge)
    finally:
        layout.stop()
        postgres.stop()
        shutil.rmtree(home, ignore_errors=True)
    given.out.mkdir(parents=True, exist_ok=True)
    result = {
        "room": "server at a deadline",
        "when": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "commit": git("rev-parse", "HEAD") + ("+changes" if git("status", "--porcelain") else ""),
        "hardware": f"{cpu_name()}, {os.cpu_count()} cores, {platform.system()}",
        "python": platform.python_version(),
        "database": "PostgreSQL",
        "command": f"python benchmarks/server_deadline.py --users {given.users} "
        f"--days {given.days} --teams {given.teams}{' --judge' * given.judge}",
        "load_average": load,
        "rows": [asdict(line) for line in lines],
    }
    path = given.out / "deadline.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(f"written to {path}; load of the machine before: {load[0]:.1f}")


if __name__ == "__main__":
    main()
