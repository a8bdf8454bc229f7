from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from slowchains import cell_scores, matrices, move_scores

from tracecup.attack import Case
from tracecup.attack.markov import CellScores, ChainScores, start_rows, user_chains
from tracecup.attack.markov import events as events_module
from tracecup.attack.markov.chains import Moves
from tracecup.attack.markov.factors import factored_chains, factorise
from tracecup.city import Clock
from tracecup.traces import SetTraces


class TestCellScores:
    @pytest.mark.parametrize("users", [6, 70])
    def test_agrees_with_the_slow_program(self, make_case: Callable[..., Case], users: int) -> None:
        case = make_case(5, users=users)
        beliefs = np.random.default_rng(1).dirichlet(np.ones(35), size=users)
        scores = CellScores(case.released, lambda low, high: beliefs[low:high])
        assert np.allclose(scores.rows(0, users), cell_scores(case.released, beliefs), 1e-12)


class TestChainScores:
    @pytest.mark.parametrize("estimator", ["floor", "lpm", "shrunk"])
    @pytest.mark.parametrize("seed", [1, 2])
    def test_agrees_with_the_slow_program(
        self, make_case: Callable[..., Case], estimator: str, seed: int
    ) -> None:
        case = make_case(seed, users=7, slots=4, days=3, reference_days=2)
        scores = ChainScores(case.released, user_chains(case.reference, 35, estimator, 5.0))
        wanted = move_scores(case.released, matrices(case.reference, 35, estimator, 5.0))
        assert np.allclose(scores.rows(0, 7), wanted, 1e-11, 1e-11)

    def test_with_beginnings(self, make_case: Callable[..., Case]) -> None:
        case = make_case(3, slots=4)
        starts = start_rows(case.reference, 35)
        scores = ChainScores(case.released, user_chains(case.reference, 35, "shrunk"), starts)
        wanted = move_scores(
            case.released, matrices(case.reference, 35, "shrunk", 20.0), starts(0, 6)
        )
        assert np.allclose(scores.rows(0, 6), wanted, 1e-11, 1e-11)

    def test_with_factors_of_each_user(self, make_case: Callable[..., Case]) -> None:
        case = make_case(4, users=70, slots=4)
        moves = Moves.of_traces(case.reference, 35)
        chains = factored_chains(moves, factorise(moves, 35, 3, 5, rng=1), 4.0)
        wanted = move_scores(case.released, [chains.matrix(u) for u in range(70)])
        assert np.allclose(ChainScores(case.released, chains).rows(0, 70), wanted, 1e-11, 1e-11)

    def test_chunks_and_row_blocks_do_not_matter(
        self, make_case: Callable[..., Case], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        case = make_case(5, users=9, slots=4, days=3)
        scores = ChainScores(case.released, user_chains(case.reference, 35, "shrunk"))
        whole = scores.rows(0, 9)
        monkeypatch.setattr(events_module, "MEMBERS_AT_ONCE", 7)
        parts = np.concatenate([scores.rows(0, 4), scores.rows(4, 9)])
        assert np.allclose(parts, whole, 1e-12, 1e-12)

    def test_one_slot_a_day_has_no_moves(self, make_case: Callable[..., Case]) -> None:
        case = make_case(6, slots=1)
        scores = ChainScores(case.released, user_chains(case.reference, 35))
        assert (scores.rows(0, 6) == 0.0).all()

    def test_moves_end_with_the_day(self) -> None:
        clock = Clock.regular(days=2, slots=2)
        released = SetTraces.of_cells([[[0], [1], [2], [0]]], clock)
        one_day = SetTraces.of_cells([[[0], [1]]], Clock.regular(days=1, slots=2))
        chains = user_chains(one_day.as_traces(), 3)
        assert np.allclose(ChainScores(released, chains).rows(0, 1), np.log(1e-8))
