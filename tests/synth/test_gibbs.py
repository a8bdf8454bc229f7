from __future__ import annotations

import numpy as np
import pytest

from tracecup.streams import child, fill_normals, stream_key
from tracecup.synth import gibbs, make_tensors
from tracecup.synth.features import widened
from tracecup.synth.zeros import draw_absent, table_size

Z, RHO, ALPHA = 3, 11, 7.0
NOTHING = (np.zeros(1, np.int64), np.empty(0, np.uint16), np.empty(0, np.uint16))


def normals(key, row):
    out = np.empty(Z)
    fill_normals(*(np.uint64(w) for w in child(*key, np.uint64(row))), out)
    return out


def posterior_draw(design, values, mean, precision, noise, common=0.0):
    """x ~ N(P^-1 h, P^-1) of a linear-Gaussian model, from its definition."""
    P = precision + ALPHA * (design.T @ design + common)
    centre = np.linalg.solve(P, precision @ mean + ALPHA * design.T @ values)
    return centre + np.linalg.solve(np.linalg.cholesky(P).T, noise)


class Problem:
    """A small training, all of whose observations are listed one by one."""

    def __init__(self, town):
        random = np.random.default_rng(1)
        self.tensors = tensors = make_tensors(town, rng=1)
        self.n, self.locations, self.slots = tensors.n_users, tensors.n_locations, tensors.slots
        self.A = random.normal(size=(self.n, Z))
        self.B = random.normal(size=(self.locations, Z))
        self.CD = random.normal(size=(self.locations + self.slots, Z))
        root = random.normal(size=(Z, Z))
        self.precision, self.mean = root @ root.T + np.eye(Z), random.normal(size=Z)
        self.weights = np.ones((self.n, 2))
        self.rates = np.zeros((self.n, 2))
        self.common = np.zeros((2, 8, 8))
        self.zero_key, self.key = stream_key(5), stream_key(6)
        most = int(np.diff(tensors.offsets).max())
        self.elements = (
            tensors.offsets, tensors.transitions, tensors.origin, tensors.context, tensors.value,
        )  # fmt: skip
        self.zeros = (RHO, most, self.locations, self.slots, 16, *self.zero_key)

    def observations(self):
        """(user, origin, context, value, is a visit) of counts and sampled zeros."""
        tensors, found = self.tensors, []
        for u in range(self.n):
            first = int(tensors.offsets[u])
            middle, last = first + int(tensors.transitions[u]), int(tensors.offsets[u + 1])
            for visit, low, high in ((0, first, middle), (1, middle, last)):
                for e in range(low, high):
                    found.append(
                        (
                            u,
                            int(tensors.origin[e]),
                            int(tensors.context[e]),
                            tensors.value[e],
                            visit,
                        )
                    )
                row, column = (np.zeros(200, np.uint16) for _ in range(2))
                taken = high - low
                row[:taken], column[:taken] = tensors.origin[low:high], tensors.context[low:high]
                key = (np.uint64(w) for w in child(*self.zero_key, np.uint64(2 * u + visit)))
                end = draw_absent(
                    *key,
                    RHO,
                    self.locations,
                    self.slots if visit else self.locations,
                    row, column, 0, taken, taken,
                    self.locations if visit else 0,
                    np.empty(table_size(taken, RHO), np.uint32),
                )  # fmt: skip
                found += [(u, int(row[e]), int(column[e]), 0, visit) for e in range(taken, end)]
        return found

    def users(self, A, low=0, high=None):
        """Run the first pass; A is written, sums for B are returned."""
        high = self.n if high is None else high
        precision, shifts = np.zeros((self.locations, 8, 8)), np.zeros((self.locations, 8))
        gibbs.user_pass(
            low, high, self.elements, self.zeros, NOTHING, self.weights, self.rates,
            widened(self.B), widened(self.CD), self.common, self.precision,
            self.precision @ self.mean, ALPHA, Z, *self.key, A, precision, shifts,
        )  # fmt: skip
        return precision, shifts

    def contexts(self, low=0, high=None):
        high = self.n if high is None else high
        rows = self.locations + self.slots
        precision, shifts = np.zeros((rows, 8, 8)), np.zeros((rows, 8))
        gibbs.context_pass(
            low, high, self.elements, self.zeros, NOTHING, self.weights, widened(self.A),
            widened(self.B), precision, shifts,
        )  # fmt: skip
        return precision, shifts

    def rows(self, parts, first, count):
        """Draw rows from the sums of blocks of users."""
        X = np.zeros((count, 8))
        precision, shifts = (
            np.stack(part)[:, first : first + count] for part in zip(*parts, strict=True)
        )
        gibbs.draw_rows(
            0, count, np.ascontiguousarray(precision), np.ascontiguousarray(shifts),
            np.zeros((8, 8)), self.precision, self.precision @ self.mean, ALPHA, Z, *self.key, X,
        )  # fmt: skip
        return X[:, :Z]


@pytest.fixture
def problem(town):
    return Problem(town)


class TestDrawGaussian:
    def test_is_the_mean_and_the_scaled_noise(self):
        random = np.random.default_rng(2)
        root, h, noise = random.normal(size=(5, 5)), random.normal(size=5), random.normal(size=5)
        P = root @ root.T + np.eye(5)
        expected = np.linalg.solve(P, h) + np.linalg.solve(np.linalg.cholesky(P).T, noise)
        out = np.zeros(8)
        gibbs.draw_gaussian(np.tril(P), h.copy(), noise, out)
        assert np.allclose(out[:5], expected, rtol=1e-12)


class TestUserPass:
    def test_rows_of_a_follow_their_posterior(self, problem):
        A = np.zeros((problem.n, 8))
        problem.users(A)
        seen = problem.observations()
        for u in range(problem.n):
            mine = [(problem.B[i] * problem.CD[k], r) for v, i, k, r, _ in seen if v == u]
            design, values = np.array([p for p, _ in mine]), np.array([float(r) for _, r in mine])
            expected = posterior_draw(
                design, values, problem.mean, problem.precision, normals(problem.key, u)
            )
            assert np.allclose(A[u, :Z], expected, rtol=1e-9)

    def test_weights_and_rates_of_expected_zeros(self, problem):
        random = np.random.default_rng(3)
        problem.zeros = (0, *problem.zeros[1:])
        problem.weights = random.random((problem.n, 2))
        problem.rates = random.random((problem.n, 2))
        problem.common[:, :Z, :Z] = [(x := random.normal(size=(Z, Z))) @ x.T for _ in range(2)]
        A = np.zeros((problem.n, 8))
        problem.users(A)
        seen = [entry for entry in problem.observations() if entry[3] > 0]
        for u in (0, problem.n - 1):
            P, h = problem.precision.copy(), problem.precision @ problem.mean
            for kind in range(2):
                P += ALPHA * problem.rates[u, kind] * problem.common[kind, :Z, :Z]
            for v, i, k, r, visit in seen:
                if v == u:
                    p = problem.B[i] * problem.CD[k]
                    P += ALPHA * problem.weights[u, visit] * np.outer(p, p)
                    h = h + ALPHA * float(r) * p
            noise = np.linalg.solve(np.linalg.cholesky(P).T, normals(problem.key, u))
            assert np.allclose(A[u, :Z], np.linalg.solve(P, h) + noise, rtol=1e-9)

    def test_rows_do_not_depend_on_the_block(self, problem):
        whole, part = np.zeros((problem.n, 8)), np.zeros((problem.n, 8))
        problem.users(whole)
        problem.users(part, 17, 21)
        assert np.array_equal(whole[17:21], part[17:21])
        assert not part[:17].any()


class TestDrawRows:
    def test_rows_of_b_follow_their_posterior(self, problem):
        A = np.zeros((problem.n, 8))
        parts = [problem.users(A, 0, 10), problem.users(A, 10)]
        drawn = problem.rows(parts, 0, problem.locations)
        seen = problem.observations()
        for i in range(problem.locations):
            mine = [(A[u, :Z] * problem.CD[k], r) for u, place, k, r, _ in seen if place == i]
            design = np.array([p for p, _ in mine]).reshape(-1, Z)
            expected = posterior_draw(
                design,
                np.array([float(r) for _, r in mine]),
                problem.mean,
                problem.precision,
                normals(problem.key, i),
            )
            assert np.allclose(drawn[i], expected, rtol=1e-9)

    @pytest.mark.parametrize("visits", [False, True], ids=["C", "D"])
    def test_rows_of_c_and_d_follow_their_posterior(self, problem, visits):
        parts = [problem.contexts(0, 16), problem.contexts(16)]
        first, count = (problem.locations, problem.slots) if visits else (0, problem.locations)
        drawn = problem.rows(parts, first, count)
        seen = problem.observations()
        for row in range(count):
            mine = [(problem.A[u] * problem.B[i], r) for u, i, k, r, _ in seen if k == first + row]
            design = np.array([p for p, _ in mine]).reshape(-1, Z)
            expected = posterior_draw(
                design,
                np.array([float(r) for _, r in mine]),
                problem.mean,
                problem.precision,
                normals(problem.key, row),
            )
            assert np.allclose(drawn[row], expected, rtol=1e-9)


class TestAddScatter:
    def test_is_the_weighted_sum(self):
        random = np.random.default_rng(4)
        X, scale = random.normal(size=(150, 8)), random.random(150)
        totals = np.zeros((1, 8, 8))
        gibbs.add_scatter(X, scale, totals)
        lower = np.tril_indices(8)
        assert np.allclose(totals[0][lower], ((X.T * scale) @ X)[lower], rtol=1e-12)
