"""The documentation runs: the Python blocks of every page, and every command that it shows.

On small files under the pages' names, with small numbers. What cannot run here is listed with the
reason; pages that take long are run by `make docs-check`.
"""

from __future__ import annotations

import re
import shutil
import sys

import pytest

import tracecup as tc
from docpages import PAGES, commands, make_gps, make_world, named, python_blocks, reasons
from tracecup import registry
from tracecup.cli.main import run
from tracecup.front import data, naming

SMALLER = (
    (r"--users 2000", "--users 12"),
    (r"--times 400", "--times 40"),
    (r"--teams (21|3|5)\b", "--teams 2"),
    (r"--users (200|300)", "--users 12"),
    (r"--days (20|4|10)\b", "--days 2"),
    (r"--seeds 1-\d+", "--seeds 1"),
    (r",KMeans\(100\),MyDefence\(3\)", ",RR(8)"),
    (r"KMeans\(100\)", "RR(8)"),
    (r"AggMIA\(100\)", "AggMIA(4)"),
    (r"^demo$", "demo --teams 2 --users 12 --days 2"),
    (r"^benchmark --demo", "benchmark --data osaka"),
    (r"--digest 3f0c\.\.\.", ""),
    (r"--engine processes", "--engine local"),
)
"""What makes the pages' commands small enough to be run by a test."""
ELSEWHERE = {
    r"client .*": "needs a contest server: tests/server/live/test_participant.py plays one",
    r"(serve|worker|backup|restore|import) .*": "runs a server: tests/server has them",
    r".*--engine dask://.*": "needs a scheduler on another machine: tests/test_jobs.py starts one",
    r".*(attack|defend) train .*": "needs JAX and minutes: tests/learn trains small ones",
    r".*model=(kmeans|defence)\.npz\.zst.*": "needs what the command before it trains",
    r"reproduce .+": "minutes to hours: tests/study has small ones",
    r"data gowalla .*": "needs Gowalla's file: tests/datasets has a made-up one",
    r".* nyc\.npz .*|.* nyc/.*": "needs what Gowalla's file becomes",
    r"standings .*": "needs score sheets: tests/cli/test_standings.py has them",
    r"evaluate synth .*TK\.csv.*": "needs the sheets of the paper: tests/cli/test_evaluate.py",
}
"""Commands that no page's test runs, by what they look like, and where they are tested."""
LONG = {
    "README.md",
    "docs/index.md",
    "docs/guide/audit.md",
    "docs/guide/benchmark.md",
    "docs/guide/contest.md",
    "docs/guide/methods.md",
    "docs/guide/report.md",
    "docs/guide/strength.md",
    "docs/guide/synthesizers.md",
    "docs/howto/audit-your-data.md",
    "docs/methods/unicity.md",
}
"""Pages that take more than a second or two: `make docs-check`."""
MARKED = {
    "docs/guide/datasets.md",
    "docs/guide/server-people.md",
    "docs/howto/many-machines.md",
}
"""Pages with Python blocks that say why they are not run (`<!-- not run: ... -->`)."""


PLUGINS = ("mine", "my_attack", "tracecup_plugin_mine", "tracecup_plugin_my_attack")
"""Modules that `--plugin` and `check` make of the world's files."""


def marked(page):
    slow = [pytest.mark.slow] if named(page) in LONG else []
    return pytest.param(page, id=named(page), marks=slow)


def elsewhere(line: str) -> str:
    """Why a command is not run here; "" if it is."""
    return next((why for form, why in ELSEWHERE.items() if re.fullmatch(form, line)), "")


WITH_PYTHON = [page for page in PAGES if python_blocks(page)]
WITH_COMMANDS = [
    page for page in PAGES if any(not elsewhere(" ".join(words)) for words in commands(page))
]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    make_world(folder)
    return folder


@pytest.fixture(autouse=True)
def forgetful():
    """What a page registers is gone after it: pages define the same methods."""
    kept = {kind: dict(known) for kind, known in registry._methods.items()}
    yield
    for kind, known in kept.items():
        registry._methods[kind].clear()
        registry._methods[kind].update(known)
    for name in PLUGINS:
        sys.modules.pop(name, None)


@pytest.fixture
def here(world, tmp_path, monkeypatch, request):
    """A copy of the world to work in, with the demo made small."""
    made = data.load_demo

    def few(days: int = 20, seed: int = 1, *, users: int = 300) -> tc.Data:
        return made(days=2, seed=seed, users=10)

    monkeypatch.setattr(tc, "load_demo", few)
    monkeypatch.setattr(naming, "usual_defences", lambda users: ("None", "RR(8)"))
    folder = tmp_path / "world"
    shutil.copytree(world, folder)
    if "audit" in request.node.name:
        make_gps(folder)
    monkeypatch.chdir(folder)
    if "guide/report" in request.node.name:
        small = ["--teams", "2", "--users", "12", "--days", "2"]
        assert run(["contest", "simulate", "--out", "my-contest", *small]) == 0
    return folder


@pytest.mark.parametrize("page", [marked(page) for page in WITH_PYTHON])
def test_python_blocks(page, here, capsys):
    space: dict[str, object] = {"__name__": "__main__"}
    for k, block in enumerate(python_blocks(page)):
        exec(compile(block, f"{named(page)}, block {k + 1}", "exec"), space)


@pytest.mark.parametrize("page", [marked(page) for page in WITH_COMMANDS])
def test_commands(page, here, capsys):
    for words in commands(page):
        line = " ".join(words)
        if elsewhere(line):
            continue
        small = [re.sub(r"\s+$", "", word) for word in smaller(words)]
        code = run(small)
        read = capsys.readouterr()
        assert code in (0, 1), (line, read.err)
        assert "error:" not in read.err, (line, read.err)


def smaller(words: list[str]) -> list[str]:
    """The command with small numbers; names with blanks stay whole."""
    line = "\0".join(words)
    for form, put in SMALLER:
        line = re.sub(form.replace(" ", "\0"), put.replace(" ", "\0"), line)
    return [word for word in line.split("\0") if word]


class TestLists:
    def test_every_reason_is_needed(self):
        lines = [" ".join(words) for page in PAGES for words in commands(page)]
        for form in ELSEWHERE:
            assert any(re.fullmatch(form, line) for line in lines), form

    def test_every_page_that_is_called_long_is_there(self):
        assert {named(page) for page in PAGES} >= LONG

    def test_blocks_that_are_not_run_say_why(self):
        said = {named(page): reasons(page) for page in PAGES if reasons(page)}
        assert set(said) == set(MARKED)
        assert all(len(why) > 15 for whys in said.values() for why in whys)
