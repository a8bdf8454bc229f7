from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from slowchains import matrices

from tracecup.attack import Case
from tracecup.attack.markov import ESTIMATORS, start_rows, user_chains
from tracecup.attack.markov.chains import Moves, day_periods
from tracecup.city import Clock
from tracecup.traces import Traces


class TestUserChains:
    @pytest.mark.parametrize("estimator", ESTIMATORS)
    @pytest.mark.parametrize("b", [0.5, 20.0])
    def test_agrees_with_dense_counting(
        self, make_case: Callable[..., Case], estimator: str, b: float
    ) -> None:
        reference = make_case(1, users=5, slots=4, days=3).reference
        chains = user_chains(reference, 35, estimator, b)
        for user, wanted in enumerate(matrices(reference, 35, estimator, b)):
            assert np.allclose(chains.matrix(user), wanted, 1e-12, 1e-15)

    @pytest.mark.parametrize("estimator", ["lpm", "shrunk"])
    def test_rows_sum_to_one(self, make_case: Callable[..., Case], estimator: str) -> None:
        chains = user_chains(make_case(2).reference, 35, estimator)
        assert np.allclose([chains.matrix(u).sum(axis=1) for u in range(6)], 1.0, 1e-12)

    def test_of_the_worked_example(self) -> None:
        chains = user_chains(Traces.of([[0, 0, 1, 0], [2, 2, 1, 2]]), 3)
        first, second = chains.matrix(0), chains.matrix(1)
        assert first[0, 0] == first[0, 1] == second[2, 2] == second[2, 1] == 0.5
        assert first[1, 0] == second[1, 2] == 1.0
        assert (first[2] == 1e-8).all()

    def test_nights_are_no_moves(self) -> None:
        chains = user_chains(Traces.of([[0, 1, 2, 0]], Clock.regular(days=2, slots=2)), 3)
        assert chains.matrix(0)[1, 2] == 1e-8

    def test_nobody_observed_leaves_the_uniform_matrix(self) -> None:
        nothing = Traces.of([[-1, -1]])
        assert np.allclose(user_chains(nothing, 4, "shrunk").matrix(0), 0.25)


class TestMoves:
    def test_rows_and_entries(self) -> None:
        moves = Moves.of_traces(Traces.of([[1, 0, 1, 0], [2, 2, -1, 2]]), 3)
        assert moves.user_rows.tolist() == [0, 2, 3]
        assert moves.left.tolist() == [0, 1, 2]
        assert moves.total.tolist() == [1.0, 2.0, 1.0]
        assert moves.to.tolist() == [1, 0, 2]
        assert moves.count.tolist() == [1.0, 2.0, 1.0]
        assert moves.user_of_row.tolist() == [0, 0, 1]


class TestPeriods:
    def test_parts_make_the_whole_day(self, make_case: Callable[..., Case]) -> None:
        reference = make_case(5, users=4, slots=20).reference
        parts = day_periods(reference, 35).moves
        whole = Moves.of_traces(reference, 35)
        assert len(parts) == 4
        assert sum(part.count.sum() for part in parts) == whole.count.sum()

    def test_matrices_are_shrunk_towards_that_of_the_whole_day(self) -> None:
        reference = Traces.of([[0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1]])
        chains = user_chains(reference, 2, "lpm")
        split = replace(chains, periods=day_periods(reference, 2, 3.0))
        whole = chains.stochastic(0)[0]
        assert np.allclose(whole.sum(axis=1), 1)
        found = split.stochastic(0)
        # slots 0 and 1 are left by 0 -> 1 and 1 -> 0; slots 17 and 18 by 0 -> 1 and 1 -> 1
        assert np.allclose(found[0], (np.array([[0, 1], [1, 0]]) + 3 * whole) / 4)
        assert np.allclose(found[3], (np.array([[0, 1], [0, 1]]) + 3 * whole) / 4)
        assert np.allclose(found.sum(axis=2), 1)

    def test_without_periods_one_matrix_holds_all_day(self) -> None:
        chains = user_chains(Traces.of([[0, 1]]), 2)
        assert chains.slot_periods(3).tolist() == [0, 0, 0]


class TestStartRows:
    def test_of_visits(self) -> None:
        rows = start_rows(Traces.of([[0, 0, 1, 0], [2, 2, 1, 2]]), 3, "visits", 0.2)(0, 2)
        crowd = (np.array([3, 2, 3]) + 0.01 / 3) / 8.01
        assert np.allclose(rows[0], (np.array([3, 1, 0]) + 4 * crowd) / 8, 1e-12)
        assert np.allclose(rows.sum(axis=1), 1.0)

    def test_of_first_slots(self) -> None:
        clock = Clock.regular(days=2, slots=2)
        rows = start_rows(Traces.of([[0, 2, 1, 2]], clock), 3, "first", 2.0)(0, 1)
        crowd = (np.array([1, 1, 0]) + 0.01 / 3) / 2.01
        assert np.allclose(rows[0], (np.array([1, 1, 0]) + 2 * crowd) / 4, 1e-12)

    def test_blocks_are_parts_of_the_whole(self, make_case: Callable[..., Case]) -> None:
        rows = start_rows(make_case(3).reference, 35)
        assert np.array_equal(rows(2, 5), rows(0, 6)[2:5])
