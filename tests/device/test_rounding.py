from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tracecup.device import NumpyArrays, SparseRows
from tracecup.device.rounding import Rounding, fits_int8, half_rounding, int8_rounding


def worst(rounding: Rounding, weights: NDArray[np.float64], table: NDArray[np.float64]) -> float:
    """How far coarse sums are off, as a share of themselves."""
    arrays = NumpyArrays(chunk=len(table))
    left = arrays.place(SparseRows.of(weights), rounding.dtype, 1.0, 1)
    right = arrays.place(SparseRows.of(table), rounding.dtype, rounding.scale, 1)
    rows = np.arange(len(weights))
    coarse, at = arrays.row_tops(left, right, [(0, rows)], len(table))
    true = np.take_along_axis(weights @ table.T, at, axis=1) * rounding.scale
    return float((np.abs(true - coarse) / coarse).max())


class TestBounds:
    @pytest.mark.parametrize("seed", range(5))
    def test_hold_and_are_not_idle(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        table = random.uniform(11, 18.5, (30, 40))
        weights = random.integers(1, 127, (30, 40)).astype(float)
        table[0], table[1] = table.max(), table.min()  # rounding all one way
        small = int8_rounding(SparseRows.of(table))
        assert small is not None
        assert worst(small, weights, table) <= small.error < 0.01
        half = half_rounding(SparseRows.of(table), SparseRows.of(weights))
        assert worst(half, weights, table) <= half.error < 0.001
        uneven = half_rounding(SparseRows.of(table), SparseRows.of(weights / 7))
        assert worst(uneven, weights / 7, table) <= uneven.error
        assert half.error < uneven.error < 0.002

    def test_an_int8_bound_by_hand(self) -> None:
        # 127 / 18 = 7.06: 12 becomes round(84.67) = 85, so the bound is 1 / 170
        small = int8_rounding(SparseRows.of([[12.0, 18.0]]))
        assert small is not None
        assert small.error == pytest.approx(1 / 170, rel=1e-6)

    def test_a_table_of_too_different_entries_has_none(self) -> None:
        assert int8_rounding(SparseRows.of([[1.0, 18.0]])) is None
        assert int8_rounding(SparseRows.of([[0.0, 0.0]])) is None
        tiny = half_rounding(SparseRows.of([[1e-7, 18.0]]), SparseRows.of([[1.0, 1.0]]))
        assert tiny.error == np.inf


class TestFitsInt8:
    def test_whole_weights_up_to_127(self) -> None:
        rows = SparseRows.of([[127.0, 1.0], [128.0, 0.0], [0.5, 3.0], [0.0, 0.0]])
        assert fits_int8(rows).tolist() == [True, False, False, True]
