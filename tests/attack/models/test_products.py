from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tracecup.attack.models.bags import Bags
from tracecup.attack.models.products import BlockedScores, ProductScores, product_scores


def dense_bags(weights: NDArray[np.float64]) -> Bags:
    """Bags that name every row once."""
    m, rows = weights.shape
    return Bags(
        np.tile(np.arange(rows, dtype=np.int32), (m, 1)),
        np.ascontiguousarray(weights, dtype=np.float64),
        np.full(m, rows),
        np.full(m, rows),
        np.arange(rows + 1),
        np.arange(rows, dtype=np.int32),
    )


def random_parts(
    seed: int, m: int, rows: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    random = np.random.default_rng(seed)
    return random.random((m, rows)), random.random((rows, m)), random.normal(size=m)


class TestProductScores:
    @pytest.mark.parametrize(("m", "rows"), [(1, 1), (7, 3), (16, 8), (33, 29)])
    def test_is_the_product(self, m: int, rows: int) -> None:
        weights, table, bias = random_parts(1, m, rows)
        constant = np.arange(float(m))
        scores = ProductScores(dense_bags(weights), table, bias, constant)
        wanted = weights @ table + bias + constant[:, None]
        assert scores.rows(0, m) == pytest.approx(wanted, abs=1e-12)
        assert scores.best().tolist() == wanted.argmax(axis=1).tolist()

    def test_float64_decides_where_float32_cannot(self) -> None:
        # the second user is better by 1e-8 of a score of about 1000
        table = np.full((4, 18), 100.0)
        table[:, 5] = 250.0
        table[:, 11] = 250.0 + 2.5e-9
        scores = ProductScores(dense_bags(np.ones((18, 4))), table, np.zeros(18), np.zeros(18))
        assert np.float32(table[0, 5]) == np.float32(table[0, 11])
        assert scores.best().tolist() == [11] * 18

    def test_a_tie_goes_to_the_smallest(self) -> None:
        table = np.full((4, 18), 100.0)
        table[:, 5] = 250.0
        table[:, 11] = 250.0 + 2e-10
        scores = ProductScores(dense_bags(np.ones((18, 4))), table, np.zeros(18), np.zeros(18))
        assert scores.best().tolist() == [5] * 18

    def test_undefined_entries_are_not_read(self) -> None:
        weights, table, bias = random_parts(2, 5, 4)
        bags = dense_bags(weights)
        bags.ids[:, 3], bags.weights[:, 3], bags.lengths[:] = 1_000_000, np.nan, 3
        scores = ProductScores(bags, table, bias, np.zeros(5))
        wanted = weights[:, :3] @ table[:3] + bias
        assert scores.rows(0, 5) == pytest.approx(wanted, abs=1e-12)
        assert scores.best().tolist() == wanted.argmax(axis=1).tolist()

    @settings(max_examples=50)
    @given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 20), st.integers(0, 9))
    def test_the_shortlist_never_loses_the_best(
        self, seed: int, m: int, rows: int, exponent: int
    ) -> None:
        # columns that differ by 10^-exponent only: near ties on all scales
        weights, table, bias = random_parts(seed, m, rows)
        table = 10.0 + table * 10.0**-exponent
        bias *= 10.0**-exponent
        weights = np.round(weights * 50)
        scores = ProductScores(dense_bags(weights), table, bias, np.zeros(m))
        rows_ = scores.rows(0, m)
        best = scores.best()
        reached = rows_[np.arange(m), best]
        assert (reached >= rows_.max(axis=1) - 1.001e-9).all()
        first = (rows_ >= rows_.max(axis=1, keepdims=True) - 0.999e-9).argmax(axis=1)
        assert (best <= first).all()


class TestProductScoresInBlocks:
    def test_same_as_with_the_whole_table(self) -> None:
        weights, table, bias = random_parts(3, 11, 6)

        def columns(low: int, high: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            return np.ascontiguousarray(table[:, low:high]), bias[low:high]

        whole = product_scores(dense_bags(weights), columns, np.zeros(11))
        blocks = product_scores(dense_bags(weights), columns, np.zeros(11), max_table_entries=20)
        assert isinstance(whole, ProductScores)
        assert isinstance(blocks, BlockedScores)
        assert np.array_equal(blocks.rows(2, 9), whole.rows(2, 9))
        assert np.array_equal(blocks.best(), whole.best())
