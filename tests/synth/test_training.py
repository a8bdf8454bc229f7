from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tracecup import Clock, Grid, Traces
from tracecup.datasets.metropolis import Metropolis
from tracecup.errors import InvalidParameter, InvalidTraces
from tracecup.synth import Day, Training


def steps(training):
    return list(zip(*(column.tolist() for column in training.steps()), strict=True))


class TestDay:
    def test_clock_cuts_slots_into_instants(self):
        clock = Day(2, 60, 480).clock(days=3, instants=2)
        assert clock.minutes == (480, 510, 540, 570)
        assert clock.days == 3

    def test_instants_must_be_whole_minutes(self):
        with pytest.raises(InvalidParameter, match="60 minutes cannot be cut into 7"):
            Day(2, 60).clock(1, 7)

    def test_needs_a_slot(self):
        with pytest.raises(InvalidParameter, match="a slot"):
            Day(0)


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
        assert training.day == Day(2, 60, 480)

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


class TestOfColumns:
    def test_check_ins_need_the_next_hour_within_two_hours(self):
        # hours 5 -> 6 of another day, 6 -> 7 within 7200 s, 7 -> 9, 23 -> 0 of the next day
        training = Training.of_columns(
            [0] * 6,
            [1, 2, 3, 4, 5, 6],
            [5, 6, 7, 9, 23, 0],
            n_users=1,
            n_locations=7,
            day=Day(12, 120),
            instants_per_slot=2,
            seconds=[0, 90_000, 97_200, 104_000, 154_000, 157_000],
            max_gap=7200,
        )
        assert steps(training) == [(0, 2, 3)]

    def test_users_in_disorder(self):
        with pytest.raises(InvalidTraces, match="ordered by user"):
            Training.of_columns([1, 0], [0, 0], [0, 0], n_users=2, n_locations=1, day=Day(1))

    def test_columns_of_different_length(self):
        with pytest.raises(InvalidTraces, match="differ in length"):
            Training.of_columns([0, 0], [0], [0, 1], n_users=1, n_locations=1, day=Day(2))

    def test_no_records(self):
        none = np.empty(0, dtype=np.int64)
        with pytest.raises(InvalidTraces, match="at least one record"):
            Training.of_columns(none, none, none, n_users=1, n_locations=1, day=Day(2))


class TestOfRecords:
    def test_steps_stay_within_a_day(self):
        timetable = SimpleNamespace(start=360, interval=30, slots=2, instants_per_slot=2)
        records = SimpleNamespace(
            user=np.array([0, 0, 0, 1]),
            location=np.array([3, 4, 5, 4]),
            day=np.array([0, 0, 1, 0]),
            instant=np.array([0, 1, 2, 3]),
            n_users=2,
            n_locations=6,
            timetable=timetable,
        )
        training = Training.of_records(records)
        assert steps(training) == [(0, 3, 4)]
        assert training.day == Day(2, 60, 360)
        assert training.slot.tolist() == [0, 0, 1, 1]

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

    def test_without_dates_a_day_ends_where_the_instant_falls(self):
        training = Training.of_columns(
            [0, 0, 0, 0, 1], [0] * 5, [0, 2, 1, 2, 2], n_users=2, n_locations=1, day=Day(3)
        )
        assert training.day_ends()[0].tolist() == [0, 2, 4]


class TestPlaced:
    def test_regions_of_a_grid(self):
        training = Training.of_traces(Traces.of([[0, 3]]), 4)
        placed = training.placed(Grid.from_metres(2, 2, width_m=500, height_m=1000))
        assert placed.positions == pytest.approx(np.array([[0, 0], [0.5, 0], [0, 1], [0.5, 1]]))

    @pytest.mark.parametrize("positions", [[[0, 0]], [[0.0, 0.0], [np.nan, 1.0]]])
    def test_positions_that_do_not_fit(self, positions):
        with pytest.raises(InvalidTraces, match="positions must be finite"):
            Training.of_traces(Traces.of([[0, 1]]), 2).placed(positions)
