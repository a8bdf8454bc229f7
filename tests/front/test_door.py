"""`import tracecup as tc`: light, complete, and rooms that are verbs stay rooms."""

from __future__ import annotations

import importlib
import subprocess
import sys
from types import ModuleType

import pytest

import tracecup as tc

EXTRAS = ("matplotlib", "django", "ninja", "jax", "distributed", "openpyxl", "polars", "pandas")
"""What the plain package must do without."""
HEAVY = ("numba", "scipy", "pyarrow", "rich", "typer", "matplotlib", "numpy")


def in_a_new_process(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=120
    )
    return done.stdout.strip()


class TestImport:
    def test_loads_nothing_heavy(self):
        code = f"import sys, tracecup; print([m for m in {HEAVY!r} if m in sys.modules])"
        assert in_a_new_process(code) == "[]"

    @pytest.mark.parametrize("name", tc.__all__)
    def test_every_public_name_is_there(self, name):
        assert getattr(tc, name) is not None
        assert name in dir(tc)

    def test_unknown_names_are_attribute_errors(self):
        with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
            tc.nonsense  # noqa: B018


class TestRoomsThatAreVerbs:
    @pytest.mark.parametrize("name", ["attack", "score"])
    def test_are_packages_and_can_be_called(self, name):
        room = importlib.import_module(f"tracecup.{name}")
        assert getattr(tc, name) is room
        assert isinstance(room, ModuleType)
        assert callable(room)

    def test_whoever_comes_first_and_without_any_extra(self):
        code = (
            f"import sys; sys.modules.update({{name: None for name in {EXTRAS!r}}});"
            "import tracecup as tc; [getattr(tc, name) for name in tc.__all__];"
            "made = tc.publish(tc.load_demo(days=1, users=3));"
            "from tracecup.attack import Case; import tracecup.attack as room;"
            "print(room is tc.attack, isinstance(made.case, Case), tc.attack(made, 'Random-R'))"
        )
        assert in_a_new_process(code) == "True True IdTable(<3 pairs>)"
