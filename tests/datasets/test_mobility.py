"""Stylised facts measured on hand-made traces, and against slow loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tracecup.city import Clock, Grid
from tracecup.datasets.mobility import (
    _overlap,
    day_statistics,
    radius_of_gyration,
    return_probability,
    visit_frequencies,
    zipf_exponent,
)
from tracecup.errors import InvalidTraces
from tracecup.traces import Traces

GRID = Grid.from_metres(4, 2, width_m=3000, height_m=4000)
REGIONS = arrays(np.int32, (3, 12), elements=st.integers(-1, 3))


class TestDayStatistics:
    def test_by_hand(self):
        clock = Clock.regular(days=2, slots=3)
        traces = Traces.of([[0, 0, 1, 1, 1, 5], [2, 2, 2, 2, 2, 2]], clock)
        found = day_statistics(traces, GRID)
        assert found.stay_share == pytest.approx(6 / 8)
        assert found.distinct_regions == pytest.approx((2 + 2 + 1 + 1) / 4)
        assert found.move_km == pytest.approx((3 + 4) / 2)
        # User 1: a third or two thirds of a day in the other day's regions; user 2: all of it.
        assert found.same_user_overlap in (pytest.approx(2 / 3), pytest.approx(5 / 6))
        assert found.other_user_overlap == 0

    def test_one_day_of_one_user(self):
        found = day_statistics(Traces.of([[0, 0]]), GRID)
        assert math.isnan(found.same_user_overlap)
        assert math.isnan(found.other_user_overlap)
        assert math.isnan(found.move_km)

    def test_gaps_are_left_out(self):
        # Moves: 0-0 stays, 1-0 moves; 0 to 1 over a gap and a day without events count nowhere.
        clock = Clock.regular(days=3, slots=3)
        traces = Traces.of([[0, 0, -1, -1, 1, 0, -1, -1, -1]], clock)
        grid = Grid.from_metres(4, 1, width_m=1000, height_m=1000)
        found = day_statistics(traces, grid)
        assert found.stay_share == 0.5
        assert found.distinct_regions == 1.5
        assert found.move_km == pytest.approx(1.0)

    def test_nothing_observed_is_nan(self):
        grid = Grid.from_metres(4, 1, width_m=1000, height_m=1000)
        traces = Traces.of([[-1, -1]] * 2, Clock.regular(2, 1))
        assert all(np.isnan(value) for value in vars(day_statistics(traces, grid)).values())

    @given(st.integers(0, 2**32 - 1))
    def test_overlap_with_gaps_by_a_slow_loop(self, seed):
        regions = np.random.default_rng(seed).integers(-1, 3, (5, 4))
        day, other = regions[:, :2].astype(np.int32), regions[:, 2:].astype(np.int32)
        met = [
            float(place in theirs)
            for ours, theirs in zip(day.tolist(), other.tolist(), strict=True)
            for place in ours
            if place >= 0 and max(theirs) >= 0
        ]
        expected = np.mean(met) if met else np.nan
        assert _overlap(day, other) == pytest.approx(expected, nan_ok=True)

    def test_real_generator(self, data_dir):
        """The figures of the contest's generator, from the organisers' two reference days."""
        from tracecup.traces.files import read_traces

        path = data_dir / "tokyo_preliminary" / "reftraces_team000_data01_IDP.csv.gz"
        traces = read_traces(path, "reference", clock=Clock.regular(2))
        grid = Grid.from_metres(32, 32, width_m=341.25, height_m=346.875)
        found = day_statistics(traces, grid)
        assert found.stay_share == pytest.approx(0.13, abs=0.005)
        assert found.distinct_regions == pytest.approx(15.2, abs=0.1)
        assert found.move_km == pytest.approx(1.35, abs=0.01)
        assert found.same_user_overlap == pytest.approx(0.17, abs=0.01)
        assert found.other_user_overlap == pytest.approx(0.028, abs=0.003)


class TestVisitFrequencies:
    @given(REGIONS)
    def test_agrees_with_a_loop(self, regions):
        total, users = np.zeros(5), 0
        for row in regions:
            counts = sorted((np.sum(row == r) for r in range(4)), reverse=True)
            if sum(counts):
                users += 1
                for k, count in enumerate(counts):
                    total[k] += count / sum(counts)
        found = visit_frequencies(Traces.of(regions), ranks=5)
        assert found == pytest.approx(total / max(users, 1))


class TestZipfExponent:
    @given(st.floats(0.3, 2.5))
    def test_recovers_a_power_law(self, exponent):
        assert zipf_exponent(np.arange(1, 41.0) ** -exponent) == pytest.approx(exponent)

    def test_needs_two_ranks(self):
        with pytest.raises(InvalidTraces):
            zipf_exponent(np.array([1.0, 0.0]))


class TestRadiusOfGyration:
    def test_by_hand(self):
        # Half the time 6 km away: 3 km from the middle. Four corners of 3 x 4 km: 2.5 km.
        traces = Traces.of([[0, 2, 0, 2], [0, 1, 4, 5], [3, 3, 3, 3]])
        assert radius_of_gyration(traces, GRID) == pytest.approx([3, 2.5, 0])

    def test_unobserved_events_do_not_count(self):
        traces = Traces.of([[0, -1, 2, -1], [-1, -1, -1, -1]])
        radius = radius_of_gyration(traces, GRID)
        assert radius[0] == pytest.approx(3)
        assert math.isnan(radius[1])


class TestReturnProbability:
    @given(REGIONS, st.integers(1, 11))
    def test_agrees_with_a_loop(self, regions, longest):
        returns, pairs = np.zeros(longest + 1), np.zeros(longest + 1)
        for row in regions:
            for t in range(len(row)):
                for tau in range(1, longest + 1):
                    if t + tau < len(row) and row[t] >= 0 and row[t + tau] >= 0:
                        between = row[t + 1 : t + tau]
                        pairs[tau] += 1
                        away = bool(((between >= 0) & (between != row[t])).any())
                        returns[tau] += row[t] == row[t + tau] and away
        expected = returns / np.maximum(pairs, 1)
        assert return_probability(Traces.of(regions), longest) == pytest.approx(expected)

    def test_nothing_to_count(self):
        with pytest.raises(InvalidTraces):
            return_probability(Traces.of([[0, 1]]), 0)
