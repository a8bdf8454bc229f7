"""Progress in a pipe: nothing, or a line every so many seconds where that is asked for."""

from __future__ import annotations

import pytest

from tracecup.cli import _progress
from tracecup.cli._contest_play import stages_shown
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


class Seconds:
    """A clock that stands still until it is told otherwise."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Seconds:
    clock = Seconds()
    monkeypatch.setattr(_progress, "time", clock)
    monkeypatch.setenv(PROGRESS_VARIABLE, "0")
    return clock


def test_time_left_by_the_pace_of_this_run(capsys, clock):
    with progress("going on") as advance:
        advance(50, 100)  # done before an interruption
        for clock.now, done in ((10.0, 60), (400.0, 61), (800.0, 62)):
            advance(done, 100)
    assert capsys.readouterr().err.splitlines() == [
        "going on: 50% after 0 s",
        "going on: 60% after 10 s, about 40 s left",
        "going on: 61% after 400 s, about 24 min left",
        "going on: 62% after 800 s, about 42 min left",
    ]


def test_stages_of_a_season_tell_too(capsys, clock):
    with stages_shown() as stage:
        stage("data", 0, 2)
        clock.now = 6.0
        stage("data", 1, 2)
        stage("attacks", 0, 1)  # how many is not known yet
        stage("attacks", 6, 9)  # some were done before
        clock.now = 8.0
        stage("attacks", 7, 9)
    assert capsys.readouterr().err.splitlines() == [
        "data: 0% after 0 s",
        "data: 50% after 6 s, about 6 s left",
        "attacks: 0% after 6 s",
        "attacks: 67% after 6 s",
        "attacks: 78% after 8 s, about 4 s left",
    ]
