from __future__ import annotations

import importlib.util
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tracecup.device import Arrays, JaxArrays, NumpyArrays, SparseRows, best_matches
from tracecup.device.fused import Tile, fused_tops

HAS_JAX = importlib.util.find_spec("jax") is not None
SMALL = NumpyArrays(block=8, chunk=4)


def sides(seed: int, m: int, width: int = 32, events: int = 60) -> tuple[NDArray[np.float64], ...]:
    """Counts of pseudonyms, and log-likelihoods of the visits of the users behind them."""
    random = np.random.default_rng(seed)
    taste = random.dirichlet(np.full(width, 0.1), size=m)
    visits = np.array([random.multinomial(events, row) for row in taste], dtype=float)
    weights = np.array([random.multinomial(events, row) for row in taste], dtype=float)
    share = visits / visits.sum(axis=1, keepdims=True)
    table = np.where(visits > 0, np.log(np.maximum(share, 1e-8) / 1e-8), 0.0)
    return weights[random.permutation(m)], table


def exact(weights: NDArray[np.float64], table: NDArray[np.float64]) -> list[int]:
    scores = weights @ table.T
    return list((scores >= scores.max(axis=1, keepdims=True) - 1e-9).argmax(axis=1))


def answers(arrays: Arrays, weights: NDArray[np.float64], table: NDArray[np.float64]) -> list[int]:
    return list(best_matches(arrays, SparseRows.of(weights), SparseRows.of(table)).best)


class TestBestMatches:
    @pytest.mark.parametrize("int8", [True, False])
    def test_equals_float64(self, int8: bool) -> None:
        for seed, events in ((1, 5), (2, 60), (3, 900)):  # few ties, none, weights above 127
            weights, table = sides(seed, 61, events=events)
            found = best_matches(SMALL, SparseRows.of(weights), SparseRows.of(table), int8=int8)
            assert list(found.best) == exact(weights, table)

    def test_equal_rows_are_one_and_the_first_wins(self) -> None:
        weights, table = sides(4, 40)
        table[9:] = table[:31]
        found = best_matches(SMALL, SparseRows.of(weights), SparseRows.of(table))
        assert list(found.best) == exact(weights, table)
        assert found.certified == 1.0

    def test_a_tie_of_different_rows_goes_to_the_smallest(self) -> None:
        table = np.zeros((12, 4))
        table[:, 0] = 12.0
        table[7], table[10] = [14.0, 16.0, 0.0, 0.0], [16.0, 14.0, 0.0, 0.0]
        assert answers(SMALL, np.array([[1.0, 1.0, 0.0, 0.0]]), table) == [7]

    def test_what_is_not_certified_is_computed_whole(self) -> None:
        # forty users within 1e-6 of each other, spread over ten chunks
        random = np.random.default_rng(5)
        table = 15.0 + random.random((40, 6)) * 1e-6
        weights = np.ones((3, 6))
        found = best_matches(SMALL, SparseRows.of(weights), SparseRows.of(table))
        assert found.asked_again == 3
        assert found.certified == 0.0
        assert list(found.best) == exact(weights, table)

    def test_what_is_not_certified_can_be_answered_in_another_way(self) -> None:
        random = np.random.default_rng(5)
        table = 15.0 + random.random((40, 6)) * 1e-6
        table[3:5] = table[1]  # equal rows are one in the search, the answers name them all
        weights = np.ones((3, 6))
        asked: list[int] = []

        def exactly(rows: NDArray[np.int64]) -> NDArray[np.int64]:
            asked.extend(rows.tolist())
            return rows + 36

        found = best_matches(SMALL, SparseRows.of(weights), SparseRows.of(table), exactly=exactly)
        assert asked == [0, 1, 2]
        assert list(found.best) == [36, 37, 38]

    @pytest.mark.parametrize("m", [5, 61])
    def test_a_weighing_without_entries_needs_no_computing(self, m: int) -> None:
        weights, table = sides(8, m)
        weights[[1, 4]] = 0.0
        found = best_matches(SMALL, SparseRows.of(weights), SparseRows.of(table))
        assert list(found.best) == exact(weights, table)
        assert found.best[[1, 4]].tolist() == [0, 0]
        assert (found.asked_again, found.certified) == (0, 1.0)

    def test_near_ties_within_few_chunks_are_ranked_in_float64(self) -> None:
        random = np.random.default_rng(6)
        table = np.concatenate([np.full((40, 6), 12.0), np.full((4, 6), 15.0)])
        table += random.random(table.shape) * 1e-7
        weights = np.ones((3, 6))
        found = best_matches(SMALL, SparseRows.of(weights), SparseRows.of(table))
        assert (found.ranked, found.asked_again) == (3, 0)
        assert list(found.best) == exact(weights, table)

    @pytest.mark.parametrize(
        ("weights", "table"),
        [
            ([[0.0, 0.0]], [[15.0, 0.0], [0.0, 15.0]]),  # a pseudonym without cells
            ([[1.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]),  # users without visits
            ([[1.0, 1.0]], [[1e-9, 0.0], [0.0, 900.0]]),  # beyond float16's range
            ([[0.3, 70000.0]], [[15.0, 0.0], [0.0, 15.0]]),
        ],
    )
    def test_the_odd_ones(self, weights: list[list[float]], table: list[list[float]]) -> None:
        assert answers(SMALL, np.array(weights), np.array(table)) == exact(
            np.array(weights), np.array(table)
        )

    @settings(max_examples=60)
    @given(
        st.integers(0, 2**32), st.integers(1, 30), st.integers(0, 8), st.booleans(), st.booleans()
    )
    def test_near_ties_on_all_scales(
        self, seed: int, m: int, exponent: int, int8: bool, whole: bool
    ) -> None:
        random = np.random.default_rng(seed)
        table = 12.0 + random.random((m, 5)) * 10.0**-exponent
        table *= random.random((m, 5)) < 0.8
        weights = random.integers(0, 200, (m, 5)) * (1.0 if whole else random.random((m, 5)))
        weights[weights < 1e-3] = 0.0
        found = best_matches(SMALL, SparseRows.of(weights), SparseRows.of(table), int8=int8)
        scores = weights @ table.T
        reached = scores[np.arange(m), found.best]
        assert (reached >= scores.max(axis=1) - 1.001e-9).all()
        first = (scores >= scores.max(axis=1, keepdims=True) - 0.999e-9).argmax(axis=1)
        assert (found.best <= first).all()


@pytest.mark.skipif(not HAS_JAX, reason="needs JAX (tracecup[gpu] or tracecup[learn])")
class TestJaxArrays:
    @pytest.mark.parametrize("fused", [False, True])
    def test_equals_float64(self, fused: bool) -> None:
        product = partial(fused_tops, tile=Tile(16, 16, 32), interpret=True)
        arrays = JaxArrays(block=32, chunk=16, product=product if fused else None)
        for seed, events, width in ((1, 5, 32), (3, 900, 41)):  # a width that no step divides
            weights, table = sides(seed, 61, width, events)
            assert answers(arrays, weights, table) == exact(weights, table)

    def test_steps_equal_numpys(self) -> None:
        weights, table = (SparseRows.of(side) for side in sides(7, 50))
        found = []
        for arrays in (NumpyArrays(block=16, chunk=8), JaxArrays(block=16, chunk=8)):
            left = arrays.place(weights, "int8", 1.0, 16)
            right = arrays.place(table, "int8", 6.0, 8)
            assert left.shape == (64, 32)
            asked = [(2, np.array([3, 5])), (4, np.array([5, 6, 7]))]
            found.append(
                [arrays.chunk_tops(left, right, 50, 2), arrays.row_tops(left, right, asked, 3)]
            )
        for ours, theirs in zip(*found, strict=True):
            assert np.array_equal(ours[0], theirs[0])
