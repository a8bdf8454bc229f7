"""The notebooks of `examples/` in a real Jupyter kernel, where one is installed: `make notebooks`.

TRACECUP_NOTEBOOKS keeps them, executed, in a folder to look at.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="skipped: pip install nbclient ipykernel first")
nbclient = pytest.importorskip("nbclient", reason="skipped: pip install nbclient ipykernel first")
pytest.importorskip("ipykernel", reason="skipped: pip install nbclient ipykernel first")

pytestmark = pytest.mark.slow
EXAMPLES = Path(__file__).parents[2] / "examples"
SECONDS = 600


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_runs_in_a_kernel(path, tmp_path):
    shutil.copy(EXAMPLES / "make_gps_table.py", tmp_path)
    held = nbformat.read(path, as_version=4)
    place = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(held, timeout=SECONDS, resources=place).execute()
    shown = [one for cell in held.cells if cell.cell_type == "code" for one in cell.outputs]
    assert shown
    complaints = [one.text for one in shown if one.get("name") == "stderr"]
    assert complaints == []
    kept = os.environ.get("TRACECUP_NOTEBOOKS")
    if kept:
        nbformat.write(held, Path(kept) / path.name)
