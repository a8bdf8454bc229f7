"""A row of a product is the same wherever it stands, on every processor that BLAS knows."""

from __future__ import annotations

import numpy as np
import pytest

from tracecup.attack import steady
from tracecup.attack.steady import steady_product


def test_rows_keep_their_values_in_another_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steady, "ENTRIES_AT_ONCE", 100)
    random = np.random.default_rng(5)
    left = random.random((36, 35), dtype=np.float32)
    right = random.random((35, 35), dtype=np.float32)
    order = random.permutation(36)
    assert np.array_equal(steady_product(left[order], right), steady_product(left, right)[order])


def test_sums_are_those_of_float64_in_the_array_that_was_given() -> None:
    random = np.random.default_rng(6)
    left = random.random((4, 3, 50), dtype=np.float32)
    right = random.random((50, 7), dtype=np.float32)
    out = np.empty((4, 3, 7), dtype=np.float32)
    assert steady_product(left, right, out) is out
    by_hand = np.array(
        [
            [
                [sum(map(float, row * column)) for column in right.T.astype(np.float64)]
                for row in block.astype(np.float64)
            ]
            for block in left
        ]
    )
    assert np.allclose(out, by_hand, rtol=1e-7, atol=0)
