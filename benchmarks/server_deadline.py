"""`make bench-deadline`: 200 teams hand in within the last minute, on the layout of deploy/.

PostgreSQL, two web processes, a worker beside them and one over HTTP, nginx before all. The clock
is set so that the deadline falls at the end of the minute. Files come more and more often until 5 s
before it, pages are asked for every 50 ms meanwhile; what has arrived 10 s after the deadline, the
contest's grace, counts. Then a file that comes too late is refused, and every receipt is compared
with what the server holds. Results go to out/bench/deadline.json, whatever they are; the exit code
is 1 where a receipt is missing or differs, or the late file was taken.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import http
import http.client
import math
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import urllib.parse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

# A script's neighbours need the path above, so these cannot stand at the top.
from server_load import all_scored  # noqa: E402 - needs the path
from serverlayout import Layout, Postgres, require_nginx  # noqa: E402 - needs the path
from serverreport import GIB, Line, Ready, Told, page_lines, used_lines  # noqa: E402 - needs the path
from serverstand import SLUG, Player, Stand  # noqa: E402 - needs the path
from serverwatch import Meter, quantile  # noqa: E402 - needs the path

PAGE_TARGET = 1.0
MINUTE = 60.0
"""From the first moment to the deadline."""

LAST_MOMENT = 55.0
"""Nobody begins to send later: a file needs time on its way."""

GRACE = 10
"""Seconds after the deadline until which a file may arrive, by the rules of this contest."""


@dataclass(frozen=True)
class Receipt:
    """What a team was told: when it began (of the minute), how long it took, the answer."""

    team: int
    due: float
    seconds: float
    status: int
    told: Any


def moments(teams: int) -> list[float]:
    """When each team begins to send, in seconds of the minute, denser towards the end.

    The last moment times the root of an even draw: three of four lie in its second half.
    """
    dice = random.Random(1)
    return [LAST_MOMENT * math.sqrt(dice.random()) for _ in range(teams)]


def hand_in(stand: Stand, players: list[Player], files: list[Path]) -> list[Receipt]:
    """Each team at its own moment; one answer for each, also where the server gave none."""
    due = moments(len(players))
    begun, receipts = time.perf_counter(), list[Receipt]()

    def post(player: Player, file: Path, at: float) -> None:
        time.sleep(max(0.0, begun + at - time.perf_counter()))  # until this team's own moment
        sent = time.perf_counter()
        status, told = send(stand, player, file)
        receipts.append(Receipt(player.number, at, time.perf_counter() - sent, status, told))

    hands = [
        threading.Thread(target=post, args=one) for one in zip(players, files, due, strict=True)
    ]
    for hand in hands:
        hand.start()
    for hand in hands:
        hand.join()
    return sorted(receipts, key=lambda one: one.team)


def send(stand: Stand, player: Player, file: Path) -> tuple[int, Any]:
    """What the server answers to a file; status 0 where it does not."""
    address = f"/api/v1/contests/{SLUG}/uploads/{urllib.parse.quote(file.name)}"
    try:
        return stand.put(address, player.token, file)
    except (OSError, ValueError, http.client.HTTPException) as error:
        return 0, f"{type(error).__name__}: {error}"


def deadline() -> datetime.datetime:
    """When the phase ends in which releases are handed in."""
    from tracecup.server.models import Round

    ends: datetime.datetime = Round.objects.get(contest__slug=SLUG).rules.phases.judge
    return ends


def arrived_after(instant: datetime.datetime) -> int:
    """Files that the server took and that had fully arrived only then."""
    from tracecup.server.models import Submission

    return Submission.objects.filter(contest__slug=SLUG, received_at__gte=instant).count()


def is_over() -> bool:
    """Whether the deadline and its grace have passed on the server's clock."""
    from tracecup.server import clock

    return clock.now() >= deadline() + datetime.timedelta(seconds=GRACE)


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


def measure(
    layout: Layout, users: int, days: int, teams: int, judge: bool
) -> tuple[Told, list[str]]:
    """All lines, and what is wrong with the receipts."""
    told = Told()
    say = told.say
    ready = Ready.of(layout, users, days, teams, told, GRACE)
    watch, players, files = ready.watch, ready.players, ready.files
    prober, _ = ready.idle_pages(layout, PAGE_TARGET, told)

    watch.part, meter = "receipts", Meter(watch)
    layout.let_come(deadline(), MINUTE)
    receipts = hand_in(layout, players, files)
    seen, used = prober.answers(), meter.used()
    seconds = [one.seconds for one in receipts]
    last = max(one.due + one.seconds for one in receipts)
    layout.wait(is_over, MINUTE)
    status, answer = send(layout, players[0], files[0])
    wrong = lost(players, files, receipts)
    refused = status == http.HTTPStatus.CONFLICT and answer["error"]["code"] == "closed"
    if not refused:
        wrong.append(f"a file after the deadline: {status} {answer}"[:300])
    say(
        Line(
            "receipts of teams", sum(one.status == http.HTTPStatus.CREATED for one in receipts), ""
        ),
        Line("lost or different", len(wrong), "", 0.0),
        Line(f"arrived within {GRACE} s after the deadline", arrived_after(deadline()), ""),
        Line("refused after that", float(refused), ""),
        Line("receipt: median", quantile(seconds, 0.5), "s"),
        Line("receipt: 95th percentile", quantile(seconds, 0.95), "s"),
        Line("receipt: slowest", max(seconds), "s"),
        Line("last receipt after the minute began", last, "s"),
        *used_lines(used),
        *page_lines("while files come in", seen, PAGE_TARGET),
    )
    if judge and not wrong:
        watch.part, meter = "judging", Meter(watch)
        layout.move_clock(8.1)
        layout.wait(lambda: all_scored(teams), 3600)
        seen, used = prober.answers(), meter.used()
        say(
            Line("judged, published, sample attacks scored", used.seconds, "s"),
            *used_lines(used),
            *page_lines("while the judge works", seen, PAGE_TARGET),
        )
    prober.stop()
    watch.stop()
    for part, one in watch.peaks.items():
        say(Line(f"memory: {part}, shared pages once", one["pss"] / GIB, "GiB"))
    return told, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=100)
    parser.add_argument("--days", type=int, default=20)
    parser.add_argument("--teams", type=int, default=200)
    parser.add_argument("--judge", action="store_true", help="wait for sample attacks, too")
    parser.add_argument("--out", type=Path, default=Path("out/bench"), help="folder of results")
    given = parser.parse_args()
    require_nginx()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))
    home = Path(tempfile.mkdtemp(prefix="tracecup-load-"))
    postgres = Postgres()
    layout = Layout(home, postgres)
    try:
        told, wrong = measure(layout, given.users, given.days, given.teams, given.judge)
    finally:
        layout.stop()
        postgres.stop()
        shutil.rmtree(home, ignore_errors=True)
    told.write(
        given.out / "deadline.json",
        "server at a deadline",
        "PostgreSQL",
        f"python benchmarks/server_deadline.py --users {given.users} --days {given.days} "
        f"--teams {given.teams}{' --judge' * given.judge}",
    )
    if wrong:
        sys.exit("; ".join(wrong)[:3000])


if __name__ == "__main__":
    main()
