"""Only rare and hospital regions move, uniformly over the window around them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tracecup.city import City
from tracecup.obfuscate import RareShift
from tracecup.traces import Traces


def window(region: int, cells: int) -> list[int]:
    """The other regions of the 5 x 7 city within `cells` columns and rows."""
    x, y = region % 5, region // 5
    return [
        s for s in range(35) if s != region and abs(s % 5 - x) <= cells and abs(s // 5 - y) <= cells
    ]


class TestRareShift:
    def test_equals_a_slow_loop(self, crowd: Traces, odd_city: City) -> None:
        draws = np.random.default_rng(4).random(crowd.shape)
        slow = np.array(crowd.regions)
        for i in range(crowd.n_users):
            for j in range(crowd.times):
                region = int(crowd.regions[i, j])
                together = int((crowd.regions[:, j] == region).sum())
                cells = 1 if together <= 2 else 0
                if odd_city.is_hospital[region]:
                    cells = 3
                others = window(region, cells)
                if others:
                    slow[i, j] = others[int(draws[i, j] * len(others))]
        method = RareShift(1, rare=2, hospital_cells=3)
        out = method.obfuscate(odd_city, crowd, rng=4).as_traces().regions
        assert np.array_equal(out, slow)
        assert not np.array_equal(out, crowd.regions)

    def test_crowded_regions_stay(self, odd_city: City) -> None:
        original = Traces.of([[7], [7], [7], [20]])
        out = RareShift(2, rare=1, hospital_cells=0).obfuscate(odd_city, original, rng=1).regions
        assert out[:3].tolist() == [7, 7, 7]
        assert out[3] in window(20, 2)

    def test_crowd_is_counted_event_by_event(self, odd_city: City) -> None:
        original = Traces.of([[7, 20], [7, 7], [7, 20]])
        out = RareShift(2, rare=1, hospital_cells=0).obfuscate(odd_city, original, rng=1)
        changed = out.as_traces().regions != original.regions
        assert changed.tolist() == [[False, False], [False, True], [False, False]]

    @pytest.mark.parametrize("region", [0, 17, 34])
    def test_uniform_over_the_window(self, region: int, odd_city: City) -> None:
        # Chi-squared; a right sampler fails for one seed in 10^6.
        original = Traces.of(np.full((100, 300), region))
        out = RareShift(2, rare=100, hospital_cells=0).obfuscate(odd_city, original, rng=3)
        counts = np.bincount(out.regions, minlength=35)
        inside = window(region, 2)
        assert counts[inside].sum() == 30_000
        assert stats.chisquare(counts[inside]).pvalue > 1e-6

    def test_no_reach_no_change(self, crowd: Traces, odd_city: City) -> None:
        out = RareShift(0, rare=100, hospital_cells=0).obfuscate(odd_city, crowd, rng=1)
        assert np.array_equal(out.as_traces().regions, crowd.regions)
