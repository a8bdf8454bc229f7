"""Without the extra `report`: who would draw says how to get it, before the work begins."""

from __future__ import annotations

import sys

import pytest

from tracecup.cli._contest_play import can_report
from tracecup.cli.main import run
from tracecup.errors import TraceCupError
from tracecup.report.figures import drawer


@pytest.fixture(autouse=True)
def no_drawer(monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)


def test_a_season_goes_on_without(capsys):
    assert not can_report()
    assert 'pip install "tracecup[report]"' in capsys.readouterr().err


def test_drawing_says_what_is_missing():
    with pytest.raises(TraceCupError, match=r"tracecup\[report\]"):
        drawer()


def test_an_audit_stops_before_it_begins(tmp_path, capsys):
    words = ["audit", "--raw", str(tmp_path / "gps.csv"), "--split", "2024-03-15"]
    assert run([*words, "--html", str(tmp_path / "audit.html")]) == 2
    assert "tracecup[report]" in capsys.readouterr().err
