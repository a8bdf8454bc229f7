"""Files that another commit made, read by this one: an archive and a server's backup.

`python benchmarks/older.py [--commit 9707cf4] [--tree FOLDER]`

The other commit simulates a season, plays a contest with bots on a server and makes a backup.
This tree verifies the archive (folder and zip), restores the backup, and must show the same
results and hold the same rows and files. Prints what it found; exits with 1 where something
differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import zstandard

from against import HERE, checkout

PLAY = """
import time
from pathlib import Path
from tracecup.server.start import set_up
set_up(Path({folder!r}))
from tracecup.server.access import Actor
from tracecup.server.jobs.worker import drain
from tracecup.server.models import Job, Person
try:
    from tracecup.server.organising.contests import create_contest
    from tracecup.server.organising.rehearsal import rehearse
except ImportError:
    from tracecup.server.services.contests import create_contest
    from tracecup.server.services.rehearsal import rehearse
olga = Person.objects.create_user("olga", "olga@example.org", "correct horse battery")
olga.is_staff = True
olga.save()
actor = Actor(olga, "system")
contest = create_contest(actor, name="Autumn", slug="autumn", is_public=True)
made = rehearse(contest, actor, teams=3, users=20)
job = Job.objects.get(kind="rehearse")
for _ in range(400):
    drain()
    job.refresh_from_db()
    if job.state not in ("waiting", "running"):
        break
    time.sleep(0.1)
assert job.state == "done", (job.state, job.error)
print(made.slug)
"""
LOOK = """
import hashlib
import json
from pathlib import Path
from tracecup.server.start import set_up
set_up(Path({folder!r}))
from django.test import Client
from tracecup.server.models import Person
client = Client()
client.force_login(Person.objects.get(username="olga"))
for name in ("cells", "releases", "awards", "sums"):
    path = "/c/{slug}/results/" + name + ".csv"
    answer = client.get(path, headers={{"host": "localhost"}})
    body = b"".join(answer) if answer.streaming else answer.content
    assert answer.status_code == 200, (path, answer.status_code)
    print(name, hashlib.sha256(body).hexdigest()[:16])
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commit", default="9707cf4", help="who makes the files")
    parser.add_argument("--tree", type=Path, help="a checkout of the commit, if there is one")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        here = Path(scratch)
        before = given.tree or checkout(given.commit, here / "tree")
        same = [archive(before, here), *backup(before, here)]
    sys.exit(0 if all(same) else 1)


def archive(before: Path, here: Path) -> bool:
    """A season that the other commit simulated, verified here."""
    words = ["contest", "simulate", "--teams", "4", "--users", "40", "--days", "2", "--no-report"]
    run(before, [*words, "--out", str(here / "season")])
    equal = True
    for name in ("season", "season.zip"):
        said = run(HERE.parent, ["contest", "verify", str(here / name), "--json"])
        told = json.loads(said.splitlines()[-1])
        print(f"{name}: equal {told['equal']}, differences {told['differences']}", flush=True)
        equal = equal and bool(told["equal"])
    return equal


def backup(before: Path, here: Path) -> list[bool]:
    """A backup that the other commit made, restored and made again here."""
    old, new = here / "old", here / "new"
    slug = python(before, old, PLAY.format(folder=str(old))).splitlines()[-1]
    first, second = here / "one.tar.zst", here / "two.tar.zst"
    run(before, ["backup", str(old), "--out", str(first)], old)
    run(HERE.parent, ["restore", str(first), str(new)], new)
    run(HERE.parent, ["backup", str(new), "--out", str(second)], new)
    shown = [
        python(tree, folder, LOOK.format(folder=str(folder), slug=slug))
        for tree, folder in ((before, old), (HERE.parent, new))
    ]
    print("results of the old server and of the new one:", *shown, sep="\n", end="")
    (files, rows), (files_now, rows_now) = content(first), content(second)
    kept = sum(files_now.get(name) == digest for name, digest in files.items())
    print(f"files of the backup: {len(files)}, of which the same here {kept}")
    # Columns that came since are this commit's own.
    same = sum(now is not None and row.items() <= now.items() for row, now in both(rows, rows_now))
    print(f"rows of the backup: {len(rows)}, of which the same here {same}")
    return [shown[0] == shown[1], kept == len(files), same == len(rows)]


Rows = dict[tuple[str, str], dict[str, str]]


def both(rows: Rows, now: Rows) -> list[tuple[dict[str, str], dict[str, str] | None]]:
    return [(row, now.get(key)) for key, row in rows.items()]


def content(path: Path) -> tuple[dict[str, str], Rows]:
    """SHA-256 of every file in a backup, and its rows by model and key."""
    files: dict[str, str] = {}
    rows: Rows = {}
    with (
        path.open("rb") as raw,
        zstandard.ZstdDecompressor().stream_reader(raw) as plain,
        tarfile.open(fileobj=plain, mode="r|") as tar,
    ):
        for member in tar:
            file = tar.extractfile(member)
            if file is None or member.name == "backup.json":
                continue
            held = file.read()
            if member.name != "rows.jsonl":
                files[member.name] = hashlib.sha256(held).hexdigest()
                continue
            for line in held.splitlines():
                row = json.loads(line)
                fields = {name: json.dumps(value) for name, value in row["fields"].items()}
                rows[row["model"], str(row["pk"])] = fields
    return files, rows


def run(tree: Path, words: list[str], folder: Path | None = None) -> str:
    return call(tree, ["-m", "tracecup", *words], folder)


def python(tree: Path, folder: Path, code: str) -> str:
    return call(tree, ["-c", code], folder)


def call(tree: Path, words: list[str], folder: Path | None) -> str:
    """Run Python on a tree's package, for the server in `folder`; what it prints."""
    env = {**os.environ, "PYTHONPATH": str(tree / "src")}
    if folder is not None:
        settings = "tracecup.server.settings"
        env |= {"TRACECUP_SERVER_DIR": str(folder), "DJANGO_SETTINGS_MODULE": settings}
    done = subprocess.run(
        [sys.executable, *words], env=env, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)[:200]}\n{done.stderr[-3000:]}")
    return done.stdout


if __name__ == "__main__":
    main()
