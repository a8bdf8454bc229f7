"""The house itself: rooms import one way, examples run, every module says what it is for."""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

import tracecup

SOURCE = Path(tracecup.__file__).parent
NEEDS_JAX = pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")
HEAVY = {"scipy.stats", "scipy.optimize", "scipy.ndimage", "scipy.linalg", "scipy.sparse.csgraph"}
"""Parts of SciPy that take up to a second to import: every command would wait for them."""
STUDIES = ("tracecup.learn.", "tracecup.study.")
JAX_ROOMS = ("tracecup.learn.", "tracecup.study.racing.")
MODULES = [
    pytest.param(name, marks=NEEDS_JAX) if name.startswith(JAX_ROOMS) else name
    for name in sorted(module.name for module in pkgutil.walk_packages([str(SOURCE)], "tracecup."))
    if not name.endswith("__main__")
]


class TestRooms:
    def test_dependencies_point_one_way(self, monkeypatch, capsys):
        monkeypatch.chdir(SOURCE.parent.parent)
        assert lint_imports(cache_dir=None) == 0, capsys.readouterr().out


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

    def test_imports_nothing_slow_before_it_is_needed(self, name):
        if name.startswith(STUDIES):
            return
        found = set()
        for line in ast.parse(Path(importlib.import_module(name).__file__).read_text()).body:
            if isinstance(line, ast.ImportFrom):
                found |= {line.module or "", *(f"{line.module}.{one.name}" for one in line.names)}
            elif isinstance(line, ast.Import):
                found |= {one.name for one in line.names}
        assert found & HEAVY == set()
