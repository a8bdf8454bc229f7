from __future__ import annotations

import numpy as np
import pytest

from tracecup.city import Clock
from tracecup.errors import InvalidTraces
from tracecup.traces import Traces
from tracecup.usefulness import DayTraces, Records


def pairs(records: Records) -> list[tuple[int, int]]:
    before, after = records.steps()
    return list(zip(before.tolist(), after.tolist(), strict=True))


class TestRecordsOf:
    def test_orders_by_user_and_then_time(self):
        records = Records.of(
            [5, 3, 5], [0, 1, 2], [1, 0, 0], n_locations=3, slots=2, seconds=[20, 0, 10]
        )
        assert records.user_ids.tolist() == [3, 5]
        assert records.users.tolist() == [0, 1, 1]
        assert records.locations.tolist() == [1, 2, 0]

    def test_without_times_records_stay_as_they_come(self):
        records = Records.of([1, 0, 1], [2, 1, 0], [0, 0, 1], n_locations=3, slots=2)
        assert records.locations.tolist() == [1, 2, 0]

    def test_offsets_cut_users(self):
        records = Records.of([0, 0, 4], [0, 0, 0], [0, 1, 0], n_locations=1, slots=2)
        assert records.offsets.tolist() == [0, 2, 3]

    def test_slot_gathers_instants(self):
        records = Records.of(
            [0] * 4, [0] * 4, range(4), n_locations=1, slots=2, instants_per_slot=2
        )
        assert records.slot.tolist() == [0, 0, 1, 1]

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            (([0], [3], [0]), r"location 3 is not within 0\.\.2"),
            (([0], [-1], [0]), r"location -1"),
            (([0], [0], [2]), r"instant 2 is not within 0\.\.1"),
            (([0, 1], [0], [0]), "differ in length"),
            (([], [], []), "at least one row"),
            (([0.5], [0], [0]), "users must be a column of whole numbers"),
        ],
    )
    def test_bad_columns_are_named(self, columns: tuple[list[int], ...], message: str):
        with pytest.raises(InvalidTraces, match=message):
            Records.of(*columns, n_locations=3, slots=2)


class TestRecordsSteps:
    def test_only_instants_exactly_one_apart_count(self):
        records = Records.of([0] * 5, [0, 1, 2, 3, 4], [0, 1, 3, 4, 0], n_locations=5, slots=5)
        assert pairs(records) == [(0, 1), (2, 3)]

    def test_users_are_not_joined(self):
        records = Records.of([0, 1], [0, 1], [0, 1], n_locations=2, slots=2)
        assert pairs(records) == []

    def test_self_transitions_count(self):
        records = Records.of([0, 0], [1, 1], [0, 1], n_locations=2, slots=2)
        assert pairs(records) == [(1, 1)]

    def test_gap_limit_is_inclusive(self):
        records = Records.of(
            [0] * 3,
            [0, 1, 2],
            [4, 5, 6],
            n_locations=3,
            slots=12,
            instants_per_slot=2,
            seconds=[0, 7200, 14401],
            max_gap=7200,
        )
        assert pairs(records) == [(0, 1)]


class TestRecordsOfTraces:
    def test_midnight_is_no_transition_even_over_gaps(self):
        clock = Clock.regular(days=2, slots=3)
        # Slot 0 of day 1, then slot 1 of day 2: one instant apart, but a day between them.
        traces = Traces.of([[0, -1, -1, -1, 1, 2]], clock)
        assert pairs(Records.of_traces(traces, 3)) == [(1, 2)]

    def test_keeps_user_ids_and_skips_gaps(self):
        traces = Traces.of([[0, -1], [1, 1]], users=[7, 9])
        records = Records.of_traces(traces, 2)
        assert records.user_ids.tolist() == [7, 9]
        assert len(records.users) == 3


class TestDayTraces:
    def test_steps_stay_within_a_day_and_skip_gaps(self):
        days = DayTraces.of([[[0, 1, 2], [2, -1, 1]]], n_locations=3)
        assert [s.tolist() for s in days.steps(0)] == [[0, 1], [1, 2]]
        assert [s.tolist() for s in days.steps(1)] == [[], []]

    def test_of_traces_cuts_days(self):
        traces = Traces.of([[0, 1, 2, 0]], Clock.regular(days=2, slots=2))
        days = DayTraces.of_traces(traces, 3)
        assert days.locations.tolist() == [[[0, 1], [2, 0]]]
        assert (days.days, days.slots, days.instants_per_slot) == (2, 2, 1)

    def test_several_instants_make_a_slot(self):
        traces = Traces.of([[0, 1, 2, 0]], Clock.regular(days=1, slots=4))
        days = DayTraces.of_traces(traces, 3, instants_per_slot=2)
        assert (days.slots, days.instants_per_slot) == (2, 2)

    @pytest.mark.parametrize(
        ("array", "slots", "message"),
        [
            (np.zeros((2, 3), int), None, "users, days, instants"),
            (np.zeros((0, 1, 1), int), None, "at least one of"),
            (np.full((1, 1, 1), 5), None, r"location 5 is not within -1\.\.4"),
            (np.zeros((1, 1, 3), int), 2, "3 instants do not fill 2 slots"),
            (np.zeros((1, 1, 1)), None, "whole numbers"),
        ],
    )
    def test_bad_arrays_are_named(self, array: np.ndarray, slots: int | None, message: str):
        with pytest.raises(InvalidTraces, match=message):
            DayTraces.of(array, n_locations=5, slots=slots)
