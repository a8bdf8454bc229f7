"""How the server is laid out: imports stand at the top, kinds of jobs are declared once."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tracecup import server
from tracecup.server.jobs import kinds

HERE = Path(server.__file__).parent
LATE = {"start.py"}
"""Imports parts of the server inside functions: Django is to be set up before."""


class TestImports:
    def test_only_listed_modules_import_parts_of_the_server_late(self):
        found = {
            str(path.relative_to(HERE))
            for path in HERE.rglob("*.py")
            for function in ast.walk(ast.parse(path.read_text()))
            if isinstance(function, ast.FunctionDef)
            for inner in ast.walk(function)
            if isinstance(inner, ast.ImportFrom) and (inner.module or "").startswith("tracecup")
        }
        assert found == LATE


class TestKinds:
    def test_every_kind_has_a_priority_of_its_own_making(self):
        assert all(kind.priority > 0 for kind in kinds.declared().values())

    def test_one_way_of_being_done(self):
        with pytest.raises(TypeError):
            kinds.JobKind("idle", 1)
        with pytest.raises(TypeError):
            kinds.JobKind("half", 1, prepare=lambda job: None)

    def test_a_kind_that_nobody_declared(self):
        with pytest.raises(kinds.UnknownKind):
            kinds.kind_of("nothing")
