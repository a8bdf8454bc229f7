from __future__ import annotations

import pytest

from tracecup.city import Clock, ContestClock
from tracecup.errors import InvalidParameter, InvalidTraces


class TestClock:
    def test_the_contests_clock(self):
        clock = Clock.regular(20, first_time=400)
        assert (clock.slots, clock.times) == (20, 400)
        assert clock.label(399) == "day 40, 17:30"
        assert clock.slot_of[41] == 1
        assert clock.day_of[41] == 2

    def test_days_and_slots_of_a_part(self):
        clock = Clock.regular(3, slots=4, first_time=12)
        assert clock.take_days(1, 3) == Clock.regular(2, slots=4, first_time=16)
        assert clock.take_slots([0, 3]).minutes == (480, 570)

    @pytest.mark.parametrize(
        ("call", "text"),
        [
            (lambda: Clock.regular(0), "a day"),
            (lambda: Clock.regular(1, interval=0), "interval"),
            (lambda: Clock(1, (5, 5)), "increase"),
            (lambda: Clock(1, (5,), -1), "first_time"),
        ],
    )
    def test_nonsense_is_refused(self, call, text):
        with pytest.raises(InvalidParameter, match=text):
            call()

    def test_days_that_are_not_there(self):
        with pytest.raises(InvalidTraces, match="days 1..2"):
            Clock.regular(2).take_days(1, 3)
        with pytest.raises(InvalidTraces, match="slots"):
            Clock.regular(2).take_slots([20])


class TestContestClock:
    def test_parts_follow_each_other(self):
        clock = ContestClock.regular(2, reference_days=3)
        assert clock.original.first_time == 60
        with pytest.raises(InvalidTraces, match="begin"):
            ContestClock(Clock.regular(2), Clock.regular(2))

    def test_same_slots(self):
        with pytest.raises(InvalidTraces, match="same slots"):
            ContestClock(Clock.regular(2), Clock.regular(2, slots=5, first_time=40))
