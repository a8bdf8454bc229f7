"""What a matrix of scores says: against a slow count over all choices, and by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracecup.study.attackmatrix import (
    blind,
    expected_minima,
    likeness,
    openings,
    side_by_side,
)

NAN = float("nan")


def slow_minimum(scores: list[float], base: float, k: int) -> float:
    """The mean over all choices, one by one."""
    return float(np.mean([min((base, *chosen)) for chosen in combinations(scores, k)]))


class TestExpectedMinima:
    @settings(max_examples=40)
    @given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.floats(0, 1))
    def test_against_all_choices(self, scores, base):
        found = expected_minima(np.array([scores]), np.array([[base]]))[0]
        assert found[0] == base
        for k in range(1, len(scores) + 1):
            assert found[k] == pytest.approx(slow_minimum(scores, base, k), abs=1e-12)

    def test_own_files_are_left_out(self):
        found = expected_minima(np.array([[0.2, NAN, 0.4]]), np.empty((1, 0)))[0]
        assert found[:3].tolist() == pytest.approx([1.0, 0.3, 0.2])
        assert np.isnan(found[3])


class TestLikeness:
    def test_by_hand(self):
        scores = np.array(
            [[0.1, 0.2, 0.1], [0.2, 0.4, 0.2], [0.3, 0.6, NAN], [0.4, 0.8, 1], [0.5, 1, 0.4]]
        )
        pairs = {(one.first, one.second): one for one in likeness(scores)}
        assert set(pairs) == {(0, 1), (0, 2), (1, 2)}
        assert pairs[0, 1].r == pytest.approx(1)
        assert (pairs[0, 1].files, pairs[0, 1].same) == (4, 0)
        # Three common files are too few for a correlation.
        assert np.isnan(pairs[0, 2].r)
        assert (pairs[0, 2].files, pairs[0, 2].same) == (3, 2)

    def test_those_alike_stand_side_by_side(self):
        rng = np.random.default_rng(1)
        first, second = rng.random((2, 12))
        noise = rng.normal(0, 0.01, (4, 12))
        scores = np.stack(
            [first + noise[0], second + noise[1], first + noise[2], second + noise[3]]
        )
        order = side_by_side(likeness(np.clip(scores, 0, 0.99).T), 4)
        assert {frozenset(order[:2]), frozenset(order[2:])} == {
            frozenset({0, 2}),
            frozenset({1, 3}),
        }

    def test_two_need_no_order(self):
        assert side_by_side([], 2) == [0, 1]


class TestOpenings:
    def test_by_hand(self):
        (one,) = openings(np.array([[0.6, NAN, 0.3, 0.45]]), 0.5)
        assert (one.best, one.by, one.second, one.second_by, one.below) == (0.3, 2, 0.45, 3, 2)


class TestBlind:
    def test_those_who_hardly_vary(self):
        rng = np.random.default_rng(2)
        scores = np.stack([rng.random(12), 0.776 + rng.normal(0, 0.001, 12), np.ones(12)], axis=1)
        assert blind(scores, 0.005) == [1]
        assert blind(scores[:9], 0.005) == []
