from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracecup.attack import assignment_table
from tracecup.errors import InvalidTraces


class TestAssignmentTable:
    @settings(max_examples=30)
    @given(st.integers(0, 2**32), st.integers(1, 6))
    def test_no_permutation_is_better(self, seed: int, m: int) -> None:
        matrix = np.random.default_rng(seed).normal(size=(m, m))
        best = max(matrix[range(m), list(p)].sum() for p in permutations(range(m)))
        table = assignment_table(matrix)
        assert table.is_permutation
        assert matrix[range(m), table.users].sum() == pytest.approx(best, abs=1e-12)

    def test_rejects_infinite_scores(self) -> None:
        with pytest.raises(InvalidTraces, match="finite"):
            assignment_table([[0.0, -np.inf], [0.0, 0.0]])
