from __future__ import annotations

from collections.abc import Callable

import numpy as np
from slowchains import move_scores

from tracecup.attack import Case, TfR
from tracecup.attack.markov import start_rows
from tracecup.attack.markov.chains import Moves
from tracecup.attack.markov.factors import factored_chains, factorise
from tracecup.traces import SetTraces


class TestTfR:
    def test_agrees_with_the_slow_program(self, make_case: Callable[..., Case]) -> None:
        case = make_case(1, users=7, slots=4, days=3)
        moves = Moves.of_traces(case.reference, 35)
        chains = factored_chains(moves, factorise(moves, 35, 3, 4, rng=9), 5.0)
        dense = [chains.matrix(u) for u in range(7)]
        attack = TfR(3, b=5.0, iterations=4)
        wanted = move_scores(case.released, dense)
        assert np.allclose(attack.score_matrix(case, rng=9), wanted, 1e-11, 1e-11)
        started = TfR(3, b=5.0, iterations=4, start="first").score_matrix(case, rng=9)
        firsts = start_rows(case.reference, 35, "first", 5.0)(0, 7)
        assert np.allclose(started, move_scores(case.released, dense, firsts), 1e-11, 1e-11)

    def test_finds_everybody_in_her_own_reference(self, make_case: Callable[..., Case]) -> None:
        case = make_case(2, users=30, slots=5, days=4, gaps=0.0)
        same = Case(case.city, case.reference, SetTraces.of_traces(case.reference))
        assert TfR(4, b=1.0).identify(same, rng=1).users.tolist() == list(range(30))
