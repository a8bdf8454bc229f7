"""Linear programmes: hand-computed values, duality, the closed form, the exact inequality."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from tracecup.city import Grid
from tracecup.errors import InvalidParameter
from tracecup.obfuscate.programmes import (
    Mechanism,
    dilation,
    least_error,
    least_loss,
    most_private,
)

TWO = np.array([[0.0, 0.34125], [0.34125, 0.0]])


def tile(width: int, height: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distances of a tile, its edges to eight and to four neighbours."""
    grid = Grid.from_metres(width, height, width_m=341.25, height_m=346.875)
    columns = np.abs(grid.x[:, None] - grid.x)
    rows = np.abs(grid.y[:, None] - grid.y)
    return grid.distances, np.maximum(columns, rows) == 1, columns + rows == 1


def closed_form(prior: np.ndarray, distance: np.ndarray, quality: float) -> Mechanism:
    """The optimum when privacy and quality use the same metric d: min(Q, E0).

    E0 = min_y sum_x pi(x) d(x, y), attained at y0, is the error without any report. Report y0
    with probability q = min(1, Q / E0), otherwise the truth. The attacker can answer with the
    report itself, so nobody does better; and after y0 every guess errs by at least q E0.
    """
    centre, alone = least_error(prior, distance)
    share = 1.0 if alone <= quality else quality / alone
    f = (1 - share) * np.eye(len(prior))
    f[:, centre] += share
    return Mechanism(f, min(quality, alone))


def best_guess(prior: np.ndarray, f: np.ndarray, dp: np.ndarray) -> float:
    """The attacker's expected error, every guess after every report looked at."""
    joint = prior[:, None] * f
    return float(sum(min(dp[g] @ joint[:, z] for g in range(len(dp))) for z in range(len(prior))))


def dual_value(prior: np.ndarray, dp: np.ndarray, dq: np.ndarray, quality: float) -> float:
    """Shokri's other programme: the attacker's best strategy h(g|z) against every mechanism.

    minimise sum_x y_x + Q w with y_x + w pi(x) dq(x, z) >= pi(x) sum_g h(g|z) dp(g, x).
    """
    n = len(prior)
    rows, right = [], []
    for x in range(n):
        for z in range(n):
            row = np.zeros(n * n + n + 1)
            row[z * n : (z + 1) * n] = prior[x] * dp[:, x]
            row[n * n + x] = -1.0
            row[-1] = -prior[x] * dq[x, z]
            rows.append(row)
            right.append(0.0)
    equal = np.zeros((n, n * n + n + 1))
    for z in range(n):
        equal[z, z * n : (z + 1) * n] = 1.0
    aim = np.concatenate([np.zeros(n * n), np.ones(n), [quality]])
    bounds = [(0, None)] * (n * n) + [(None, None)] * n + [(0, None)]
    return float(linprog(aim, np.array(rows), right, equal, np.ones(n), bounds).fun)


class TestMostPrivate:
    @pytest.mark.parametrize(
        ("prior", "quality", "value"),
        [
            ((0.5, 0.5), 0.1, 0.1),
            ((0.5, 0.5), 0.170625, 0.170625),
            ((0.5, 0.5), 0.5, 0.170625),
            ((0.9, 0.1), 0.02, 0.02),
            ((0.9, 0.1), 0.1, 0.034125),
        ],
    )
    def test_two_regions(self, prior: tuple[float, ...], quality: float, value: float) -> None:
        law = np.array(prior)
        assert most_private(law, TWO, TWO, quality).value == pytest.approx(value, abs=1e-9)
        assert closed_form(law, TWO, quality).value == pytest.approx(value, abs=1e-12)

    @pytest.mark.parametrize("quality", [0.1, 0.3, 0.6, 2.0])
    def test_equals_the_closed_form_and_the_dual(self, quality: float) -> None:
        d = np.minimum(tile(4, 3)[0], 1.0)
        prior = np.random.default_rng(3).dirichlet(np.ones(12))
        solved, closed = most_private(prior, d, d, quality), closed_form(prior, d, quality)
        assert solved.value == pytest.approx(closed.value, abs=1e-8)
        assert best_guess(prior, solved.f, d) == pytest.approx(closed.value, abs=1e-8)
        assert best_guess(prior, closed.f, d) == pytest.approx(closed.value, abs=1e-12)
        assert dual_value(prior, d, d, quality) == pytest.approx(closed.value, abs=1e-8)

    def test_with_weights_primal_and_dual_agree(self) -> None:
        d = tile(4, 3)[0]
        prior = np.random.default_rng(4).dirichlet(np.ones(12))
        weighted = d * np.where(np.arange(12) % 5 == 0, 10.0, 1.0)
        solved = most_private(prior, weighted, d, 0.2)
        assert solved.value == pytest.approx(dual_value(prior, weighted, d, 0.2), abs=1e-7)
        assert best_guess(prior, solved.f, weighted) == pytest.approx(solved.value, abs=1e-7)
        assert solved.value > 0.2

    def test_quality_is_spent_and_the_value_is_concave(self) -> None:
        d = tile(4, 3)[0]
        prior = np.random.default_rng(5).dirichlet(np.ones(12))
        weighted = d * np.where(np.arange(12) % 5 == 0, 10.0, 1.0)
        values = []
        for quality in (0.05, 0.1, 0.15, 0.2):
            solved = most_private(prior, weighted, d, quality)
            loss = float((prior[:, None] * solved.f * d).sum())
            assert loss == pytest.approx(quality, abs=1e-7)
            values.append(solved.value)
        steps = np.diff(values)
        assert (steps > 0).all()
        assert (np.diff(steps) <= 1e-9).all()

    def test_reports_stay_within_what_is_allowed(self) -> None:
        d = tile(5, 4)[0]
        prior = np.random.default_rng(6).dirichlet(np.ones(20))
        prior[3] = 0.0
        allowed = d <= 0.5
        f = most_private(prior / prior.sum(), d, d, 0.2, allowed).f
        assert (f[~allowed] == 0).all()
        assert np.allclose(f.sum(axis=1), 1.0)
        assert f[3, 3] == 1.0

    def test_refuses_what_would_run_for_hours(self) -> None:
        n = 400
        with pytest.raises(InvalidParameter, match="smaller reach"):
            most_private(np.full(n, 1 / n), np.ones((n, n)), np.ones((n, n)), 0.5)


class TestLeastError:
    def test_ties_go_to_the_smallest(self) -> None:
        assert least_error(np.array([0.5, 0.5]), TWO) == (0, pytest.approx(0.170625))


class TestDilation:
    def test_of_eight_and_four_neighbours(self) -> None:
        d, eight, four = tile(8, 8)
        assert dilation(d, eight) == pytest.approx(1.0842, abs=1e-4)
        assert dilation(d, four) == pytest.approx(1.4142, abs=2e-4)


class TestLeastLoss:
    def test_two_regions(self) -> None:
        solved = least_loss(np.full(2, 0.5), TWO, TWO, np.log(3) / 0.34125, TWO > 0)
        assert np.allclose(solved.f, [[0.75, 0.25], [0.25, 0.75]], atol=1e-9)
        assert solved.value == pytest.approx(0.34125 / 4, abs=1e-9)

    @pytest.mark.parametrize("epsilon", [0.3, 2.0, 6.0])
    def test_is_private_and_no_worse_than_the_exponential_mechanism(self, epsilon: float) -> None:
        d, eight, _ = tile(4, 4)
        prior = np.random.default_rng(7).dirichlet(np.ones(16))
        solved = least_loss(prior, d, d, epsilon, eight)
        stretch = dilation(d, eight)
        for x in range(16):
            for other in range(16):
                near = epsilon / stretch if eight[x, other] else epsilon
                bound = np.exp(near * d[x, other]) * solved.f[other]
                assert (solved.f[x] <= bound + 1e-12).all()
        weights = np.exp(-epsilon * d / (2 * stretch))
        exponential = weights / weights.sum(axis=1, keepdims=True)
        assert solved.value <= float((prior[:, None] * exponential * d).sum()) + 1e-9

    def test_loss_falls_with_the_budget(self) -> None:
        d, eight, _ = tile(4, 4)
        prior = np.full(16, 1 / 16)
        losses = [least_loss(prior, d, d, eps, eight).value for eps in (0.5, 1.0, 2.0, 4.0, 8.0)]
        assert losses == sorted(losses, reverse=True)
