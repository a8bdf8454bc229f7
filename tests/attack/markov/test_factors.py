from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from slowchains import counts_of

from tracecup.attack import Case
from tracecup.attack.markov.chains import Moves
from tracecup.attack.markov.factors import factored_chains, factorise


@pytest.fixture(scope="module")
def moves(make_case: Callable[..., Case]) -> Moves:
    return Moves.of_traces(make_case(1, users=20, slots=6, days=4).reference, 35)


class TestFactorise:
    def test_agrees_with_dense_expectation_maximisation(
        self, make_case: Callable[..., Case]
    ) -> None:
        reference = make_case(2, users=4, nx=3, ny=2, slots=5, days=3).reference
        tensor = np.array(counts_of(reference, 6))
        factors = factorise(Moves.of_traces(reference, 6), 6, z=2, iterations=3, rng=5)
        random = np.random.default_rng(5)
        a = random.random((4, 2)) + 1e-3
        b, c = (random.random((6, 2)) + 0.01 for _ in range(2))
        b, c = b / b.sum(axis=0), c / c.sum(axis=0)
        for _ in range(3):
            part = np.einsum("uk,ik,jk->uijk", a, b, c)
            g = tensor[..., None] * part / part.sum(axis=-1, keepdims=True)
            a = g.sum(axis=(1, 2)) + 1e-3
            b, c = g.sum(axis=(0, 2)) + 0.01, g.sum(axis=(0, 1)) + 0.01
            b, c = b / b.sum(axis=0), c / c.sum(axis=0)
        assert np.allclose(factors.weights, a, 1e-10)
        assert np.allclose(factors.left, b, 1e-10)
        assert np.allclose(factors.right, c, 1e-10)

    def test_the_penalised_likelihood_never_falls(self, moves: Moves) -> None:
        objective = np.array(factorise(moves, 35, 4, 30, rng=1).objective)
        assert (np.diff(objective) >= -1e-9 * np.abs(objective[1:])).all()
        assert objective[-1] > objective[0]

    def test_same_seed_same_factors(self, moves: Moves) -> None:
        one, two = (factorise(moves, 35, 3, 4, rng=7) for _ in range(2))
        assert np.array_equal(one.weights, two.weights)
        assert np.array_equal(one.left, two.left)


class TestFactoredChains:
    def test_one_factor_forgets_where_one_was(self, moves: Moves) -> None:
        factors = factorise(moves, 35, 1, 5, rng=1)
        matrix = factored_chains(moves, factors, b=1e12).matrix(3)
        assert np.allclose(matrix, factors.right[:, 0][None, :], 1e-6)

    def test_rows_sum_to_one(self, moves: Moves) -> None:
        chains = factored_chains(moves, factorise(moves, 35, 4, 5, rng=1))
        assert np.allclose([chains.matrix(u).sum(axis=1) for u in range(20)], 1.0, 1e-12)

    def test_little_weight_gives_plain_shares(self, moves: Moves) -> None:
        matrix = factored_chains(moves, factorise(moves, 35, 4, 5, rng=1), b=1e-9).matrix(2)
        rows = slice(moves.user_rows[2], moves.user_rows[3])
        for q, i in zip(range(rows.start, rows.stop), moves.left[rows], strict=True):
            at = slice(moves.row_moves[q], moves.row_moves[q + 1])
            assert np.allclose(matrix[i, moves.to[at]], moves.count[at] / moves.total[q], 1e-6)

    def test_much_weight_gives_the_factors(self, moves: Moves) -> None:
        factors = factorise(moves, 35, 4, 5, rng=1)
        rate = np.einsum("k,ik,jk->ij", factors.weights[2], factors.left, factors.right)
        matrix = factored_chains(moves, factors, b=1e12).matrix(2)
        assert np.allclose(matrix, rate / rate.sum(axis=1, keepdims=True), 1e-6)
