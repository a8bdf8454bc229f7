from __future__ import annotations

import numpy as np
import pytest

from tracecup import Clock, InvalidTraces, Traces

CLOCK = Clock.regular(2, slots=3)


@pytest.fixture
def traces() -> Traces:
    return Traces.of(np.arange(24).reshape(4, 6), CLOCK)


class TestTraces:
    def test_is_read_only_and_leaves_the_callers_array_alone(self):
        mine = np.zeros((2, 3), dtype=np.int32)
        traces = Traces.of(mine)
        with pytest.raises(ValueError, match="read-only"):
            traces.regions[0, 0] = 1
        mine[0, 0] = 7
        assert mine.flags.writeable

    def test_slices(self, traces):
        assert traces.take_users(slice(1, 3)).regions.tolist() == [
            [6, 7, 8, 9, 10, 11],
            [12, 13, 14, 15, 16, 17],
        ]
        assert traces.take_users([3, 0]).users.tolist() == [4, 1]
        assert traces.take_days(1, 2).regions[0].tolist() == [3, 4, 5]
        assert traces.take_slots([0, 2]).regions[0].tolist() == [0, 2, 3, 5]

    def test_a_slice_of_users_shares_memory(self, traces):
        assert np.shares_memory(traces.take_users(slice(1, 3)).regions, traces.regions)

    def test_splitting_and_joining_gives_it_back(self, traces):
        again = traces.take_users(slice(0, 1)).join(traces.take_users(slice(1, 4)))
        assert again == traces

    def test_gaps(self, traces):
        assert not traces.has_gaps
        assert Traces.of([[0, -1]]).has_gaps

    @pytest.mark.parametrize(
        ("regions", "text"),
        [
            ([1, 2], "shape"),
            ([[0.5]], "whole numbers"),
            ([[-2]], ">= -1"),
            ([[2**40]], "32 bits"),
        ],
    )
    def test_bad_arrays(self, regions, text):
        with pytest.raises(InvalidTraces, match=text):
            Traces.of(regions)

    def test_clock_must_fit(self):
        with pytest.raises(InvalidTraces, match="5 events"):
            Traces.of(np.zeros((1, 5), np.int32), CLOCK)

    def test_ids_must_fit(self):
        with pytest.raises(InvalidTraces, match="2 users need 2 ids"):
            Traces.of(np.zeros((2, 6), np.int32), CLOCK, users=[1])

    def test_joining_needs_one_clock(self, traces):
        with pytest.raises(InvalidTraces, match="same clock"):
            traces.join(Traces.of(traces.regions))
