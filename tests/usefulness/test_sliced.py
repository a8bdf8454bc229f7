from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats

from tracecup.errors import InvalidTraces
from tracecup.usefulness import grid_coordinates, random_directions, sliced_wasserstein
from tracecup.usefulness.sliced import AXIS_X, AXIS_Y


def random_rows(rng: np.random.Generator, rows: int, points: int) -> np.ndarray:
    mass = rng.random((rows, points)) * (rng.random((rows, points)) < 0.5)
    mass[:, 0] += 0.1
    return mass / mass.sum(axis=1, keepdims=True)


def distance(p: np.ndarray, q: np.ndarray, points: object, directions: object = None) -> np.ndarray:
    return sliced_wasserstein(sparse.csr_array(np.atleast_2d(p - q)), points, directions)


class TestSlicedWasserstein:
    def test_agrees_with_scipy_direction_by_direction(self):
        rng = np.random.default_rng(0)
        points, lines = grid_coordinates(4, 3), random_directions(7, seed=3)
        p, q = random_rows(rng, 5, 12), random_rows(rng, 5, 12)
        expected = [
            np.mean([stats.wasserstein_distance(points @ v, points @ v, a, b) for v in lines])
            for a, b in zip(p, q, strict=True)
        ]
        assert distance(p, q, points, lines) == pytest.approx(expected, abs=1e-12)

    def test_moving_mass_along_an_axis_costs_the_distance(self):
        points = grid_coordinates(5, 4)
        p, q = np.zeros(20), np.zeros(20)
        p[0], q[3 + 2 * 5] = 1, 1
        assert distance(p, q, points, AXIS_X) == pytest.approx([3])
        assert distance(p, q, points, AXIS_Y) == pytest.approx([2])

    def test_two_unit_masses_far_apart_in_many_directions(self):
        # Mean of |cos| over directions is 2/pi; 20,000 fixed draws have a standard error of
        # 0.0022, so 0.01 is a false alarm at less than 1e-5, and the seed is fixed.
        p, q = np.array([1.0, 0.0]), np.array([0.0, 1.0])
        found = distance(p, q, [[0, 0], [1, 0]], random_directions(20_000, seed=5))
        assert found == pytest.approx([2 / np.pi], abs=0.01)

    @given(st.integers(0, 2**32 - 1))
    def test_metric_properties(self, seed: int):
        rng = np.random.default_rng(seed)
        points = rng.normal(size=(6, 2))
        p, q, r = (random_rows(rng, 3, 6) for _ in range(3))
        assert distance(p, p, points) == pytest.approx([0, 0, 0], abs=1e-12)
        assert distance(p, q, points) == pytest.approx(distance(q, p, points))
        assert np.all(
            distance(p, r, points) <= distance(p, q, points) + distance(q, r, points) + 1e-12
        )

    @given(st.integers(0, 2**32 - 1), st.floats(-5, 5), st.floats(-5, 5), st.floats(0.1, 3))
    def test_translation_changes_nothing_and_scaling_scales(
        self, seed: int, dx: float, dy: float, scale: float
    ):
        rng = np.random.default_rng(seed)
        points = rng.normal(size=(6, 2))
        p, q = random_rows(rng, 2, 6), random_rows(rng, 2, 6)
        moved = distance(p, q, scale * points + [dx, dy])
        assert moved == pytest.approx(scale * distance(p, q, points), abs=1e-9)

    def test_threads_do_not_change_the_bytes(self, monkeypatch: pytest.MonkeyPatch):
        rng = np.random.default_rng(1)
        points, p, q = grid_coordinates(4, 4), random_rows(rng, 9, 16), random_rows(rng, 9, 16)
        found = []
        for threads in ("1", "2", "3"):
            monkeypatch.setenv("TRACECUP_THREADS", threads)
            found.append(distance(p, q, points).tobytes())
        assert len(set(found)) == 1

    def test_shapes_that_do_not_fit_are_named(self):
        rows = sparse.csr_array(np.zeros((1, 3)))
        with pytest.raises(InvalidTraces, match=r"3 locations need coordinates of shape \(3, 2\)"):
            sliced_wasserstein(rows, [[0, 0]])
        with pytest.raises(InvalidTraces, match=r"directions need the shape"):
            sliced_wasserstein(rows, np.zeros((3, 2)), np.zeros((2, 3)))
        with pytest.raises(InvalidTraces, match="finite"):
            sliced_wasserstein(rows, np.full((3, 2), np.nan))


class TestRandomDirections:
    def test_unit_vectors_of_the_legacy_stream(self):
        lines = random_directions()
        assert lines.shape == (50, 2)
        assert np.hypot(*lines.T) == pytest.approx(np.ones(50))
        drawn = np.random.RandomState(0).normal(size=100)
        assert lines[7] == pytest.approx(drawn[[7, 57]] / np.hypot(drawn[7], drawn[57]))
