from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats

from tracecup.errors import InvalidTraces
from tracecup.usefulness import (
    DayTraces,
    Records,
    Timetable,
    grid_coordinates,
    random_directions,
    tm_emd,
    tm_emd_x,
    tm_emd_y,
    tm_tv,
    transition_matrices,
    uniform_transitions,
)

FOUR = Timetable(0, 60, 4, 4)
POINTS = grid_coordinates(3, 2)


def slow_matrix(sequences: list[list[int]], n: int) -> np.ndarray:
    counts = np.zeros((n, n))
    for sequence in sequences:
        for i, j in itertools.pairwise(sequence):
            if i >= 0 and j >= 0:
                counts[i, j] += 1
    for i in range(n):
        if counts[i].sum() == 0:
            counts[i, i] = 1
        counts[i] /= counts[i].sum()
    return counts


def random_matrix(seed: int, n: int = 6) -> sparse.csr_array:
    rng = np.random.default_rng(seed)
    sequences = rng.integers(0, n, (3, 1, 7))
    return transition_matrices(DayTraces.of(sequences, n_locations=n))[0]


class TestTransitionMatrices:
    def test_days_agree_with_the_slow_loop(self):
        days = np.random.default_rng(0).integers(-1, 6, (4, 3, 7))
        found = transition_matrices(DayTraces.of(days, n_locations=6))
        for d in range(3):
            assert found[d].toarray() == pytest.approx(slow_matrix(days[:, d].tolist(), 6))

    def test_records_by_hand(self):
        # User 0: 0 -> 1 -> 0 -> 0; user 1: 0, then a gap, 1. Nobody leaves 2.
        records = Records.of(
            [0, 0, 0, 0, 1, 1],
            [0, 1, 0, 0, 0, 1],
            [0, 1, 2, 3, 0, 2],
            n_locations=3,
            timetable=FOUR,
        )
        expected = [[0.5, 0.5, 0], [1, 0, 0], [0, 0, 1]]
        assert transition_matrices(records)[0].toarray().tolist() == expected

    @given(st.integers(0, 2**32 - 1))
    def test_rows_are_distributions(self, seed: int):
        rows = random_matrix(seed).toarray()
        assert rows.min() >= 0
        assert rows.sum(axis=1) == pytest.approx(np.ones(6))


class TestTmTv:
    def test_by_hand_over_all_rows(self):
        truth = sparse.csr_array(np.array([[0.5, 0.5], [0.0, 1.0]]))
        other = sparse.csr_array(np.array([[1.0, 0.0], [0.0, 1.0]]))
        assert tm_tv(truth, [other]).value == 0.25

    def test_agrees_with_the_slow_loop_and_averages_days(self):
        truth, others = random_matrix(1), [random_matrix(2), random_matrix(3)]
        days = []
        for other in others:
            p, q = truth.toarray(), other.toarray()
            days.append(np.mean([0.5 * sum(abs(p[i] - q[i])) for i in range(6)]))
        assert tm_tv(truth, others).parts == pytest.approx(days)
        assert tm_tv(truth, others).value == pytest.approx(np.mean(days))

    @given(st.integers(0, 2**32 - 1))
    def test_symmetric_in_range_and_zero_on_itself(self, seed: int):
        p, q = random_matrix(seed), random_matrix(seed + 1)
        assert tm_tv(p, [p]).value == 0
        assert 0 <= tm_tv(p, [q]).value <= 1
        assert tm_tv(p, [q]).value == pytest.approx(tm_tv(q, [p]).value)

    def test_shapes_and_days_are_checked(self):
        with pytest.raises(InvalidTraces, match="another"):
            tm_tv(random_matrix(1), [random_matrix(1, n=5)])
        with pytest.raises(InvalidTraces, match="at least one day"):
            tm_tv(random_matrix(1), [])


class TestTmEmd:
    def test_agrees_with_scipy_row_by_row(self):
        truth, other = random_matrix(4), random_matrix(5)
        rows = []
        for p, q in zip(truth.toarray(), other.toarray(), strict=True):
            lines = [POINTS @ line for line in random_directions()]
            rows.append(np.mean([stats.wasserstein_distance(x, x, p, q) for x in lines]))
        assert tm_emd(truth, [other], POINTS).value == pytest.approx(np.mean(rows))

    def test_days_are_averaged(self):
        truth, others = random_matrix(1), [random_matrix(2), random_matrix(3)]
        each = [tm_emd(truth, [other], POINTS).value for other in others]
        assert tm_emd(truth, others, POINTS).parts == pytest.approx(each)

    def test_rows_empty_on_both_sides_count_as_zero(self):
        # Two cells one apart in x: only row 0 differs, by one cell; the others stay.
        truth = sparse.csr_array(np.eye(6))
        moved = np.eye(6)
        moved[0] = [0, 1, 0, 0, 0, 0]
        assert tm_emd_x(truth, [sparse.csr_array(moved)], POINTS).value == pytest.approx(1 / 6)

    def test_per_axis_distances_are_those_of_the_marginals(self):
        truth, other = random_matrix(6), random_matrix(7)
        x, y = [], []
        for p, q in zip(truth.toarray(), other.toarray(), strict=True):
            a, b = p.reshape(2, 3), q.reshape(2, 3)
            x.append(np.abs(np.cumsum(a.sum(axis=0) - b.sum(axis=0))).sum())
            y.append(np.abs(np.cumsum(a.sum(axis=1) - b.sum(axis=1))).sum())
        assert tm_emd_x(truth, [other], POINTS).value == pytest.approx(np.mean(x))
        assert tm_emd_y(truth, [other], POINTS).value == pytest.approx(np.mean(y))


class TestPublishedFigures:
    def test_tm_tv(self, people_flow: tuple[Records, Records]):
        train, test = (transition_matrices(records) for records in people_flow)
        assert round(tm_tv(train[0], test).value, 5) == 0.29951
        assert round(tm_tv(train[0], [uniform_transitions(400)]).value, 5) == 0.98835

    def test_tm_emd(self, people_flow: tuple[Records, Records]):
        train, test = (transition_matrices(records) for records in people_flow)
        points = grid_coordinates(20, 20)
        assert round(tm_emd(train[0], test, points).value, 5) == 0.62226
        assert round(tm_emd(train[0], [uniform_transitions(400)], points).value, 5) == 6.20919

    def test_people_flow_has_48_rows_without_transition(self, people_flow: tuple[Records, Records]):
        _, before, _ = people_flow[0].steps()
        assert 400 - len(np.unique(before)) == 48
