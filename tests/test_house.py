"""The house itself: rooms import one way, examples run, every module says what it is for."""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import tracecup

SOURCE = Path(tracecup.__file__).parent
NEEDS_JAX = pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")
SLOW = re.compile(
    r"^(from|import) scipy\.(stats|optimize|ndimage|linalg|sparse\.csgraph|sparse\.linalg)\b"
    r"|^from scipy import .*\b(stats|optimize|ndimage|linalg)\b",
    re.MULTILINE,
)
"""Parts of SciPy that take up to a second to import: every command would wait for them."""
STUDIES = ("learn", "study")
JAX_ROOMS = ("tracecup.learn.", "tracecup.study.racing.")
MODULES = [
    pytest.param(name, marks=NEEDS_JAX) if name.startswith(JAX_ROOMS) else name
    for name in sorted(module.name for module in pkgutil.walk_packages([str(SOURCE)], "tracecup."))
    if not name.endswith("__main__")
]


class TestRooms:
    def test_dependencies_point_one_way(self):
        # in a process of its own: the linter silences all loggers that are there
        command = "from importlinter.cli import lint_imports as go; exit(go(cache_dir=None))"
        done = subprocess.run(
            [sys.executable, "-c", command],
            cwd=SOURCE.parent.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout


class TestImports:
    def test_nothing_slow_is_imported_before_it_is_needed(self):
        slow = {
            str(path)
            for path in (one.relative_to(SOURCE) for one in SOURCE.rglob("*.py"))
            if path.parts[0] not in STUDIES and SLOW.search((SOURCE / path).read_text())
        }
        assert slow == set()


@pytest.mark.usefixtures("own_registry")
@pytest.mark.parametrize("name", MODULES)
class TestModules:
    def test_examples_run(self, name):
        result = doctest.testmod(importlib.import_module(name))
        assert result.failed == 0

    def test_opens_with_what_it_is_for(self, name):
        text = Path(importlib.import_module(name).__file__).read_text()
        said = ast.get_docstring(ast.parse(text)) or ""
        assert len(said.splitlines()) >= 2
