"""What every published defence must do: more strength never gives more utility."""

from __future__ import annotations

import numpy as np
import pytest

from tracecup.city import City
from tracecup.obfuscate import parse_obfuscator
from tracecup.score import utility_score
from tracecup.traces import Traces

WEAK_TO_STRONG = (
    ("Cloak(1)", "Cloak(2)", "Cloak(5)", "Cloak(20)"),
    ("Cloak(1,reciprocal=true)", "Cloak(3,reciprocal=true)", "Cloak(20,reciprocal=true)"),
    ("MDAV(1)", "MDAV(2)", "MDAV(5)", "MDAV(20)"),
    ("MDAV(5,floor=0.9)", "MDAV(5,floor=0.7)", "MDAV(5)"),
    ("Optimal(0)", "Optimal(0.1)", "Optimal(0.3)", "Optimal(0.6)"),
    ("OptimalUser(0)", "OptimalUser(0.1)", "OptimalUser(0.3)"),
    ("GeoOpt(20,3)", "GeoOpt(4,3)", "GeoOpt(1,3)"),
    ("PLR(20,1)", "PLR(4,1)", "PLR(1,1)"),
    ("MixZone(2,floor=1)", "MixZone(2,floor=0.8)", "MixZone(2,floor=0.6)"),
    ("SGLT-D(35,0)", "SGLT-D(12,0)", "SGLT-D(5,0)"),
)


@pytest.mark.parametrize("names", WEAK_TO_STRONG, ids=lambda names: names[0])
def test_utility_falls_with_strength(names: tuple[str, ...], crowd: Traces, odd_city: City) -> None:
    found = []
    for name in names:
        method = parse_obfuscator(name)
        # the mean of three draws; steps of strength are far larger than what remains
        draws = [
            utility_score(odd_city, crowd, method.obfuscate(odd_city, crowd, seed)).value
            for seed in (1, 2, 3)
        ]
        found.append(np.mean(draws))
    assert all(np.diff(found) <= 1e-9)
    assert found[-1] < found[0]
