"""How a day is cut: instants, slots, hours past midnight."""

from __future__ import annotations

import numpy as np
import pytest

from tracecup.errors import InvalidParameter
from tracecup.records import CHECK_INS, CONTEST, PEOPLE_FLOW, Timetable

NIGHT = Timetable.of_hours(20 * 60, 6 * 60, 60, 60)


class TestTimetable:
    def test_paper_settings(self):
        sizes = [(t.slots, t.instants_per_slot) for t in (PEOPLE_FLOW, CHECK_INS, CONTEST)]
        assert sizes == [(30, 1), (12, 2), (12, 12)]

    def test_instant_of_minutes(self):
        minutes = [539, 540, 559.9, 560, 1139, 1140]
        assert PEOPLE_FLOW.instant_of(minutes).tolist() == [-1, 0, 0, 1, 29, -1]

    def test_exact_instants_begin_with_the_minute(self):
        assert PEOPLE_FLOW.instant_of([540.9, 541, 560], exact=True).tolist() == [0, -1, 1]

    @pytest.mark.parametrize(
        "bad", [(0, 0, 1, 1), (0, 60, 24, 5), (-5, 5, 12, 12), (1440, 5, 2, 2)]
    )
    def test_impossible_days(self, bad):
        with pytest.raises(InvalidParameter):
            Timetable(*bad)

    def test_longer_than_a_day_places_nothing(self):
        with pytest.raises(InvalidParameter, match="at most 1440 minutes, got 1500"):
            Timetable(0, 60, 25, 5).instant_of([3])

    def test_says_its_hours(self):
        assert str(PEOPLE_FLOW) == "9:00 to 18:59"


class TestOfHours:
    def test_an_end_before_the_start_is_on_the_next_day(self):
        assert (NIGHT.start, NIGHT.instants) == (1200, 10)

    def test_the_same_hour_is_a_whole_day(self):
        assert Timetable.of_hours(300, 300, 60, 60).instants == 24

    def test_hours_that_do_not_divide(self):
        with pytest.raises(InvalidParameter, match="600 minutes from 20:00 to 6:00 .* 7 minutes"):
            Timetable.of_hours(1200, 360, 7, 60)


class TestPlace:
    def test_hours_past_midnight_belong_to_the_day_before(self):
        hours = np.array([19.5, 20, 23.9, 24, 29.9, 30, 44]) * 3600
        day, instant = NIGHT.place(hours)
        assert instant.tolist() == [-1, 0, 3, 4, 9, -1, 0]
        assert day[instant >= 0].tolist() == [0, 0, 0, 0, 1]

    @pytest.mark.parametrize("exact", [False, True])
    def test_equals_the_minute_of_the_day(self, exact):
        local = np.random.default_rng(1).integers(-(10**6), 10**6, 500) * 20.0
        for timetable in (CHECK_INS, NIGHT, Timetable(480, 30, 20, 20)):
            day, instant = timetable.place(local, exact=exact)
            minute = np.floor(local % 86_400 / 60)
            assert np.array_equal(instant, timetable.instant_of(minute, exact=exact))
            assert np.array_equal(day, local // 86_400 - (minute < timetable.start))

    def test_before_1970(self):
        day, instant = CHECK_INS.place(np.array([-1.0]))
        assert (day.tolist(), instant.tolist()) == ([-1], [23])


class TestDivided:
    def test_clock_of_slots_cut_into_instants(self):
        clock = Timetable(480, 60, 2, 2).divided(2).clock(days=3)
        assert clock.minutes == (480, 510, 540, 570)
        assert clock.days == 3

    def test_instants_must_be_whole_minutes(self):
        with pytest.raises(InvalidParameter, match="60 minutes cannot be cut into 7"):
            CONTEST.divided(7)
