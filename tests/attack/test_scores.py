from __future__ import annotations

import numpy as np
import pytest

from tracecup.attack import scores as module
from tracecup.attack.scores import MatrixScores
from tracecup.errors import InvalidTraces


class TestMatrixScores:
    def test_best_is_the_largest(self) -> None:
        assert MatrixScores([[0, 3, 1], [2, 0, 1], [0, 1, 9]]).best().tolist() == [1, 0, 2]

    def test_ties_go_to_the_smallest_user(self) -> None:
        assert MatrixScores([[0.0, 5.0, 5.0]] * 3).best().tolist() == [1, 1, 1]

    def test_a_difference_below_1e_9_is_a_tie(self) -> None:
        assert MatrixScores([[0.9e-9, 1.8e-9], [0.0, 1.1e-9]]).best().tolist() == [0, 1]

    def test_is_measured_from_the_maximum_only(self) -> None:
        # 0 and 0.8e-9 are near each other, but 0 is not near the maximum
        assert MatrixScores([[0.0, 0.8e-9, 1.6e-9]] * 3).best().tolist() == [1, 1, 1]

    def test_handles_minus_infinity(self) -> None:
        low = -np.inf
        assert MatrixScores([[low, low], [low, 0.0]]).best().tolist() == [0, 1]

    def test_blocks_of_rows_do_not_matter(self, monkeypatch: pytest.MonkeyPatch) -> None:
        matrix = np.random.default_rng(1).normal(size=(17, 17))
        whole = MatrixScores(matrix).best()
        monkeypatch.setattr(module, "BLOCK_ENTRIES", 40)
        assert len(MatrixScores(matrix).row_blocks()) == 9
        assert np.array_equal(MatrixScores(matrix).best(), whole)

    def test_rejects_a_matrix_that_is_not_square(self) -> None:
        with pytest.raises(InvalidTraces, match=r"\(2, 3\)"):
            MatrixScores(np.zeros((2, 3)))

    def test_rejects_nan(self) -> None:
        with pytest.raises(InvalidTraces, match="not a number"):
            MatrixScores([[np.nan]])
