"""Blocks against a slow loop over bits, deletions against their draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tracecup.city import City, Grid
from tracecup.obfuscate import MRLH
from tracecup.score import utility_score
from tracecup.traces import Traces


def slow_block(region: int, nx: int, ny: int, mu_x: int, mu_y: int) -> list[int]:
    x, y = region % nx, region // nx
    return [
        s
        for s in range(nx * ny)
        if (s % nx) >> mu_x == x >> mu_x and (s // nx) >> mu_y == y >> mu_y
    ]


class TestBlocks:
    def test_example_of_the_paper(self, contest_city: City) -> None:
        out = MRLH(1, 1, 0.0).obfuscate(contest_city, Traces.of([[1]]))
        assert (out.cell(0, 0) + 1).tolist() == [1, 2, 33, 34]

    def test_no_bits_no_change(self, crowd: Traces, odd_city: City) -> None:
        out = MRLH(0, 0, 0.0).obfuscate(odd_city, crowd)
        assert np.array_equal(out.as_traces().regions, crowd.regions)

    @given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 5), st.integers(0, 5), st.data())
    def test_any_grid(self, nx: int, ny: int, mu_x: int, mu_y: int, data: st.DataObject) -> None:
        city = City(Grid.from_metres(nx, ny, width_m=300, height_m=400))
        region = data.draw(st.integers(0, nx * ny - 1))
        out = MRLH(mu_x, mu_y, 0.0).obfuscate(city, Traces.of([[region]]))
        assert out.cell(0, 0).tolist() == slow_block(region, nx, ny, mu_x, mu_y)

    def test_all_bits_give_the_whole_grid(self, odd_city: City) -> None:
        out = MRLH(20, 20, 0.0).obfuscate(odd_city, Traces.of([[17]]))
        assert out.cell(0, 0).tolist() == list(range(35))

    def test_utility_of_two_by_two_blocks(self, contest_city: City) -> None:
        original = Traces.of([[0, 33, 510, 1023]])
        out = MRLH(1, 1, 0.0).obfuscate(contest_city, original)
        wx, wy = 0.34125, 0.346875
        expected = 1 - (wx + wy + np.hypot(wx, wy)) / 8
        score = utility_score(contest_city, original, out)
        assert score.value == pytest.approx(expected, abs=1e-12)


class TestDeletion:
    @pytest.mark.parametrize(("share", "left"), [(0.0, 360), (1.0, 0)])
    def test_extremes(self, share: float, left: int, crowd: Traces, odd_city: City) -> None:
        out = MRLH(0, 0, share).obfuscate(odd_city, crowd, rng=1)
        assert np.count_nonzero(out.sizes) == left

    def test_rate(self, contest_city: City) -> None:
        # Two-sided binomial test; a right sampler fails for one seed in 10^6.
        original = Traces.of(np.zeros((100, 400), dtype=np.int32))
        out = MRLH(0, 0, 0.3).obfuscate(contest_city, original, rng=1)
        deleted = int((out.sizes == 0).sum())
        assert stats.binomtest(deleted, 40_000, 0.3).pvalue > 1e-6

    def test_larger_lambda_deletes_more_of_the_same(self, crowd: Traces, odd_city: City) -> None:
        few, many = (MRLH(1, 1, s).obfuscate(odd_city, crowd, rng=9).sizes for s in (0.2, 0.6))
        assert np.all(many[few == 0] == 0)
        assert np.count_nonzero(many) < np.count_nonzero(few)
