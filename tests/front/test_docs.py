"""The documentation: every command it shows exists with its options (test_docs_run runs them)."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

from docpages import PAGES, ROOT, python_blocks
from tracecup.cli.main import app

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


def test_the_walk_is_short():
    walk = python_blocks(ROOT / "docs" / "guide" / "python.md")[0]
    assert len([line for line in walk.splitlines() if line.strip()]) <= 15
