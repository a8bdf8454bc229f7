"""`make bench-flood`: how long another team's upload takes while seven hostile files wait.

One server on SQLite (`--database-url` for PostgreSQL). Team 2 hands in its release, alone and while
seven connections of team 1 send one hostile file after another: a million empty zstd frames, or a
small file that unpacks to a huge table of cells. What counts: the ratio of the medians, at most 3.
"""

from __future__ import annotations

import argparse
import http
import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import zstandard

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

# A script's neighbours need the path above, so this cannot stand at the top.
from serverstand import SLUG, Player, Stand, prepare, releases  # noqa: E402 - needs the path

HOSTILE, UPLOADS, MOST = 7, 3, 3.0
EMPTY_FRAME = zstandard.ZstdCompressor(write_content_size=True).compress(b"")
FRAMES = 1_000_000
CELLS = 200_000
"""Lines of the packed table, each with as many regions as the city has: 900 MB of text."""


def main() -> int:
    """Measure; 1 where a ratio is above what is promised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=300)
    parser.add_argument("--days", type=int, default=5)
    parser.add_argument("--database-url", default="", help="PostgreSQL instead of SQLite")
    given = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="tracecup-flood-"))
    load = os.getloadavg()[0]
    stand = Stand(home, given.database_url)
    try:
        ratios = measure(stand, given.users, given.days)
    finally:
        stand.stop()
        shutil.rmtree(home, ignore_errors=True)
    print(f"load of the machine before: {load:.1f}")
    return int(max(ratios) > MOST)


def measure(stand: Stand, users: int, days: int) -> list[float]:
    """The ratio for each kind of hostile file."""
    from tracecup.server.models import Job

    players, _ = prepare(users, days, 2)
    stand.start()
    stand.wait(lambda: not Job.objects.exclude(state="done").exists(), 600)
    local = stand.home / "teams"
    local.mkdir()
    _, files = releases(stand, players, local)
    hostile, innocent = players
    quiet = [upload(stand, innocent, files[1]) for _ in range(UPLOADS)]
    print(f"{'quiet':<34} {statistics.median(quiet):8.2f} s")
    ratios = []
    for name, file in hostile_files(local).items():
        with flood(stand, hostile, file) as sent:
            stand.wait(lambda sent=sent: len(sent) >= 1, 120)
            busy = [upload(stand, innocent, files[1]) for _ in range(UPLOADS)]
        ratios.append(statistics.median(busy) / statistics.median(quiet))
        kept = "kept" if ratios[-1] <= MOST else "MISSED"
        print(
            f"{name:<34} {statistics.median(busy):8.2f} s  {ratios[-1]:6.2f} x quiet  "
            f"target {MOST:g} {kept}  ({HOSTILE} waiting, {len(sent)} answered)",
            flush=True,
        )
    return ratios


def hostile_files(folder: Path) -> dict[str, Path]:
    """Small files that cost much to read, by what they are."""
    frames, table = folder / "frames.csv.zst", folder / "table.csv.zst"
    frames.write_bytes(EMPTY_FRAME * FRAMES)
    line = (" ".join(str(k) for k in range(1, 1025)) + "\n").encode()
    packer = zstandard.ZstdCompressor()
    with table.open("wb") as file, packer.stream_writer(file, closefd=False) as out:
        out.write(b"reg_id\n")
        for _ in range(CELLS):
            out.write(line)
    return {"a million empty frames": frames, "a packed table of cells": table}


@contextmanager
def flood(stand: Stand, player: Player, file: Path) -> Iterator[list[int]]:
    """Seven connections that send a file again and again; the answers they got."""
    over, answers = threading.Event(), list[int]()

    def send() -> None:
        while not over.is_set():
            answers.append(put(stand, player, file))
            if answers[-1] == http.HTTPStatus.TOO_MANY_REQUESTS:
                time.sleep(0.1)  # as fast as anybody could, without a busy loop

    crew = [threading.Thread(target=send) for _ in range(HOSTILE)]
    for one in crew:
        one.start()
    try:
        yield answers
    finally:
        over.set()
        for one in crew:
            one.join()


def upload(stand: Stand, player: Player, file: Path) -> float:
    """Seconds until a release is accepted."""
    begun = time.perf_counter()
    status = put(stand, player, file)
    if status != http.HTTPStatus.CREATED:
        sys.exit(f"the release was not accepted: {status}")
    return time.perf_counter() - begun


def put(stand: Stand, player: Player, file: Path) -> int:
    """Hand in a release of a team; the status of the answer."""
    packed = "".join(file.suffixes[1:])
    name = f"anotraces_team{player.number:03d}_data02_TRP.csv{packed}"
    address = f"/api/v1/contests/{SLUG}/uploads/{urllib.parse.quote(name)}"
    return stand.put(address, player.token, file)[0]


if __name__ == "__main__":
    sys.exit(main())
