from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from slowchains import counts_of, move_scores

from tracecup.attack import Case
from tracecup.attack.markov.chains import Moves
from tracecup.attack.markov.factors import factored_chains, factorise, gaussian_factors
from tracecup.attack.markov.scoring import ChainScores
from tracecup.streams import child, fill_normals, stream_key
from tracecup.synth.features import widened
from tracecup.synth.sampler import HYPER, ROWS, draw_hyper


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


def below(key: tuple[np.uint64, np.uint64], *names: int) -> tuple[np.uint64, np.uint64]:
    """The key of a stream below another."""
    for name in names:
        first, second = child(*key, np.uint64(name))
        key = np.uint64(first), np.uint64(second)
    return key


def draw_row(
    design: np.ndarray,
    values: np.ndarray,
    hyper: tuple[np.ndarray, np.ndarray],
    key: tuple[np.uint64, np.uint64],
) -> np.ndarray:
    """x ~ N(P^-1 h, P^-1) of a linear model with noise of precision 200, from its definition."""
    mean, prior = hyper
    precision = prior + 200.0 * design.T @ design
    centre = np.linalg.solve(precision, prior @ mean + 200.0 * design.T @ values)
    noise = np.empty(len(mean))
    fill_normals(*key, noise)
    return centre + np.linalg.solve(np.linalg.cholesky(precision).T, noise)


class TestGaussianFactors:
    def test_agrees_with_a_dense_gibbs_sampler(self, make_case: Callable[..., Case]) -> None:
        reference = make_case(2, users=4, nx=3, ny=2, slots=5, days=3).reference
        tensor = np.minimum(np.array(counts_of(reference, 6)), 10)
        found = gaussian_factors(Moves.of_traces(reference, 6), 6, z=2, iterations=3, rng=5)
        # 36 positions are fewer than 1000 zeros: everything is observed
        random = np.random.default_rng(5)
        stream_key(random)
        key = stream_key(random)
        a, b, c = (random.random((n, 2)) for n in (4, 6, 6))
        for sweep in (1, 2, 3):
            philox = np.random.Philox(key=np.array(below(key, HYPER, sweep)))
            hypers = np.random.Generator(philox)
            of_a, of_b, of_c = (draw_hyper(widened(x), 2, False, hypers) for x in (a, b, c))
            rows = below(key, ROWS, sweep)
            pairs = np.einsum("ik,jk->ijk", b, c).reshape(-1, 2)
            for u in range(4):
                a[u] = draw_row(pairs, tensor[u].ravel(), of_a, below(rows, 0, u))
            pairs = np.einsum("uk,jk->ujk", a, c).reshape(-1, 2)
            for i in range(6):
                b[i] = draw_row(pairs, tensor[:, i].ravel(), of_b, below(rows, 1, i))
            pairs = np.einsum("uk,ik->uik", a, b).reshape(-1, 2)
            for j in range(6):
                c[j] = draw_row(pairs, tensor[:, :, j].ravel(), of_c, below(rows, 2, j))
        assert np.allclose(found.weights, a, 1e-8)
        assert np.allclose(found.left, b, 1e-8)
        assert np.allclose(found.right, c, 1e-8)

    def test_rates_have_a_floor_and_rows_sum_to_one(self, moves: Moves) -> None:
        factors = gaussian_factors(moves, 35, 3, 4, rng=1)
        rate = np.einsum("uk,ik,jk->uij", factors.weights, factors.left, factors.right)
        assert (rate < 0).any()
        rate = np.maximum(rate, 1e-8)
        chains = factored_chains(moves, factors, b=1e12)
        for u in range(20):
            wanted = rate[u] / rate[u].sum(axis=1, keepdims=True)
            assert np.allclose(chains.matrix(u), wanted, 1e-6, 1e-10)
            assert np.allclose(factored_chains(moves, factors).matrix(u).sum(axis=1), 1.0, 1e-12)

    @pytest.mark.parametrize("users", [6, 70])
    def test_scores_are_those_of_the_dense_matrices(
        self, make_case: Callable[..., Case], users: int
    ) -> None:
        case = make_case(4, users=users, slots=4)
        moves = Moves.of_traces(case.reference, 35)
        chains = factored_chains(moves, gaussian_factors(moves, 35, 3, 3, rng=1), 4.0)
        wanted = move_scores(case.released, [chains.matrix(u) for u in range(users)])
        assert np.allclose(ChainScores(case.released, chains).rows(0, users), wanted, 1e-10)

    def test_same_seed_same_factors_whatever_the_threads(
        self, moves: Moves, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = []
        for threads in ("1", "3"):
            monkeypatch.setenv("TRACECUP_THREADS", threads)
            found.append(gaussian_factors(moves, 35, 3, 2, rng=7))
        assert np.array_equal(found[0].weights, found[1].weights)
        assert np.array_equal(found[0].right, found[1].right)


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
