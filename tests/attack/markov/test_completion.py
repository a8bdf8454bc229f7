from __future__ import annotations

from collections.abc import Callable

import numpy as np
from slowchains import likeliest_way

from tracecup.attack import Case
from tracecup.attack.markov import start_rows
from tracecup.attack.markov.chains import Moves
from tracecup.attack.markov.completion import completed_chains
from tracecup.attack.markov.factors import factored_chains, factorise
from tracecup.traces import Traces


class TestCompletedChains:
    def test_without_gaps_one_factorisation(self, make_case: Callable[..., Case]) -> None:
        case = make_case(1, users=4, gaps=0.0)
        moves = Moves.of_traces(case.reference, 35)
        wanted = factored_chains(moves, factorise(moves, 35, 2, 3, rng=5), 4.0)
        found = completed_chains(case.city, case.reference, 2, 4.0, 3, rounds=5, rng=5)
        assert np.array_equal(found.matrix(2), wanted.matrix(2))

    def test_gaps_are_filled_by_the_likeliest_way(self, make_case: Callable[..., Case]) -> None:
        case = make_case(2, users=4, slots=4, days=3, gaps=0.4)
        reference, random = case.reference, np.random.default_rng(5)
        moves = Moves.of_traces(reference, 35)
        chains = factored_chains(moves, factorise(moves, 35, 2, 3, rng=random), 4.0)
        starts = start_rows(reference, 35, "first", 4.0)
        filled = reference.regions.copy()
        for u in range(4):
            for day in range(3):
                seen = reference.regions[u, 4 * day : 4 * day + 4]
                cells = [np.ones(35) if r < 0 else np.eye(35)[r] for r in seen]
                way = likeliest_way(chains.matrix(u), starts(u, u + 1)[0], cells)
                filled[u, 4 * day : 4 * day + 4] = way
        moves = Moves.of_traces(Traces(filled, reference.users, reference.clock), 35)
        wanted = factored_chains(moves, factorise(moves, 35, 2, 3, rng=random), 4.0)
        found = completed_chains(case.city, reference, 2, 4.0, 3, rounds=1, rng=5)
        assert np.allclose(found.matrix(1), wanted.matrix(1), 1e-9, 1e-12)
