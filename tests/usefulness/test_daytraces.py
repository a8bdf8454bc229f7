from __future__ import annotations

import numpy as np
import pytest

from tracecup.city import Clock
from tracecup.errors import InvalidTraces
from tracecup.traces import Traces
from tracecup.usefulness import DayTraces


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
