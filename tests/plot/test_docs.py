"""The page in the documentation: its pictures are there, small, and none is left over."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tracecup.study.reproduce import studies

FOLDER = Path(__file__).parents[2] / "docs" / "paper"
SHOWN = sorted(set(re.findall(r"\((pictures/[^)]+)\)", (FOLDER / "index.md").read_text())))


class TestNumbers:
    def test_has_every_study(self):
        text = (FOLDER / "numbers.md").read_text()
        found = re.findall(r"^## (\w+):", text, re.M)
        assert found == list(studies())


class TestPictures:
    @pytest.mark.parametrize("name", SHOWN)
    def test_is_there_and_small(self, name):
        assert 0 < (FOLDER / name).stat().st_size < 100_000

    def test_none_is_left_over_and_all_are_small_together(self):
        held = {f"pictures/{path.name}" for path in (FOLDER / "pictures").iterdir()}
        assert held == set(SHOWN)
        assert sum((FOLDER / name).stat().st_size for name in held) < 2_000_000
