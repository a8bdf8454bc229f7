from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.errors import InvalidTraces
from tracecup.usefulness import (
    DayTraces,
    Records,
    Timetable,
    grid_coordinates,
    population,
    sliced_wasserstein,
    tp_swd,
    tp_tv,
    tp_tv_top50,
    uniform_population,
)
from tracecup.usefulness.timepopulation import top_weights


def slow_population(days: np.ndarray, slots: int, n: int) -> np.ndarray:
    shares = np.zeros((days.shape[1], slots, n))
    per_slot = days.shape[2] // slots
    for d in range(days.shape[1]):
        for t in range(slots):
            seen = [
                days[u, d, k]
                for u in range(days.shape[0])
                for k in range(t * per_slot, (t + 1) * per_slot)
                if days[u, d, k] >= 0
            ]
            for i in range(n):
                shares[d, t, i] = seen.count(i) / len(seen) if seen else 1 / n
    return shares


def slow_top_tv(p: np.ndarray, q: np.ndarray, top: int) -> float:
    """Mean over all ways to break the ties, found by trying every order of the locations."""
    total = []
    for a, b in zip(p, q, strict=True):
        orders = list(itertools.permutations(range(len(a))))
        ranked = [sorted(order, key=lambda i: -a[i])[:top] for order in orders]
        total.append(np.mean([0.5 * sum(abs(a[i] - b[i]) for i in chosen) for chosen in ranked]))
    return float(np.mean(total))


def random_shares(seed: int, *shape: int) -> np.ndarray:
    counts = np.random.default_rng(seed).integers(0, 4, shape) + 0.0
    counts[..., 0] += 1
    return counts / counts.sum(axis=-1, keepdims=True)


class TestPopulation:
    def test_agrees_with_the_slow_loop(self):
        days = np.random.default_rng(0).integers(-1, 5, (6, 3, 8))
        found = population(DayTraces.of(days, n_locations=5, slots=4))
        assert found == pytest.approx(slow_population(days, 4, 5))

    def test_records_and_complete_days_agree(self):
        days = np.random.default_rng(1).integers(0, 4, (5, 1, 6))
        records = Records.of(
            np.repeat(np.arange(5), 6),
            days.ravel(),
            np.tile(np.arange(6), 5),
            n_locations=4,
            timetable=Timetable(0, 60, 6, 6),
        )
        assert np.array_equal(population(records), population(DayTraces.of(days, n_locations=4)))

    def test_empty_slot_is_uniform(self):
        found = population(DayTraces.of([[[0, -1]]], n_locations=4))
        assert found.tolist() == [[[1, 0, 0, 0], [0.25] * 4]]


class TestTpTv:
    def test_by_hand(self):
        # Slot 0: |1/2 - 1/4| + |1/2 - 3/4| = 1/2, TV 1/4; slot 1: equal.
        truth = [[0.5, 0.5], [1.0, 0.0]]
        assert tp_tv(truth, [[0.25, 0.75], [1.0, 0.0]]).value == 0.125

    def test_days_are_evaluated_one_by_one(self):
        # Pooled, the two days would equal the truth.
        found = tp_tv([[0.5, 0.5]], [[[1.0, 0.0]], [[0.0, 1.0]]])
        assert found.parts.tolist() == [0.5, 0.5]
        assert found.value == 0.5

    @given(st.integers(0, 2**32 - 1))
    def test_metric_properties(self, seed: int):
        p, q, r = (random_shares(seed + k, 3, 6) for k in range(3))
        assert tp_tv(p, p).value == 0
        assert 0 <= tp_tv(p, q).value <= 1
        assert tp_tv(p, q).value == pytest.approx(tp_tv(q, p).value)
        assert tp_tv(p, r).value <= tp_tv(p, q).value + tp_tv(q, r).value + 1e-12

    def test_disjoint_places_are_at_distance_one(self):
        assert tp_tv([[1.0, 0.0]], [[0.0, 1.0]]).value == 1

    def test_shapes_that_do_not_fit_are_named(self):
        with pytest.raises(InvalidTraces, match=r"truth has the shape \(1, 1, 2\)"):
            tp_tv([[0.5, 0.5]], [[1.0, 0.0, 0.0]])
        with pytest.raises(InvalidTraces, match="the truth needs the shape"):
            tp_tv(np.zeros((2, 1, 2)), [[0.5, 0.5]])


class TestTpTvTop50:
    def test_by_hand_without_ties(self):
        found = tp_tv_top50([[0.5, 0.3, 0.2]], [[0.1, 0.1, 0.8]], top=2)
        assert found.value == pytest.approx(0.5 * (0.4 + 0.2))

    @pytest.mark.parametrize("seed", range(6))
    def test_is_the_expectation_over_all_tie_orders(self, seed: int):
        p, q = random_shares(seed, 3, 5), random_shares(seed + 100, 3, 5)
        for top in (1, 2, 3, 4):
            assert tp_tv_top50(p, q, top).value == pytest.approx(slow_top_tv(p, q, top))

    @given(st.integers(0, 2**32 - 1), st.integers(1, 9))
    def test_weights_always_add_up_to_the_places(self, seed: int, top: int):
        weights = top_weights(random_shares(seed, 4, 7), top)
        assert weights.sum(axis=1) == pytest.approx(np.full(4, min(top, 7)))
        assert weights.min() >= 0
        assert weights.max() <= 1

    @given(st.integers(0, 2**32 - 1))
    def test_at_most_tp_tv_and_equal_with_all_places(self, seed: int):
        p, q = random_shares(seed, 3, 6), random_shares(seed + 1, 3, 6)
        assert tp_tv_top50(p, q, 3).value <= tp_tv(p, q).value + 1e-12
        assert tp_tv_top50(p, q, 50).value == pytest.approx(tp_tv(p, q).value)

    def test_top_must_be_positive(self):
        with pytest.raises(InvalidTraces, match="top must be >= 1"):
            tp_tv_top50([[1.0]], [[1.0]], top=0)


class TestTpSwd:
    def test_mean_of_the_slots_sliced_distances(self):
        from scipy import sparse

        p, q = random_shares(3, 2, 6), random_shares(4, 2, 6)
        points = grid_coordinates(3, 2)
        rows = [sliced_wasserstein(sparse.csr_array((p - q)[[t]]), points)[0] for t in range(2)]
        assert tp_swd(p, q, points).value == pytest.approx(np.mean(rows))

    def test_zero_on_itself(self):
        p = random_shares(5, 2, 6)
        assert tp_swd(p, p, grid_coordinates(3, 2)).value == 0


class TestPublishedFigures:
    def test_tp_tv(self, people_flow: tuple[Records, Records]):
        p, q = (population(records) for records in people_flow)
        assert round(tp_tv(p, q).value, 5) == 0.38553
        assert round(tp_tv(p, uniform_population(30, 400)).value, 5) == 0.54098

    def test_tp_swd(self, people_flow: tuple[Records, Records]):
        p, q = (population(records) for records in people_flow)
        points = grid_coordinates(20, 20)
        assert round(tp_swd(p, q, points).value, 5) == 0.32040
        assert round(tp_swd(p, uniform_population(30, 400), points).value, 5) == 1.51881

    def test_tp_tv_top50(self, people_flow: tuple[Records, Records]):
        p, q = (population(records) for records in people_flow)
        assert tp_tv_top50(p, q).value == pytest.approx(0.1213, abs=0.001)
        assert round(tp_tv_top50(p, q).value, 5) == 0.12132
        assert round(tp_tv_top50(p, uniform_population(30, 400)).value, 4) == 0.1983
