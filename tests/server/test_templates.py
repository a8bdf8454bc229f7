"""How templates are written: one element a line where it can be, no line too long to read."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.template.loader import get_template

from tracecup import server

HERE = Path(server.__file__).parent
TEMPLATES = sorted(HERE.glob("*/templates/**/*.html"))
LONGEST = 190


def name_of(path: Path) -> str:
    return str(path.relative_to(HERE))


@pytest.mark.parametrize("path", TEMPLATES, ids=name_of)
class TestWritten:
    def test_lines_can_be_read(self, path):
        lines = path.read_text("utf-8").splitlines()
        assert [line for line in lines if len(line) > LONGEST] == []
        assert [line for line in lines if line != line.rstrip() or "\t" in line] == []

    def test_it_can_be_compiled(self, path):
        folder = next(one for one in path.parents if one.name == "templates")
        get_template(str(path.relative_to(folder)))


def test_there_are_some():
    assert len(TEMPLATES) > 50
