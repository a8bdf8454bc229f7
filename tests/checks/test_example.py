"""The template that people copy: it passes the checks, works, and is what the how-to shows."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tracecup.attack import Case
from tracecup.checks import check_method
from tracecup.city import City, Grid
from tracecup.registry import parse
from tracecup.score import utility_score
from tracecup.traces import SetTraces, Traces

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "examples" / "my_attack.py"


@pytest.fixture
def template(own_registry: None) -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("my_attack", TEMPLATE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["my_attack"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["my_attack"]


class TestTemplate:
    @pytest.mark.parametrize("name", ["CosineR", "Jitter"])
    def test_passes_the_checks(self, name: str, template: ModuleType) -> None:
        assert [r for r in check_method(getattr(template, name)) if not r.passed] == []

    def test_attack_finds_people_by_their_places(self, template: ModuleType) -> None:
        city = City(Grid.from_metres(5, 1, width_m=341.25, height_m=346.875))
        case = Case(city, Traces.of([[0, 1], [3, 4]]), SetTraces.of_cells([[[4], [3]], [[], [0]]]))
        assert parse("reid", "Cosine-R").identify(case).users.tolist() == [1, 0]

    def test_obfuscation_moves_by_its_steps(self, template: ModuleType) -> None:
        city = City(Grid.from_metres(9, 9, width_m=341.25, height_m=346.875))
        original = Traces.of(np.random.default_rng(1).integers(81, size=(40, 20)))
        moved = parse("obfuscator", "Jitter(2)").obfuscate(city, original, rng=1).as_traces()
        for axis in (city.grid.x, city.grid.y):
            assert np.abs(axis[moved.regions] - axis[original.regions]).max() == 2
        assert template.Jitter(0).obfuscate(city, original).as_traces() == original
        assert utility_score(city, original, SetTraces.of_traces(moved)).value < 0.9

    def test_the_how_to_shows_the_file(self) -> None:
        assert TEMPLATE.read_text() in (ROOT / "docs" / "howto" / "add-a-method.md").read_text()
