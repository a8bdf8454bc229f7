"""The notebooks of `examples/`: every code cell runs, in order, and their own checks hold."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def cells(path: Path, kind: str) -> list[str]:
    held = json.loads(path.read_text())
    return ["".join(cell["source"]) for cell in held["cells"] if cell["cell_type"] == kind]


def test_one_for_every_kind_of_reader():
    assert len(NOTEBOOKS) == 8


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
class TestNotebook:
    def test_runs(self, path, tmp_path, monkeypatch):
        shutil.copy(EXAMPLES / "make_gps_table.py", tmp_path)
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(str(tmp_path))
        space: dict[str, object] = {"__name__": "__main__"}
        for k, code in enumerate(cells(path, "code")):
            exec(compile(code, f"{path.name}, cell {k + 1}", "exec"), space)
        sys.modules.pop("make_gps_table", None)

    def test_is_kept_without_output(self, path):
        held = json.loads(path.read_text())
        assert all(not cell.get("outputs") for cell in held["cells"])
        assert cells(path, "markdown")[0].startswith("# ")
