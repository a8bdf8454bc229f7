"""Records, timetables and what is made of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.city import Clock
from tracecup.errors import InvalidTraces
from tracecup.records import Records, Timetable, timetable_of
from tracecup.traces import Traces

HOURLY = Timetable(0, 60, 24, 12)


def some_records() -> Records:
    """Two users, two days; given out of order."""
    return Records.of(
        user=[1, 0, 0, 0, 1],
        location=[4, 0, 1, 2, 3],
        day=[0, 0, 0, 1, 0],
        instant=[9, 8, 9, 9, 8],
        unix=[32400, 28800, 32400, 118800, 28800],
        n_locations=5,
        timetable=HOURLY,
        users=[10, 20],
    )


class TestRecords:
    def test_sorted_by_user_and_time(self):
        records = some_records()
        assert records.user.tolist() == [0, 0, 0, 1, 1]
        assert records.location.tolist() == [0, 1, 2, 3, 4]

    def test_sizes(self):
        records = some_records()
        assert (len(records), records.n_users, records.days) == (5, 2, 2)
        assert records.instants_per_day == 24

    def test_slot(self):
        assert some_records().slot.tolist() == [4, 4, 4, 4, 4]

    def test_arrays_are_read_only(self):
        with pytest.raises(ValueError, match="read-only"):
            some_records().user[0] = 3

    @pytest.mark.parametrize(
        ("column", "value"),
        [("user", 2), ("user", -1), ("location", 5), ("instant", 24), ("day", -1)],
    )
    def test_index_out_of_range(self, column, value):
        columns = {"user": [0], "location": [0], "day": [0], "instant": [0], "unix": [0.0]}
        columns[column] = [value]
        with pytest.raises(InvalidTraces, match=column):
            Records.of(**columns, n_locations=5, timetable=HOURLY, users=[1, 2])

    def test_without_users_the_numbers_are_ids(self):
        records = Records.of([5, 3, 5], [0, 1, 2], [1, 0, 0], n_locations=3, timetable=HOURLY)
        assert records.users.tolist() == [3, 5]
        assert records.user.tolist() == [0, 1, 1]
        assert records.location.tolist() == [1, 2, 0]
        assert records.unix.tolist() == [0, 0, 3600]

    def test_offsets_cut_users(self):
        assert some_records().offsets.tolist() == [0, 3, 5]

    @given(st.permutations(range(6)))
    def test_order_of_rows_does_not_matter(self, order):
        columns = np.array([[0, 0, 0, 1, 1, 1], [4, 2, 2, 0, 1, 0], [3, 3, 5, 1, 1, 0]])

        def made(rows):
            who, where, when = columns[:, rows]
            return Records.of(who, where, when, n_locations=5, timetable=HOURLY)

        assert made(list(order)) == made(list(range(6)))

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            (([0, 1], [0], [0]), "differ in length"),
            (([0.5], [0], [0]), "user must be a column of whole numbers"),
            (([0], [0], [24]), r"instant 24 .* not within 0\.\.23"),
        ],
    )
    def test_bad_columns_are_named(self, columns, message):
        with pytest.raises(InvalidTraces, match=message):
            Records.of(*columns, n_locations=3, timetable=HOURLY)

    def test_columns_of_different_length(self):
        with pytest.raises(InvalidTraces, match="length"):
            Records([0, 0], [1], [0, 0], [0, 0], [0, 0], 5, HOURLY, [1])

    def test_unsorted_users_are_refused(self):
        with pytest.raises(InvalidTraces, match="sorted"):
            Records([1, 0], [1, 1], [0, 0], [0, 0], [0, 0], 5, HOURLY, [1, 2])


class TestSteps:
    def test_only_neighbouring_instants_of_a_day(self):
        user, before, after = some_records().steps()
        found = list(zip(user.tolist(), before.tolist(), after.tolist(), strict=True))
        assert found == [(0, 0, 1), (1, 3, 4)]

    def test_neither_users_nor_days_are_joined(self):
        records = Records.of(
            [0, 1, 1], [0, 1, 2], [0, 1, 2], day=[0, 0, 1], n_locations=3, timetable=HOURLY
        )
        assert len(records.steps()[0]) == 0

    def test_check_ins_need_the_next_hour_of_the_same_day(self):
        # hours 5 -> 6 of another day, 6 -> 7, 7 -> 9, 23 -> 0 of the next day
        records = Records.of(
            [0] * 6,
            [1, 2, 3, 4, 5, 6],
            [5, 6, 7, 9, 23, 0],
            day=[0, 1, 1, 1, 1, 2],
            n_locations=7,
            timetable=HOURLY,
        )
        assert [part.tolist() for part in records.steps()] == [[0], [2], [3]]

    def test_self_transitions_count(self):
        records = Records.of([0, 0], [1, 1], [8, 9], n_locations=5, timetable=HOURLY)
        assert [part.tolist() for part in records.steps()] == [[0], [1], [1]]


class TestTakeUsers:
    def test_order_and_numbers(self):
        taken = some_records().take_users([1, 0])
        assert taken.users.tolist() == [20, 10]
        assert taken.user.tolist() == [0, 0, 1, 1, 1]
        assert taken.location.tolist() == [3, 4, 0, 1, 2]

    def test_nobody(self):
        assert len(some_records().take_users([])) == 0

    def test_unknown_user(self):
        with pytest.raises(InvalidTraces):
            some_records().take_users([2])


class TestTakeDays:
    def test_days_are_numbered_anew_and_users_stay(self):
        taken = some_records().take_days([1])
        assert (taken.day.tolist(), taken.location.tolist(), taken.n_users) == ([0], [2], 2)

    def test_days_must_ascend(self):
        with pytest.raises(InvalidTraces, match="ascend"):
            some_records().take_days([1, 0])


class TestThinned:
    def test_the_first_record_of_each_instant(self):
        records = Records.of(
            [0, 0, 0, 1],
            [3, 1, 2, 4],
            [8, 8, 9, 8],
            unix=[9, 5, 10, 1],
            n_locations=5,
            timetable=HOURLY,
        )
        assert records.thinned().location.tolist() == [1, 2, 4]


class TestToTraces:
    def test_gaps_are_unobserved(self):
        traces = some_records().to_traces()
        assert traces.shape == (2, 48)
        assert traces.users.tolist() == [10, 20]
        assert traces.regions[0, [8, 9, 33]].tolist() == [0, 1, 2]
        assert (traces.regions >= 0).sum() == 5

    def test_first_record_of_an_instant_counts(self):
        records = Records.of([0, 0], [1, 2], [8, 8], unix=[10, 5], n_locations=5, timetable=HOURLY)
        assert records.to_traces().regions[0, 8] == 2

    def test_there_and_back(self):
        traces = Traces.of([[0, -1, 2, 3]], Timetable(0, 60, 2, 2).clock(2), users=[7])
        records = Records.of_traces(traces, 4, Timetable(0, 60, 2, 2))
        assert records.to_traces() == traces

    def test_too_many_cells(self):
        records = Records.of([0], [0], [0], day=[2**30], n_locations=1, timetable=HOURLY)
        with pytest.raises(InvalidTraces, match="cells"):
            records.to_traces()

    def test_clock_must_fit(self):
        with pytest.raises(InvalidTraces, match="timetable"):
            Records.of_traces(Traces.of([[0, 1]]), 2, HOURLY)


class TestOfTraces:
    def test_midnight_is_no_transition_even_over_gaps(self):
        clock = Clock.regular(days=2, slots=3)
        # Slot 0 of day 1, then slot 1 of day 2: one instant apart, but a day between them.
        traces = Traces.of([[0, -1, -1, -1, 1, 2]], clock)
        assert [part.tolist() for part in Records.of_traces(traces, 3).steps()] == [[0], [1], [2]]

    def test_keeps_user_ids_and_skips_gaps(self):
        records = Records.of_traces(Traces.of([[0, -1], [1, 1]], users=[7, 9]), 2)
        assert records.users.tolist() == [7, 9]
        assert len(records) == 3


class TestTimetableOf:
    def test_of_a_regular_clock(self):
        assert timetable_of(Clock.regular(3, 4, 480, 30), 2) == Timetable(480, 30, 4, 2)

    def test_an_irregular_clock_has_none(self):
        with pytest.raises(InvalidTraces, match="equal steps"):
            timetable_of(Clock(1, (0, 10, 30)))

    def test_instants_must_fill_the_slots(self):
        with pytest.raises(InvalidTraces, match="4 instants a day do not make slots of 3"):
            timetable_of(Clock.regular(1, 4), 3)
