"""Records, timetables and what is made of them."""

from __future__ import annotations

import numpy as np
import pytest

from tracecup.city import City, Grid
from tracecup.datasets.records import CONTEST, FOURSQUARE, PEOPLEFLOW, Dataset, Records, Timetable
from tracecup.errors import InvalidParameter, InvalidTraces
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


class TestTimetable:
    def test_paper_settings(self):
        sizes = [(t.slots, t.instants_per_slot) for t in (PEOPLEFLOW, FOURSQUARE, CONTEST)]
        assert sizes == [(30, 1), (12, 2), (12, 12)]

    def test_instant_of_minutes(self):
        minutes = [539, 540, 559.9, 560, 1139, 1140]
        assert PEOPLEFLOW.instant_of(minutes).tolist() == [-1, 0, 0, 1, 29, -1]

    def test_exact_instants_begin_with_the_minute(self):
        assert PEOPLEFLOW.instant_of([540.9, 541, 560], exact=True).tolist() == [0, -1, 1]

    @pytest.mark.parametrize("bad", [(0, 0, 1, 1), (0, 60, 24, 5), (-5, 5, 12, 12), (0, 60, 25, 5)])
    def test_impossible_days(self, bad):
        with pytest.raises(InvalidParameter):
            Timetable(*bad)


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

    def test_columns_of_different_length(self):
        with pytest.raises(InvalidTraces, match="length"):
            Records([0, 0], [1], [0, 0], [0, 0], [0, 0], 5, HOURLY, [1])

    def test_unsorted_users_are_refused(self):
        with pytest.raises(InvalidTraces, match="sorted"):
            Records([1, 0], [1, 1], [0, 0], [0, 0], [0, 0], 5, HOURLY, [1, 2])


class TestTransitions:
    def test_only_neighbouring_instants_of_a_day(self):
        user, before, after = some_records().transitions()
        found = list(zip(user.tolist(), before.tolist(), after.tolist(), strict=True))
        assert found == [(0, 0, 1), (1, 3, 4)]

    def test_gap_in_seconds(self):
        records = Records.of([0, 0], [1, 2], [0, 0], [8, 9], [0, 7201], 5, HOURLY)
        assert len(records.transitions()[0]) == 1
        assert len(records.transitions(longest_gap=7200)[0]) == 0

    def test_self_transitions_count(self):
        records = Records.of([0, 0], [1, 1], [0, 0], [8, 9], [0, 3600], 5, HOURLY)
        assert [part.tolist() for part in records.transitions()] == [[0], [1], [1]]


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


class TestToTraces:
    def test_gaps_are_unobserved(self):
        traces = some_records().to_traces()
        assert traces.shape == (2, 48)
        assert traces.users.tolist() == [10, 20]
        assert traces.regions[0, [8, 9, 33]].tolist() == [0, 1, 2]
        assert (traces.regions >= 0).sum() == 5

    def test_first_record_of_an_instant_counts(self):
        records = Records.of([0, 0], [1, 2], [0, 0], [8, 8], [10, 5], 5, HOURLY)
        assert records.to_traces().regions[0, 8] == 2

    def test_there_and_back(self):
        traces = Traces.of([[0, -1, 2, 3]], Timetable(0, 60, 2, 2).clock(2), users=[7])
        records = Records.of_traces(traces, 4, Timetable(0, 60, 2, 2))
        assert records.to_traces() == traces

    def test_too_many_cells(self):
        records = Records.of([0], [0], [2**30], [0], [0.0], 1, HOURLY)
        with pytest.raises(InvalidTraces, match="cells"):
            records.to_traces()

    def test_clock_must_fit(self):
        with pytest.raises(InvalidTraces, match="timetable"):
            Records.of_traces(Traces.of([[0, 1]]), 2, HOURLY)


class TestDatasetSplit:
    def test_parts_keep_ids_and_city(self):
        city = City(Grid.from_metres(5, 1, width_m=100, height_m=100))
        split = Dataset(some_records(), city).split(1, 1)
        assert sorted([*split.training.users, *split.testing.users]) == [10, 20]
        assert split.city is city
        assert len(split.training) + len(split.testing) == 5
        assert np.array_equal(np.unique(split.training.user), [0])
