from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from tracecup.attack import MatrixScores, assignment_table
from tracecup.attack.match import assign_on_shortlists, shortlists
from tracecup.attack.match.prices import Pairs, Prices
from tracecup.errors import InvalidParameter, InvalidTraces, TraceCupError

SEEDS = st.integers(0, 2**32)


def matrix_of(seed: int, m: int, tied: bool) -> NDArray[np.float64]:
    random = np.random.default_rng(seed)
    return random.integers(0, 3, (m, m)).astype(float) if tied else random.normal(size=(m, m))


def largest_sum(matrix: NDArray[np.float64]) -> float:
    """The slow way: the whole matrix in a solver of somebody else."""
    return float(matrix[linear_sum_assignment(matrix, maximize=True)].sum())


class Narrow(MatrixScores):
    """Scores that are read three rows at a time."""

    def row_blocks(self) -> list[tuple[int, int]]:
        return [(low, min(low + 3, self.n_users)) for low in range(0, self.n_users, 3)]


class TestAssignOnShortlists:
    @settings(max_examples=60)
    @given(SEEDS, st.integers(1, 24), st.booleans(), st.integers(1, 4))
    def test_as_good_as_the_whole_matrix(self, seed: int, m: int, tied: bool, length: int) -> None:
        matrix = matrix_of(seed, m, tied)
        found = assign_on_shortlists(Narrow(matrix), length=length)
        assert found.table.is_permutation
        assert found.is_optimal
        assert matrix[range(m), found.table.users].sum() == pytest.approx(found.value, abs=1e-12)
        assert found.value == pytest.approx(largest_sum(matrix), abs=1e-9)

    @settings(max_examples=40)
    @given(SEEDS, st.integers(2, 24), st.booleans())
    def test_the_gap_is_a_bound_after_one_pass(self, seed: int, m: int, tied: bool) -> None:
        matrix = matrix_of(seed, m, tied)
        found = assign_on_shortlists(matrix, length=1, passes=1)
        best = largest_sum(matrix)
        assert found.value - 1e-9 <= best <= found.value + found.gap + 1e-9

    def test_everybody_wants_the_same_few(self) -> None:
        popular = np.repeat([[9.0, 8.0, 7.0] + [0.0] * 37], 40, axis=0)
        matrix = popular + np.random.default_rng(5).random((40, 40))
        found = assign_on_shortlists(matrix, length=2)
        assert found.value == pytest.approx(largest_sum(matrix), abs=1e-9)
        assert found.passes > 1

    def test_only_part_of_all_pairs_is_held(self) -> None:
        matrix = np.random.default_rng(7).normal(size=(300, 300))
        found = assign_on_shortlists(matrix)
        assert found.is_optimal
        assert found.pairs < 300 * 30

    def test_those_left_over_add_few_pairs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        matrix = np.random.default_rng(6).normal(size=(400, 400))
        matrix[:, 1::2] = -50.0  # people of whom nothing is known: 200 pseudonyms are left over
        offered = []
        of = Pairs.of

        def noting(m: int, rows: object, *more: object) -> Pairs:
            offered.append(len(rows))
            return of(m, rows, *more)

        monkeypatch.setattr(Pairs, "of", noting)
        monkeypatch.setattr(shortlists, "MOST_REST_PAIRS", 1000)
        found = assign_on_shortlists(matrix)
        assert offered[0] == 400 * 20
        assert 190 <= offered[1] <= 1000
        assert found.is_optimal
        assert found.value == pytest.approx(largest_sum(matrix), abs=1e-9)

    def test_nobody_at_all(self) -> None:
        assert assign_on_shortlists(np.zeros((1, 1))).table.users.tolist() == [0]

    @pytest.mark.parametrize("wrong", [{"length": 0}, {"passes": 0}])
    def test_refuses_what_cannot_be(self, wrong: dict[str, int]) -> None:
        with pytest.raises(InvalidParameter, match="at least 1"):
            assign_on_shortlists(np.zeros((2, 2)), **wrong)

    def test_refuses_infinite_scores(self) -> None:
        with pytest.raises(InvalidTraces, match="finite"):
            assign_on_shortlists([[0.0, -np.inf], [0.0, 0.0]])


class TestAssignmentTable:
    def test_beyond_what_is_held(self) -> None:
        matrix = matrix_of(3, 50, tied=False)
        table = assignment_table(matrix, most_held=10)
        assert table == assignment_table(matrix)

    def test_never_silently_inexact(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def hasty(scores: MatrixScores) -> object:
            return assign_on_shortlists(scores, length=1, passes=1)

        monkeypatch.setattr("tracecup.attack.match.assignment.assign_on_shortlists", hasty)
        matrix = np.random.default_rng(1).normal(size=(60, 60))
        with pytest.raises(TraceCupError, match="could be better by"):
            assignment_table(matrix, most_held=10)


class TestPrices:
    @settings(max_examples=40)
    @given(SEEDS, st.integers(1, 12), st.booleans())
    def test_prove_the_optimum_of_all_pairs(self, seed: int, m: int, tied: bool) -> None:
        matrix = matrix_of(seed, m, tied)
        rows, users = (grid.ravel() for grid in np.indices((m, m)))
        prices = Prices.zero(m)
        prices.assign(Pairs.of(m, rows, users.astype(np.int32), matrix.ravel()))
        bound = (matrix - prices.of_user).max(axis=1).sum() + prices.of_user.sum()
        assert bound == pytest.approx(largest_sum(matrix), abs=1e-9)
        assert prices.row_of[prices.user_of].tolist() == list(range(m))

    def test_lists_without_a_way_are_refused(self) -> None:
        pairs = Pairs.of(2, np.array([0, 1]), np.array([0, 0], np.int32), np.zeros(2))
        with pytest.raises(InvalidTraces, match="user of its list"):
            Prices.zero(2).assign(pairs)
