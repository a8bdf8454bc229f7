"""The documentation: its Python blocks run, and every command it shows exists with its options."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

import tracecup as tc
from tracecup.cli.main import app
from tracecup.front import data, naming

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
WHOLE = typer.main.get_command(app)
VERBS = "|".join(sorted(WHOLE.commands))
FIRST_LINE = "tracecup commitment "
"""The first line of a commitment is no command."""
SHOWN = re.compile(
    rf"`(tracecup [^`\n]+)`|^\s*\$ (tracecup [^`]+?)$|^\s*(tracecup (?:{VERBS}) [^`]+?)$", re.M
)


def commands(page: Path) -> list[str]:
    """What a page says to type, lines that go on joined."""
    text = re.sub(r"\\\n\s*", " ", page.read_text())
    found = ["".join(one) for one in SHOWN.findall(text)]
    return [one for one in found if not one.startswith(FIRST_LINE)]


def wrong_with(line: str) -> str:
    """What is wrong with a command; "" for nothing."""
    try:
        words = shlex.split(line.split("  #", maxsplit=1)[0], comments=True)[1:]
    except ValueError:
        return ""
    command, path = WHOLE, ["tracecup"]
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        if words[0] not in command.commands:
            named = re.fullmatch(r"[a-z][a-z0-9-]*", words[0])
            return f"no command {words[0]}" if named else ""
        command = command.commands[words[0]]
        path.append(words.pop(0))
    known = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    known |= {"--help"}
    unknown = [word.split("=")[0] for word in words if re.match(r"--[a-z]", word)]
    return ", ".join(f"{' '.join(path)} has no {word}" for word in unknown if word not in known)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_exist_with_their_options(page):
    bad = {line: wrong_with(line) for line in commands(page)}
    assert {line: said for line, said in bad.items() if said} == {}


def test_the_check_itself_finds_mistakes():
    assert wrong_with("tracecup benchmrk --data x") == "no command benchmrk"
    assert wrong_with("tracecup benchmark --nothing x") == "tracecup benchmark has no --nothing"
    assert wrong_with("tracecup attack reid X --seed 1") == ""


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)


class TestBlocks:
    @pytest.fixture(autouse=True)
    def small(self, monkeypatch, tmp_path):
        """The demo with few users and days, in a folder of its own."""
        made = data.load_demo

        def few(days: int = 20, seed: int = 1, *, users: int = 300) -> tc.Data:
            return made(days=2, seed=seed, users=10)

        monkeypatch.setattr(tc, "load_demo", few)
        monkeypatch.setattr(naming, "DEFENCES", ("None", "RR(8)"))
        monkeypatch.chdir(tmp_path)

    @pytest.mark.parametrize("page", ["README.md", "docs/guide/python.md"])
    def test_run(self, page, capsys, tmp_path):
        for block in blocks(page):
            exec(compile(block, page, "exec"), {"__name__": "__main__"})
        assert capsys.readouterr().out
        assert list(tmp_path.glob("*.png"))

    def test_the_walk_is_short(self):
        lines = [line for line in blocks("docs/guide/python.md")[0].splitlines() if line.strip()]
        assert len(lines) <= 15
