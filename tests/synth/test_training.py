from __future__ import annotations

import numpy as np
import pytest

from tracecup import Clock, Grid, Traces
from tracecup.datasets.metropolis import Metropolis
from tracecup.errors import InvalidTraces
from tracecup.records import Records, Timetable
from tracecup.synth import Training


def steps(training):
    return list(zip(*(column.tolist() for column in training.steps()), strict=True))


class TestOfTraces:
    def test_a_step_over_midnight_is_no_transition(self):
        clock = Clock.regular(days=2, slots=2)
        training = Training.of_traces(Traces.of([[0, 1, 2, 3]], clock), 4)
        assert steps(training) == [(0, 0, 1), (0, 2, 3)]

    def test_a_gap_breaks_the_chain(self):
        training = Training.of_traces(Traces.of([[0, -1, 2, 3]]), 4)
        assert steps(training) == [(0, 2, 3)]

    def test_users_do_not_touch(self):
        training = Training.of_traces(Traces.of([[0, 1], [2, 3]]), 4)
        assert steps(training) == [(0, 0, 1), (1, 2, 3)]

    def test_instants_make_slots(self):
        training = Training.of_traces(Traces.of([[0, 1, 2, 3]], Clock.regular(1, 4)), 4, 2)
        assert training.slot.tolist() == [0, 0, 1, 1]
        assert training.day == Timetable(480, 60, 2, 2)

    def test_a_user_without_records_stays_a_user(self):
        training = Training.of_traces(Traces.of([[-1, -1], [0, 0]]), 1)
        assert training.n_users == 2

    def test_clock_must_be_regular(self):
        clock = Clock(1, (0, 10, 30))
        with pytest.raises(InvalidTraces, match="equal steps"):
            Training.of_traces(Traces.of([[0, 0, 0]], clock), 1)

    def test_location_out_of_range(self):
        with pytest.raises(InvalidTraces, match=r"location 7 .* 0\.\.4"):
            Training.of_traces(Traces.of([[0, 7]]), 5)


class TestOfRecords:
    def test_no_records(self):
        none = np.empty(0, dtype=np.int64)
        records = Records.of(none, none, none, n_locations=1, timetable=Timetable(0, 60, 2, 2))
        with pytest.raises(InvalidTraces, match="at least one record"):
            Training.of_records(records)

    def test_shape_of_the_days_it_makes(self):
        records = Records.of([0], [3], [3], n_locations=6, timetable=Timetable(360, 30, 4, 2))
        training = Training.of_records(records)
        assert training.day == Timetable(360, 60, 2, 2)
        assert training.slot.tolist() == [1]

    def test_records_of_the_built_in_city(self):
        town = Metropolis(n_inhabitants=5, nx=8, ny=8, seed=1)
        records = town.records(days=2)
        traces = town.traces(2, 360, 5, 144)
        first, second = Training.of_records(records), Training.of_traces(traces, 64, 12)
        assert steps(first) == steps(second)
        assert first.day == second.day


class TestPrefix:
    def test_takes_the_first_record_of_each_instant(self):
        clock = Clock.regular(days=2, slots=3)
        training = Training.of_traces(Traces.of([[4, -1, 2, 3, 1, 0]], clock), 5)
        assert training.prefix(2).tolist() == [[4, 1]]

    def test_without_a_record(self):
        training = Training.of_traces(Traces.of([[-1, 2]]), 5)
        assert training.prefix(1).tolist() == [[-1]]


class TestDayEnds:
    def test_of_traces(self):
        clock = Clock.regular(2, 3)
        training = Training.of_traces(Traces.of([[0, 1, -1, 2, 2, 0], [-1] * 5 + [1]], clock), 3)
        first, last = training.day_ends()
        assert (first.tolist(), last.tolist()) == ([0, 2, 5], [1, 4, 5])

    def test_dates_tell_days_apart_that_instants_do_not(self):
        clock = Clock.regular(2, 3)
        regions = [[0, -1, -1, -1, 2, -1]]
        first, _ = Training.of_traces(Traces.of(regions, clock), 3).day_ends()
        assert first.tolist() == [0, 1]


class TestPlaced:
    def test_regions_of_a_grid(self):
        training = Training.of_traces(Traces.of([[0, 3]]), 4)
        placed = training.placed(Grid.from_metres(2, 2, width_m=500, height_m=1000))
        assert placed.positions == pytest.approx(np.array([[0, 0], [0.5, 0], [0, 1], [0.5, 1]]))

    @pytest.mark.parametrize("positions", [[[0, 0]], [[0.0, 0.0], [np.nan, 1.0]]])
    def test_positions_that_do_not_fit(self, positions):
        with pytest.raises(InvalidTraces, match="positions must be finite"):
            Training.of_traces(Traces.of([[0, 1]]), 2).placed(positions)
