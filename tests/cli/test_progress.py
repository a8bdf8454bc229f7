"""Progress in a pipe: nothing, or a line every so many seconds where that is asked for."""

from __future__ import annotations

import pytest

from tracecup.cli._progress import PROGRESS_VARIABLE, progress
from tracecup.errors import InvalidParameter


def said(capsys) -> str:
    with progress("working") as advance:
        advance(0, 0)
        advance(1, 4)
    return capsys.readouterr().err


def test_nothing_by_itself(capsys, monkeypatch):
    monkeypatch.delenv(PROGRESS_VARIABLE, raising=False)
    assert said(capsys) == ""


def test_lines_where_they_are_asked_for(capsys, monkeypatch):
    monkeypatch.setenv(PROGRESS_VARIABLE, "0")
    assert said(capsys) == "working: begun after 0 s\nworking: 25% after 0 s\n"
    monkeypatch.setenv(PROGRESS_VARIABLE, "3600")
    assert said(capsys) == ""


def test_nonsense(monkeypatch):
    monkeypatch.setenv(PROGRESS_VARIABLE, "often")
    with pytest.raises(InvalidParameter, match="number of seconds"), progress("working"):
        pass
