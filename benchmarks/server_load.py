"""`make bench-server`: all teams of a full-size contest hand in at once, against a real server.

One server with one worker on SQLite (`--database-url` for PostgreSQL) in a folder that is removed
afterwards. While 21 teams post their releases, and while the judge shuffles and attacks them,
pages are asked for every 50 ms. Results go to out/bench/server.json.
"""

from __future__ import annotations

import argparse
import http
import shutil
import signal
import sys
import tempfile
import threading
import time
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

# A script's neighbours need the path above, so these three cannot stand at the top.
from serverreport import GIB, Line, Ready, Told, page_lines, used_lines  # noqa: E402 - needs the path
from serverstand import SLUG, Player, Stand, city_of  # noqa: E402 - needs the path
from serverwatch import Meter, Used  # noqa: E402 - needs the path

RECEIPT_TARGET, SCORED_TARGET, PAGE_TARGET, MEMORY_TARGET = 60.0, 300.0, 0.3, 2.0


def post_all(stand: Stand, players: list[Player], files: list[Path]) -> list[float]:
    """All at once, a thread for each team; seconds from the common start to each receipt."""
    start, seconds, wrong = threading.Barrier(len(players) + 1), [], []

    def post(player: Player, file: Path) -> None:
        start.wait()
        begun = time.perf_counter()
        address = f"/api/v1/contests/{SLUG}/uploads/{urllib.parse.quote(file.name)}"
        status, told = stand.put(address, player.token, file)
        seconds.append(time.perf_counter() - begun)
        if status != http.HTTPStatus.CREATED:
            wrong.append(f"team {player.number}: {status} {told}")

    hands = [threading.Thread(target=post, args=one) for one in zip(players, files, strict=True)]
    for hand in hands:
        hand.start()
    start.wait()
    for hand in hands:
        hand.join()
    if wrong:
        sys.exit("not all accepted: " + "; ".join(wrong)[:3000])
    return sorted(seconds)


def all_scored(teams: int) -> bool:
    """Whether every valid release, and the benchmark, has been attacked by all sample attacks."""
    from tracecup.server.models import Release, Round

    round = Round.objects.get(contest__slug=SLUG)
    if round.published_at is None:
        return False
    told = list(Release.objects.filter(round=round).values_list("valid", "scores"))
    samples = round.contest.rules.samples
    wanted = len(samples.reid) + len(samples.trace)
    return len(told) == teams + 1 and all(not ok or len(held) == wanted for ok, held in told)


@dataclass(frozen=True)
class Alone:
    """Seconds and processor time of work in this process."""

    seconds: float
    cpu: float

    @classmethod
    def of(cls, work: Callable[[], None]) -> Alone:
        begun, cpu = time.perf_counter(), time.process_time()
        work()
        return cls(time.perf_counter() - begun, time.process_time() - cpu)


def check_alone(originals: list[Path], files: list[Path], folder: Path) -> Alone:
    """Seconds of reading and judging all files, one after the other in this process."""
    from tracecup.contest.judging.judge import Judge
    from tracecup.server.models import Contest

    rules = Contest.objects.get(slug=SLUG).rules
    judge = Judge(rules, city_of(folder), rules.clock_of(rules.rounds[0].name))

    def check(original: Path, file: Path) -> None:
        judge.verdict(judge.read_original(original), judge.read_submission(file))

    def check_all() -> None:
        for pair in zip(originals, files, strict=True):
            check(*pair)

    check(originals[0], files[0])
    return Alone.of(check_all)


def judge_alone() -> Alone:
    """Seconds of the judge's same computations, one after the other in this process."""
    from importlib import import_module

    from tracecup.server.jobs.kinds import kind_of
    from tracecup.server.models import Job
    from tracecup.server.storage import store

    tasks = [
        kind_of(job.kind).prepare(job)
        for job in Job.objects.filter(kind__in=("shuffle", "sample")).order_by("id")
    ]

    def work(task: Any) -> None:
        module, _, name = task.function.partition(".")
        files = {name: str(store().path(sha256)) for name, sha256 in task.inputs.items()}
        with tempfile.TemporaryDirectory() as out:
            function = getattr(import_module(f"tracecup.server.judging.compute.{module}"), name)
            function({**task.payload, "files": files, "out": out})

    work(tasks[0])
    work(tasks[-1])

    def work_all() -> None:
        for task in tasks:
            work(task)

    return Alone.of(work_all)


def disk_gib(folder: Path) -> float:
    return sum(one.stat().st_size for one in folder.rglob("*") if one.is_file()) / GIB


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=2000)
    parser.add_argument("--days", type=int, default=20)
    parser.add_argument("--teams", type=int, default=21)
    parser.add_argument("--database-url", default="", help="PostgreSQL instead of SQLite")
    parser.add_argument("--out", type=Path, default=Path("out/bench"), help="folder of results")
    parser.add_argument("--keep", type=Path, help="keep the server's folder here, to look at it")
    given = parser.parse_args()
    home = given.keep or Path(tempfile.mkdtemp(prefix="tracecup-load-"))
    home.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))
    stand = Stand(home, given.database_url)
    try:
        told = measure(stand, given.users, given.days, given.teams)
    finally:
        stand.stop()
        if given.keep is None:
            shutil.rmtree(home, ignore_errors=True)
    told.write(
        given.out / "server.json",
        "server",
        "PostgreSQL" if given.database_url else "SQLite",
        f"python benchmarks/server_load.py --users {given.users} --days {given.days} "
        f"--teams {given.teams}",
    )


def measure(stand: Stand, users: int, days: int, teams: int) -> Told:
    told = Told()
    say = told.say
    ready = Ready.of(stand, users, days, teams, told)
    watch, players, files = ready.watch, ready.players, ready.files
    alone = check_alone(ready.originals, files, stand.home / "teams")
    say(
        Line("yardstick: all files checked in one process", alone.seconds, "s"),
        Line("  processor time", alone.cpu, "s"),
    )
    prober, page = ready.idle_pages(stand, PAGE_TARGET, told)

    watch.part, meter = "receipts", Meter(watch)
    receipts = post_all(stand, players, files)
    seen, used = prober.answers(), meter.used()
    last = Line("last receipt", receipts[-1], "s", RECEIPT_TARGET)
    say(
        Line("first receipt", receipts[0], "s"),
        last.beside("checking them in one process", alone.seconds),
        *used_lines(used),
        work_line(used, page * len(seen.all)).beside("checking them in one process", alone.cpu),
        *page_lines("while files come in", seen, PAGE_TARGET),
    )

    watch.part, meter = "judging", Meter(watch)
    stand.move_clock(8.1)
    stand.wait(lambda: all_scored(teams), 3600)
    seen, used = prober.answers(), meter.used()
    prober.stop()
    watch.stop()
    stand.stop()
    alone = judge_alone()
    scored = Line("judged, published, sample attacks scored", used.seconds, "s", SCORED_TARGET)
    say(
        Line("yardstick: shuffles and sample attacks in one process", alone.seconds, "s"),
        Line("  processor time", alone.cpu, "s"),
        scored.beside("the same in one process", alone.seconds),
        *used_lines(used),
        work_line(used, page * len(seen.all)).beside("the same in one process", alone.cpu),
        *page_lines("while the judge works", seen, PAGE_TARGET),
    )
    for part, one in watch.peaks.items():
        say(Line(f"  memory: {part}, shared pages once", one["pss"] / GIB, "GiB"))
    peak = {key: max(one[key] for one in watch.peaks.values()) / GIB for key in ("rss", "pss")}
    say(
        Line("memory of all processes, shared pages counted once", peak["pss"], "GiB"),
        Line("memory of all processes, resident sizes added", peak["rss"], "GiB", MEMORY_TARGET),
        Line("disk", disk_gib(stand.folder), "GiB"),
    )
    return told


def work_line(used: Used, pages: float) -> Line:
    return Line("  processor time without the pages", max(0.0, used.cpu - pages), "s")


if __name__ == "__main__":
    main()
