from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tracecup.device import SparseRows
from tracecup.device.sparse import products

MATRICES = arrays(np.float64, (6, 4), elements=st.sampled_from([0.0, 0.0, 1.0, 2.5]))


class TestSparseRows:
    @given(MATRICES)
    def test_holds_a_matrix(self, matrix: np.ndarray) -> None:
        rows = SparseRows.of(matrix)
        chosen = np.array([4, 0, 0, 5])
        assert np.array_equal(rows.dense(np.arange(6)), matrix)
        assert np.array_equal(rows.take(chosen).dense(np.arange(4)), matrix[chosen])
        parts = [SparseRows.of(matrix[:2]), SparseRows.of(matrix[2:])]
        assert np.array_equal(SparseRows.joined(parts).dense(np.arange(6)), matrix)

    @given(MATRICES)
    def test_first_equals(self, matrix: np.ndarray) -> None:
        wanted = [int((matrix == row).all(axis=1).argmax()) for row in matrix]
        assert SparseRows.of(matrix).first_equals().tolist() == wanted


class TestProducts:
    @given(MATRICES, MATRICES)
    def test_of_pairs(self, left: np.ndarray, right: np.ndarray) -> None:
        rows, others = np.array([0, 1, 5, 5]), np.array([3, 3, 0, 2])
        found = products(SparseRows.of(left), SparseRows.of(right), rows, others)
        assert np.allclose(found, (left @ right.T)[rows, others])
