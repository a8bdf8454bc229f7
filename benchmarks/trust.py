"""Can the server be trusted? The role table, canaries, kills and fuzzing, on both databases.

Runs the tests that attack a server and the mutated files, and prints how much was done: requests,
kills, secrets looked for, files. Ends with 1 where anything failed. `make trust` takes an hour on
two cores; `--quick` leaves out the kills and makes fewer files.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parents[1]
SERVER = HERE / "tests" / "server"
FINDINGS = (
    "organising/test_endings.py",
    "organising/test_takeback.py",
    "organising/test_true.py",
    "test_clockwatch.py",
    "people/test_one_team.py",
    "teams/test_teams.py",
    "jobs/test_rotten_blobs.py",
    "jobs/test_remote.py",
    "submissions/test_hostile_files.py",
    "web/test_receiving.py",
    "web/test_door.py",
)
"""Tests of what once went wrong: times, clocks, floods, registration, blobs, workers, files."""
ATTACKED = ("roles", "test_schemathesis.py", "web/test_security.py", "live/test_on_postgresql.py")
KILLED = ("live/test_kill.py", "live/test_killed_uploads.py", "live/test_hostile.py")
ELSEWHERE = (
    "../contest/judging/test_shuffle.py",
    "../test_frames.py",
    "../test_parquetfiles.py",
)
QUICK_FILES = "1000"


def main() -> int:
    """Run all of it; the exit code."""
    quick = "--quick" in sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="tracecup-trust-") as folder:
        counts = Path(folder) / "tally.jsonl"
        counts.touch()
        env = {**os.environ, "TRACECUP_TALLY": str(counts)}
        parts: dict[str, list[str]] = {"roles, canaries, requests": _tests(ATTACKED)}
        if not quick:
            parts["kills, hostile clients"] = _tests(KILLED)
        parts["findings"] = _tests((*FINDINGS, *ELSEWHERE))
        fewer = ["--files", QUICK_FILES] if quick else []
        parts["mutated files"] = [sys.executable, "benchmarks/fuzz_files.py", *fewer]
        ends = {}
        for name, command in parts.items():
            ends[name] = _run(name, command, env)
            # After every part, so that a run that is stopped has told what it did.
            print(_table(counts), flush=True)
    for name, code in ends.items():
        print(f"{name:<28} {'all right' if code == 0 else f'FAILED ({code})'}")
    return max(ends.values())


def _tests(files: tuple[str, ...]) -> list[str]:
    """The command that runs tests."""
    paths = [str((SERVER / one).resolve()) for one in files]
    return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *paths]


def _run(name: str, command: list[str], env: dict[str, str]) -> int:
    print(f"== {name}", flush=True)
    began = time.monotonic()
    done = subprocess.run(command, cwd=HERE, env=env, check=False)
    print(f"== {name}: {time.monotonic() - began:.0f} s", flush=True)
    return done.returncode


def _table(counts: Path) -> str:
    """What was counted: a line for each thing, a column for each database."""
    held: dict[str, Counter[str]] = {}
    for line in counts.read_text("utf-8").splitlines():
        one = json.loads(line)
        held.setdefault(one["what"], Counter())[one["on"]] += one["count"]
    bases = ("SQLite", "PostgreSQL")
    rows = [f"{'':<44}{bases[0]:>12}{bases[1]:>12}"]
    rows += [
        f"{what:<44}" + "".join(f"{found[base]:>12,}" for base in bases)
        for what, found in sorted(held.items())
    ]
    return "\n".join(rows)


if __name__ == "__main__":
    sys.exit(main())
