"""Lines of Python by room, of a commit and of this tree: what stayed, what went, what came.

`python benchmarks/rooms.py [--commit 9707cf4]` prints the table of `docs/decisions`. A function or
class of a module is *in both* if its room had one of that name before, or if it is the only one of
that name anywhere on both sides; imports, constants and the modules' own docstrings are in none.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = "src/tracecup/"
ROOMS = {
    "attack, device": ("attack", "device"),
    "obfuscate": ("obfuscate",),
    "learn": ("learn",),
    "synth": ("synth",),
    "datasets, records, usefulness": ("datasets", "records", "usefulness"),
    "contest": ("contest",),
    "study": ("study",),
    "report, facts, charts": ("report", "facts", "charts"),
    "plot": ("plot",),
    "server": ("server",),
    "front": ("front",),
    "client, cli, checks": ("client", "cli", "checks"),
    "city, traces, score, top level": ("city", "traces", "score", ""),
    "risk": ("risk",),
}
Unit = tuple[str, str]
"""A row of the table and the name of a function or class."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commit", default="9707cf4", help="the commit to compare with")
    given = parser.parse_args()
    before, now = measured(files_of(given.commit)), measured(files_here())
    print("| room | before | now | in both: before | now | gone | new |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    columns = [before[0], now[0], *compared(before[1], now[1])]
    for room in ROOMS:
        print(f"| {room} | " + " | ".join(f"{column[room]:,}" for column in columns) + " |")
    print("| all | " + " | ".join(f"{sum(column.values()):,}" for column in columns) + " |")


def files_here() -> Iterator[tuple[str, str]]:
    """Paths and texts of this tree's modules."""
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")


def files_of(commit: str) -> Iterator[tuple[str, str]]:
    """The same of a commit."""
    for path in git("ls-tree", "-r", "--name-only", commit, PACKAGE).splitlines():
        if path.endswith(".py"):
            yield path, git("show", f"{commit}:{path}")


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout


def measured(files: Iterator[tuple[str, str]]) -> tuple[Counter[str], Counter[Unit]]:
    """Lines by room, and lines of functions and classes."""
    row_of = {part: room for room, parts in ROOMS.items() for part in parts}
    lines, units = Counter[str](), Counter[Unit]()
    for path, text in files:
        inside = path.removeprefix(PACKAGE)
        room = row_of[inside.partition("/")[0] if "/" in inside else ""]
        lines[room] += len(text.splitlines())
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                units[room, node.name] += (node.end_lineno or first) - first + 1
    return lines, units


def compared(before: Counter[Unit], now: Counter[Unit]) -> list[Counter[str]]:
    """By room: lines before and now of what is in both, of what is gone, of what is new."""
    places = [rooms_by_name(side) for side in (before, now)]
    moved = {
        name
        for name in places[0].keys() & places[1].keys()
        if len(places[0][name]) == len(places[1][name]) == 1
    }
    kept = [Counter[str](), Counter[str]()]
    other = [Counter[str](), Counter[str]()]
    for side, units in enumerate((before, now)):
        twin = (now, before)[side]
        for (room, name), count in units.items():
            stays = (room, name) in twin or name in moved
            (kept if stays else other)[side][room] += count
    return [*kept, *other]


def rooms_by_name(units: Counter[Unit]) -> dict[str, list[str]]:
    """Where functions and classes of a name are."""
    found = defaultdict(list)
    for room, name in units:
        found[name].append(room)
    return found


if __name__ == "__main__":
    main()
