"""`tracecup methods`: every method is listed, explained, documented; broken plug-ins are named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tracecup.cli.main import run
from tracecup.cli.methods import signature
from tracecup.registry import KINDS, methods, parse

NAMES = [name for kind in KINDS for name in sorted(methods(kind))]
GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "methods.md"


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert run(["methods", *arguments, "--json"]) == 0
    listed: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["methods"]
    return listed


class TestMethods:
    def test_lists_all(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert [row["name"] for row in told(capsys)] == NAMES

    @pytest.mark.parametrize("kind", KINDS)
    def test_lists_a_kind(self, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
        listed = told(capsys, kind.upper())
        assert {row["kind"] for row in listed} == {kind}
        assert all(parse(row["kind"], row["written"]) for row in listed)

    def test_one_method_with_its_parameters(self, capsys: pytest.CaptureFixture[str]) -> None:
        (row,) = told(capsys, "pl(4,1)")
        assert row["written"] == "PL(4,1)"
        assert row["guarantee"] == (
            "4-geo-indistinguishable per km, per event; 400 events compose to 1600"
        )
        assert "Geo-Indistinguishability" in row["citation"]
        assert row["parameters"][0] == {
            "name": "l",
            "value": 4.0,
            "default": 0.1,
            "meaning": "privacy level within r km",
            "allowed": "a number >= 1e-09 and <= 1000000000",
            "positional": True,
        }

    def test_events_are_for_the_guarantee(self, capsys: pytest.CaptureFixture[str]) -> None:
        (row,) = told(capsys, "RR(2)", "--events", "40")
        assert row["guarantee"].endswith("40 events compose to 80")

    def test_overview_for_people(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["methods"]) == 0
        text = capsys.readouterr().out
        assert all(f"{name}:" in text or f"{name}(" in text for name in NAMES)
        assert "MRLH(mu_x=2,mu_y=2,lambda=0.5,...)" in text

    def test_details_for_people(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["methods", "KMeans(7)"]) == 0
        text = " ".join(capsys.readouterr().out.split())
        assert "k=7: number of clusters; a whole number >= 1" in text
        assert "Designing a Location Trace Anonymization Contest" in text

    @pytest.mark.parametrize(
        ("what", "message"),
        [
            ("VisitProbR", "did you mean VisitProb-R?"),
            ("synthesiser", "did you mean synthesizer?"),
            ("PL(-1)", "PL.l must be a number >= 1e-09"),
            ("(((", "a method is written Name"),
        ],
    )
    def test_wrong_words_are_wrong_use(
        self, what: str, message: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(["methods", what, "--json"]) == 2
        assert message in json.loads(capsys.readouterr().out)["error"]


class TestSignature:
    def test_names_and_values(self) -> None:
        assert signature(parse("obfuscator", "Cheat(0.3)")) == "Cheat(p=0.3,...)"
        assert signature(parse("reid", "Random-R")) == "Random-R(...)"


class TestGuide:
    @pytest.mark.parametrize("name", NAMES)
    def test_names_every_method(self, name: str) -> None:
        assert f"`{name}`" in GUIDE.read_text() or f"`{name}(" in GUIDE.read_text()


PLUGIN = """
from dataclasses import dataclass
from tracecup.attack import ReidAttack
from tracecup.registry import register

@register("reid", "Installed-R", "from another package")
@dataclass(frozen=True)
class Installed(ReidAttack):
    pass
"""


class TestPlugins:
    def test_good_ones_are_listed_and_broken_ones_are_named(self, tmp_path: Path) -> None:
        info = tmp_path / "plug-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plug\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(
            "[tracecup.attacks]\nbroken = no_such_plugin:Attack\ngood = plug_installed:Installed\n"
        )
        (tmp_path / "plug_installed.py").write_text(PLUGIN)
        done = subprocess.run(
            [sys.executable, "-m", "tracecup", "methods", "reid", "--json"],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert done.returncode == 0, done.stderr
        assert "plug-in broken = no_such_plugin:Attack" in done.stderr
        assert "No module named 'no_such_plugin'" in done.stderr
        names = [row["name"] for row in json.loads(done.stdout)["methods"]]
        assert {"Installed-R", "VisitProb-R"} <= set(names)
