from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tracecup.attack.match import greedy_table
from tracecup.attack.models.bags import Bags
from tracecup.attack.models.products import (
    TILE,
    ProductScores,
    bias_columns,
    product_scores,
    sparse_rows,
)
from tracecup.device import NumpyArrays, SparseRows

STEPS = pytest.mark.parametrize("step", [18, 7, 1])


def dense_bags(weights: NDArray[np.float64]) -> Bags:
    """Bags that name every row once."""
    m, rows = weights.shape
    return Bags(
        np.tile(np.arange(rows, dtype=np.int32), m),
        weights.astype(np.float64).reshape(-1),
        np.arange(m) * rows,
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


def product(
    weights: NDArray[np.float64] | Bags, table: NDArray[np.float64], bias: NDArray[np.float64],
    constant: NDArray[np.float64] | None = None, step: int | None = None,
) -> ProductScores:  # fmt: skip
    """The scores of bags and a table that is handed out in blocks of `step` users."""
    bags = weights if isinstance(weights, Bags) else dense_bags(weights)
    m = len(bags.lengths)

    def columns(low: int, high: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return np.ascontiguousarray(table[:, low:high]), bias[low:high]

    return ProductScores(bags, columns, np.zeros(m) if constant is None else constant, step or m)


class TestProductScores:
    @pytest.mark.parametrize(("m", "rows"), [(1, 1), (7, 3), (16, 8), (33, 29)])
    def test_is_the_product(self, m: int, rows: int) -> None:
        weights, table, bias = random_parts(1, m, rows)
        constant = np.arange(float(m))
        scores = product(weights, table, bias, constant)
        wanted = weights @ table + bias + constant[:, None]
        assert scores.rows(0, m) == pytest.approx(wanted, abs=1e-12)
        assert scores.best().tolist() == wanted.argmax(axis=1).tolist()

    @STEPS
    def test_float64_decides_where_float32_cannot(self, step: int) -> None:
        # the second user is better by 1e-8 of a score of about 1000
        table = np.full((4, 18), 100.0)
        table[:, 5] = 250.0
        table[:, 11] = 250.0 + 2.5e-9
        scores = product(np.ones((18, 4)), table, np.zeros(18), step=step)
        assert np.float32(table[0, 5]) == np.float32(table[0, 11])
        assert scores.best().tolist() == [11] * 18

    @STEPS
    def test_a_tie_goes_to_the_smallest(self, step: int) -> None:
        table = np.full((4, 18), 100.0)
        table[:, 5] = 250.0
        table[:, 11] = 250.0 + 2e-10
        scores = product(np.ones((18, 4)), table, np.zeros(18), step=step)
        assert scores.best().tolist() == [5] * 18

    def test_undefined_entries_are_not_read(self) -> None:
        weights, table, bias = random_parts(2, 5, 4)
        bags = dense_bags(weights)
        bags.ids[3::4], bags.weights[3::4], bags.lengths[:] = 1_000_000, np.nan, 3
        scores = product(bags, table, bias)
        wanted = weights[:, :3] @ table[:3] + bias
        assert scores.rows(0, 5) == pytest.approx(wanted, abs=1e-12)
        assert scores.best().tolist() == wanted.argmax(axis=1).tolist()

    @settings(max_examples=50)
    @given(
        st.integers(0, 2**32),
        st.integers(1, 40),
        st.integers(1, 20),
        st.integers(0, 9),
        st.integers(1, 40),
    )
    def test_the_shortlist_never_loses_the_best(
        self, seed: int, m: int, rows: int, exponent: int, step: int
    ) -> None:
        # columns that differ by 10^-exponent only: near ties on all scales
        weights, table, bias = random_parts(seed, m, rows)
        table = 10.0 + table * 10.0**-exponent
        bias *= 10.0**-exponent
        weights = np.round(weights * 50)
        scores = product(weights, table, bias, step=step)
        rows_ = scores.rows(0, m)
        best = scores.best()
        reached = rows_[np.arange(m), best]
        assert (reached >= rows_.max(axis=1) - 1.001e-9).all()
        first = (rows_ >= rows_.max(axis=1, keepdims=True) - 0.999e-9).argmax(axis=1)
        assert (best <= first).all()

    def test_longer_chains_of_near_ties_than_are_kept(self) -> None:
        # every user is 1e-10 better than the one before: the answer is ten before the last
        m = TILE + 88
        table = 10.0 + np.arange(m)[None, :] * 1e-10
        scores = product(np.ones((m, 1)), table, np.zeros(m), step=100)
        exact = scores.rows(0, 1)[0]
        wanted = int((exact >= exact.max() - 1e-9).argmax())
        assert scores.best().tolist() == [wanted] * m
        assert m - 12 < wanted < m - 8

    @pytest.mark.parametrize("biased", [False, True])
    def test_over_several_tiles(self, biased: bool) -> None:
        m = 2 * TILE + 7
        weights, table, bias = random_parts(4, m, 5)
        scores = product(weights, table, bias * biased, step=TILE + 3)
        wanted = weights @ table + bias * biased
        assert scores.best().tolist() == wanted.argmax(axis=1).tolist()

    def test_rows_come_in_few_blocks_where_each_makes_the_table_anew(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        weights, table, bias = random_parts(5, 11, 6)
        blocks = product(weights, table, bias, step=4)
        assert blocks.row_blocks() == [(0, 11)]
        monkeypatch.setattr("tracecup.attack.models.products.ROWS_ENTRIES", 60)
        assert blocks.row_blocks() == [(0, 5), (5, 10), (10, 11)]
        whole = product(weights, table, bias)
        assert greedy_table(blocks) == greedy_table(whole)

    def test_a_block_of_the_table_is_made_once(self) -> None:
        weights, table, bias = random_parts(3, 11, 6)
        made: list[tuple[int, int]] = []

        def columns(low: int, high: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            made.append((low, high))
            return np.ascontiguousarray(table[:, low:high]), bias[low:high]

        whole = product_scores(dense_bags(weights), columns, np.zeros(11))
        wanted, rows = whole.best(), whole.rows(2, 9)
        assert made == [(0, 11)]
        blocks = product_scores(dense_bags(weights), columns, np.zeros(11), max_table_entries=24)
        made.clear()
        assert np.array_equal(blocks.best(), wanted)
        assert made == [(0, 4), (4, 8), (8, 11)]
        assert np.array_equal(blocks.rows(2, 9), rows)


class TestBestOn:
    def test_a_device_finds_the_same_users(self) -> None:
        random = np.random.default_rng(8)
        weights = random.integers(0, 4, (30, 6)).astype(float)
        table = random.uniform(12, 18, (6, 30)) * (random.random((6, 30)) < 0.5)
        bags = dense_bags(weights)
        bags.lengths[:] = 5  # and what lies beyond is not read
        scores = product(bags, table, np.zeros(30), step=7)
        assert scores.best_on(NumpyArrays(4, 4)).tolist() == scores.best().tolist()

    @pytest.mark.parametrize("biased", [0.0, 1e-7])
    def test_what_a_device_leaves_open_is_searched_as_on_the_cpu(
        self, biased: float, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tracecup.device.search._Search._whole", None)  # 64 rows at a time
        random = np.random.default_rng(5)
        table = 15.0 + random.random((6, 60)) * 1e-6  # all within 1e-5 of each other
        weights = random.integers(1, 4, (60, 6)).astype(float)
        weights[[7, 30]] = 0.0
        bags = dense_bags(weights)
        bags.lengths[[11, 31]] = 0
        scores = product(bags, table, biased * random.random(60), step=25)
        assert scores.best_on(NumpyArrays(4, 4)).tolist() == scores.best().tolist()

    def test_entries_of_a_table_are_those_of_the_turned_one(self) -> None:
        table = np.random.default_rng(2).random((9, 40)) * (np.arange(40) % 3 > 0)
        table[table < 0.3] = 0.0
        found, wanted = sparse_rows(table), SparseRows.of(table.T)
        assert found.width == wanted.width == 9
        for name in ("offsets", "columns", "values"):
            assert np.array_equal(getattr(found, name), getattr(wanted, name))

    @pytest.mark.parametrize("scale", [1e-5, 1.0, 300.0])
    def test_a_term_per_user_becomes_two_columns(self, scale: float) -> None:
        weights, table, bias = random_parts(9, 40, 6)
        scores = product(weights, table, scale * bias, step=11)
        assert scores.best_on(NumpyArrays(4, 4)).tolist() == scores.best().tolist()

    def test_the_columns_are_the_bias_and_half_precision_holds_the_first(self) -> None:
        bias = -np.random.default_rng(4).gamma(2.0, 7.0, 500)
        columns = bias_columns(bias)
        assert np.allclose(columns.sum(axis=1) - bias, columns[0].sum() - bias[0], atol=1e-12)
        assert (columns > 0).all()
        assert np.array_equal(columns[:, 0].astype(np.float16), columns[:, 0])
