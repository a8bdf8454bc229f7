from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup import City, Grid, SetTraces, Traces
from tracecup.errors import InvalidTraces
from tracecup.score import expected_error_score, inference_score, utility_score
from tracecup.score.observed import (
    difference,
    event_weights,
    observed_error,
    observed_inference,
    observed_utility,
)

# Five regions in a row, 1 km wide; the second is a hospital.
CITY = City(Grid.from_metres(5, 1, width_m=1000, height_m=1000), hospitals=[1])

region = st.integers(0, 4)
cases = (
    st.integers(1, 4)
    .flatmap(
        lambda m: st.tuples(
            st.lists(st.lists(st.integers(-1, 4), min_size=3, max_size=3), min_size=m, max_size=m),
            st.lists(st.lists(region, min_size=3, max_size=3), min_size=m, max_size=m),
            st.lists(
                st.lists(st.lists(region, max_size=2), min_size=3, max_size=3),
                min_size=m,
                max_size=m,
            ),
        )
    )
    .filter(lambda case: any(r >= 0 for row in case[0] for r in row))
)


def slow(original, cells, inferred):
    """(s_U, s_T, error) by plain loops over observed events, 1 km between neighbours."""
    worth = weight = missed = distance = events = 0.0
    for i, row in enumerate(original):
        for j, truth in enumerate(row):
            if truth < 0:
                continue
            events += 1
            if cells[i][j]:
                alpha = sum(abs(truth - r) for r in cells[i][j]) / len(cells[i][j])
                worth += max(0.0, 1 - alpha / 2)
            w = 10.0 if truth == 1 else 1.0
            weight += w
            missed += w * min(1.0, abs(truth - inferred[i][j]) / 2)
            distance += abs(truth - inferred[i][j])
    return worth / events, missed / weight, distance / events


class TestAgainstLoops:
    @given(cases)
    def test_same_numbers(self, case):
        original, inferred, cells = case
        truth, guess = Traces.of(original), Traces.of(inferred)
        expected = slow(original, cells, inferred)
        found = (
            observed_utility(CITY, truth, SetTraces.of_cells(cells)),
            observed_inference(CITY, truth, guess),
            observed_error(CITY, truth, guess),
        )
        assert [score.value for score in found] == pytest.approx(expected, abs=1e-9)

    @given(cases)
    def test_own_values_are_those_of_the_user_alone(self, case):
        original, inferred, cells = case
        score = observed_inference(CITY, Traces.of(original), Traces.of(inferred))
        for i, row in enumerate(original):
            if all(r < 0 for r in row):
                assert math.isnan(score.per_user[i])
            else:
                alone = slow([row], [cells[i]], [inferred[i]])[1]
                assert score.per_user[i] == pytest.approx(alone, abs=1e-9)


class TestComplete:
    def test_contest_scores_come_out(self):
        rng = np.random.default_rng(1)
        truth = Traces.of(rng.integers(0, 5, (6, 8)))
        guess = Traces.of(rng.integers(0, 5, (6, 8)))
        cells = SetTraces.of_traces(guess)
        assert observed_utility(CITY, truth, cells).value == utility_score(CITY, truth, cells).value
        assert str(observed_inference(CITY, truth, guess)) == str(
            inference_score(CITY, truth, guess)
        )
        assert str(observed_error(CITY, truth, guess)) == str(
            expected_error_score(CITY, truth, guess)
        )

    def test_a_column_of_gaps_changes_nothing(self):
        rng = np.random.default_rng(2)
        truth, guess = rng.integers(0, 5, (6, 8)), rng.integers(0, 5, (6, 8))
        gapped = np.concatenate([truth, np.full((6, 1), -1)], axis=1)
        longer = np.concatenate([guess, np.zeros((6, 1), dtype=int)], axis=1)
        expected = inference_score(CITY, Traces.of(truth), Traces.of(guess))
        found = observed_inference(CITY, Traces.of(gapped), Traces.of(longer))
        assert found.value == pytest.approx(expected.value)
        assert found.interval.low == pytest.approx(expected.interval.low)
        assert found.interval.high == pytest.approx(expected.interval.high)


class TestObservedUtility:
    def test_release_of_unknown_events_does_not_count(self):
        truth = Traces.of([[0, -1]])
        near = observed_utility(CITY, truth, SetTraces.of_cells([[[0], [4]]]))
        gone = observed_utility(CITY, truth, SetTraces.of_cells([[[0], []]]))
        assert near.value == gone.value == 1.0

    def test_shapes_must_fit(self):
        with pytest.raises(InvalidTraces, match="obfuscated"):
            observed_utility(CITY, Traces.of([[0, -1]]), SetTraces.of_cells([[[0]]]))


class TestObservedInference:
    def test_unequal_lengths_weigh_by_events(self):
        # User 1: three events all missed by 2 km or more; user 2: one event found.
        truth, guess = Traces.of([[0, 0, 0], [4, -1, -1]]), Traces.of([[4, 3, 2], [4, 0, 0]])
        assert observed_inference(CITY, truth, guess).value == pytest.approx(0.75)

    def test_hospital_events_weigh_ten_times(self):
        truth, guess = Traces.of([[1, 0, -1]]), Traces.of([[1, 4, 0]])
        assert observed_inference(CITY, truth, guess).value == pytest.approx(1 / 11)

    def test_bad_input(self):
        truth = Traces.of([[0, -1]])
        with pytest.raises(InvalidTraces, match="inferred"):
            observed_inference(CITY, truth, Traces.of([[0]]))
        with pytest.raises(InvalidTraces, match="every event"):
            observed_inference(CITY, truth, Traces.of([[-1, 0]]))
        with pytest.raises(InvalidTraces, match="not in the city"):
            observed_inference(CITY, truth, Traces.of([[5, 0]]))
        with pytest.raises(InvalidTraces, match="any observed"):
            observed_inference(CITY, Traces.of([[-1, -1]]), Traces.of([[0, 0]]))


class TestEventWeights:
    def test_by_hand(self):
        weights = event_weights(CITY, Traces.of([[1, 0, -1], [-1, -1, -1]]))
        assert weights.tolist() == [11.0, 0.0]


class TestDifference:
    def test_paired_interval_by_hand(self):
        truth = Traces.of([[0, 2], [2, 4]])
        high = observed_inference(CITY, truth, Traces.of([[1, 3], [3, 3]]))
        low = observed_inference(CITY, truth, Traces.of([[0, 2], [3, 4]]))
        assert high.per_user.tolist() == pytest.approx([0.5, 0.5])
        assert low.per_user.tolist() == pytest.approx([0.0, 0.25])
        value, interval = difference(high, low, event_weights(CITY, truth))
        assert value == pytest.approx(0.375)
        # Differences 0.5 and 0.25: standard error 0.125, t(1; 0.975) = 12.706.
        assert interval.low == pytest.approx(max(-1, 0.375 - 12.7062 * 0.125), abs=1e-4)
        assert interval.high == pytest.approx(1.0)

    def test_same_score_differs_by_exactly_nothing(self):
        truth = Traces.of([[0, -1], [2, 4], [-1, -1]])
        score = observed_inference(CITY, truth, Traces.of([[1, 3], [3, 3], [0, 0]]))
        value, interval = difference(score, score, event_weights(CITY, truth))
        assert value == 0
        assert interval.low == pytest.approx(0)
        assert interval.high == pytest.approx(0)

    def test_coverage(self):
        # 400 draws at 95 %: between 356 and 397 with false-alarm rate below 1e-6.
        rng, hits = np.random.default_rng(3), 0
        for _ in range(400):
            truth = Traces.of(rng.integers(0, 5, (40, 6)))
            first = Traces.of(np.clip(truth.regions + rng.integers(-2, 3, (40, 6)), 0, 4))
            second = Traces.of(np.clip(truth.regions + rng.integers(-1, 2, (40, 6)), 0, 4))
            a, b = (observed_inference(PLAIN, truth, one) for one in (first, second))
            _, interval = difference(a, b, event_weights(PLAIN, truth))
            hits += interval.low <= EXPECTED <= interval.high
        assert 356 <= hits <= 397


PLAIN = City(Grid.from_metres(5, 1, width_m=1000, height_m=1000))


def _mean_miss(steps) -> float:
    found = [min(1, abs(min(max(t + s, 0), 4) - t) / 2) for t in range(5) for s in steps]
    return sum(found) / len(found)


EXPECTED = _mean_miss(range(-2, 3)) - _mean_miss(range(-1, 2))
