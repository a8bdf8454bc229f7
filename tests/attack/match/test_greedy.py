from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tracecup.attack import greedy_table, scores


def slow_greedy(matrix: NDArray[np.float64], tie: float) -> list[int]:
    free, table = list(range(len(matrix))), []
    for row in matrix.tolist():
        top = max(row[u] for u in free)
        table.append(next(u for u in free if row[u] >= top - tie))
        free.remove(table[-1])
    return table


class TestGreedyTable:
    def test_by_hand(self) -> None:
        matrix = [[1, 5, 3], [2, 9, 4], [9, 8, 7]]
        assert greedy_table(matrix).users.tolist() == [1, 2, 0]

    def test_ties_go_to_the_smallest_free_user(self) -> None:
        assert greedy_table(np.zeros((4, 4))).users.tolist() == [0, 1, 2, 3]

    def test_a_difference_below_1e_9_is_a_tie(self) -> None:
        matrix = [[0.0, 0.9e-9], [0.0, 0.0]]
        assert greedy_table(matrix).users.tolist() == [0, 1]
        assert greedy_table(matrix, tie=0.0).users.tolist() == [1, 0]

    def test_blocks_of_rows_do_not_matter(self, monkeypatch: pytest.MonkeyPatch) -> None:
        matrix = np.random.default_rng(1).normal(size=(17, 17))
        whole = greedy_table(matrix)
        monkeypatch.setattr(scores, "BLOCK_ENTRIES", 60)
        assert greedy_table(matrix) == whole

    @settings(max_examples=50)
    @given(st.integers(0, 2**32), st.integers(1, 12), st.sampled_from([0.0, 1e-9]))
    def test_equals_the_slow_loop(self, seed: int, m: int, tie: float) -> None:
        # few distinct values, so that ties are common
        matrix = np.random.default_rng(seed).integers(4, size=(m, m)).astype(float)
        table = greedy_table(matrix, tie=tie)
        assert table.is_permutation
        assert table.users.tolist() == slow_greedy(matrix, tie)
