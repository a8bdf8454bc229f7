"""Keys of methods: whatever changes what a method does changes its key, or there is none."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from types import ModuleType

import numpy as np
import pytest

from tracecup.front.decorators import obfuscator
from tracecup.obfuscate import Compose, Obfuscator, parse_obfuscator
from tracecup.registry import parameter
from tracecup.study.methodkey import method_key

pytestmark = pytest.mark.usefixtures("own_registry")
NOTEBOOK = """
from dataclasses import dataclass
import numpy as np
from tracecup.obfuscate import Obfuscator
from tracecup.traces import SetTraces, Traces
FACTOR = 1

def helper(regions):
    return regions * FACTOR

@dataclass(frozen=True)
class Shift(Obfuscator):
    name = "Shift"
    def _obfuscate(self, city, original, rng):
        moved = (helper(original.regions) + 1) % city.n_regions
        return SetTraces.of_traces(Traces(moved, original.users, original.clock))
"""


def as_in_a_notebook(source: str, name: str = "__notebook__"):
    """A class whose source nobody can find, as in a notebook's cell."""
    space = {"__name__": name}
    sys.modules.setdefault(name, ModuleType(name))
    exec(compile(source, "<cell>", "exec"), space)
    return space["Shift"]()


class TestMethodKey:
    def test_ours_need_none(self):
        assert method_key(parse_obfuscator("RR(8)+Cheat(0.3)")) == ""

    def test_the_same_source_is_the_same(self):
        assert method_key(as_in_a_notebook(NOTEBOOK)) == method_key(as_in_a_notebook(NOTEBOOK))

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("+ 1)", "+ 2)"),
            ("FACTOR = 1", "FACTOR = 2"),
            ("regions * FACTOR", "regions + FACTOR"),
            ("regions * FACTOR", "(lambda r: r * FACTOR + 1)(regions)"),
        ],
    )
    def test_an_edited_cell_is_another(self, old, new):
        assert old in NOTEBOOK
        edited = NOTEBOOK.replace(old, new)
        assert method_key(as_in_a_notebook(NOTEBOOK)) != method_key(as_in_a_notebook(edited))

    def test_the_closure_counts(self):
        def made(amount):
            @obfuscator(name="Closure")
            def closure(original, city):
                return (np.asarray(original) + amount) % city.n_regions

            return closure()

        assert method_key(made(1)) == method_key(made(1)) != method_key(made(2))
        assert method_key(made(np.arange(3))) != method_key(made(np.arange(4)))

    def test_an_inherited_helper_counts(self):
        child = (
            NOTEBOOK + "\nShift = dataclass(frozen=True)(type('Child', (Shift,), {'name': 'C'}))"
        )
        edited = child.replace("+ 1)", "+ 3)")
        assert method_key(as_in_a_notebook(child)) != method_key(as_in_a_notebook(edited))

    def test_what_cannot_be_told_has_no_key(self):
        file = io.StringIO()

        @obfuscator(name="Unkeyed")
        def unkeyed(original):
            file.write("x")
            return np.asarray(original)

        assert method_key(unkeyed()) is None
        assert method_key(Compose((parse_obfuscator("RR(8)"), unkeyed()))) is None

    def test_fields_that_no_name_shows_count(self):
        @dataclass(frozen=True)
        class Hidden(Obfuscator):
            steps: int = parameter(1, "steps")
            hidden: tuple[int, ...] = ()

        assert method_key(Hidden(1, (1,))) != method_key(Hidden(1, (2,)))
