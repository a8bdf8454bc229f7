"""Pages of the documentation as programs: their Python blocks and commands, and files to run on.

`make_world` writes small files under the names that the pages use.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path

import tracecup as tc
from tracecup.contest.judging.shuffle import pseudonymize
from tracecup.obfuscate import parse_obfuscator
from tracecup.traces.files import (
    write_id_table,
    write_obfuscated,
    write_released,
    write_traces,
)

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
USERS, DAYS = 12, 2
TEAMS = ("001", "002", "003")
NOT_RUN = re.compile(r"<!-- not run: ([^\n]+?) -->\s*\Z")
BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```|^(?:    [^\n]*\n)+", re.S | re.M)
COMMAND = re.compile(r"^\s*(?:\w*\$ )?(tracecup (?!gives|runs|commitment).+)$")


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def python_blocks(page: Path) -> list[str]:
    """The Python blocks of a page that are not marked as impossible to run."""
    text, found = page.read_text(), []
    for block in BLOCK.finditer(text):
        if block[1] == "python" and not NOT_RUN.search(text[: block.start()]):
            found.append(block[2])
    return found


def reasons(page: Path) -> list[str]:
    """Why blocks of a page are not run, as the page says it."""
    return re.findall(r"<!-- not run: ([^\n]+?) -->", page.read_text())


def commands(page: Path) -> list[list[str]]:
    """The commands in the blocks of a page, in their order, as words."""
    text, found = page.read_text(), []
    for block in BLOCK.finditer(text):
        if block[1] not in (None, "", "console", "sh") or NOT_RUN.search(text[: block.start()]):
            continue
        joined = re.sub(r"\\\n\s*", " ", block[0])
        for line in joined.splitlines():
            if said := COMMAND.match(line):
                found.append(shlex.split(said[1], comments=True)[1:])
    return found


def make_world(folder: Path) -> None:
    """Contest files of three teams, raw data, methods of one's own, sheets."""
    data = tc.load_demo(days=DAYS, users=USERS, seed=1)
    data.save(folder)
    cells = parse_obfuscator("MRLH(1,1,0)").obfuscate(data.city, data.original, 1)
    released, table = pseudonymize(cells, 1)
    ends = ["", *(f"_team{k}_data02_TRP" for k in TEAMS), *(f"_team{k}" for k in TEAMS)]
    for suffix in (".csv", ".csv.gz", ".csv.zst"):
        for end in ends:
            write_traces(folder / f"reftraces{end}{suffix}", data.reference)
            write_traces(folder / f"orgtraces{end}{suffix}", data.original)
            write_released(folder / f"pubtraces{end}{suffix}", released)
    write_obfuscated(folder / "anotraces.csv", cells)
    write_id_table(folder / "ptable.csv", table)
    for name in ("osaka", "mycity", "samples", "mydata"):
        (folder / name).mkdir()
        for file in ("info_region.csv", "info_time.csv", "reftraces.csv", "orgtraces.csv"):
            shutil.copy(folder / file, folder / name / file.replace("traces.", "traces_001."))
        shutil.copy(folder / "pubtraces.csv", folder / name / "pubtraces_001.csv")
        shutil.copy(folder / "ptable.csv", folder / name / "ptable_001.csv")
    (folder / "examples").mkdir()
    for file in (ROOT / "examples").glob("*.py"):
        shutil.copy(file, folder / "examples")
    guide = ROOT / "docs" / "guide" / "python.md"
    (folder / "mine.py").write_text(python_blocks(guide)[0])


def make_gps(folder: Path) -> None:
    """A raw table and its two months, as the pages on audits have them."""
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        import make_gps_table
    finally:
        sys.path.pop(0)
    make_gps_table.write_table(folder / "gps.csv", people=12, days=28)
    head, *lines = (folder / "gps.csv").read_text().splitlines()
    parts = {"march.csv": "2024-03-0", "april.csv": "2024-03-1", "april-true.csv": "2024-03-1"}
    for name, begins in parts.items():
        kept = [line for line in lines if f",{begins}" in line]
        (folder / name).write_text("\n".join([head, *kept]) + "\n")
