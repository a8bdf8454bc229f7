from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracecup.city import City, Clock, Grid
from tracecup.obfuscate import Swap, to_utility
from tracecup.score import utility_score
from tracecup.traces import Traces

CITY = City(Grid.from_metres(7, 5, width_m=341.25, height_m=346.875), hospitals=[3])


def _original(seed: int, users: int = 40) -> Traces:
    regions = np.random.default_rng(seed).integers(35, size=(users, 12))
    return Traces.of(regions, Clock.regular(3, 4))


class TestSwap:
    @settings(max_examples=25, deadline=None)
    @given(st.integers(0, 2**32), st.sampled_from([0.0, 0.35, 0.7, 1.2, 9.0]))
    def test_every_region_keeps_its_visitors_and_nobody_moves_far(
        self, seed: int, r: float
    ) -> None:
        original = _original(seed)
        swapped = Swap(r).obfuscate(CITY, original, seed).as_traces().regions
        assert (np.sort(swapped, axis=0) == np.sort(original.regions, axis=0)).all()
        assert CITY.grid.distance(original.regions, swapped).max() <= r + 1e-9

    def test_is_an_exchange_of_pairs(self) -> None:
        """With all regions different, who got whose region is a permutation of twos."""
        original = Traces.of(np.arange(35)[:, None])
        got = Swap(9.0).obfuscate(CITY, original, 1).as_traces().regions[:, 0]
        assert (got[got] == np.arange(35)).all()
        assert (got != np.arange(35)).sum() == 34  # an odd number leaves one alone

    def test_partners_are_uniform_among_those_near(self) -> None:
        """Users at 0, 1, 2 in a row, reach of one: user 1 meets each neighbour half the time.

        A fair coin is off by more than 4 standard deviations once in 16 000 seeds.
        """
        line = City(Grid.from_metres(3, 1, width_m=341.25, height_m=346.875))
        original = Traces.of(np.repeat([[0], [1], [2]], 4000, axis=1))
        got = Swap(0.35).obfuscate(line, original, 2).as_traces().regions
        assert abs((got[1] == 0).mean() - 0.5) < 4 * 0.5 / np.sqrt(4000)

    def test_nobody_takes_part(self) -> None:
        original = _original(3)
        assert (Swap(2.0, 0.0).obfuscate(CITY, original, 1).as_traces() == original) is True

    def test_is_tuned_to_a_utility(self) -> None:
        original = _original(4, users=200)
        method, _ = to_utility("Swap(1.5)", CITY, original, 0.8, 1, tolerance=0.01)
        found = utility_score(CITY, original, method.obfuscate(CITY, original, 1)).value
        assert 0.8 <= found < 0.82

    @pytest.mark.parametrize("threads", ["1", "3"])
    def test_threads_change_nothing(self, threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
        expected = Swap(1.0).obfuscate(CITY, _original(5), 7)
        monkeypatch.setenv("TRACECUP_THREADS", threads)
        assert Swap(1.0).obfuscate(CITY, _original(5), 7) == expected
