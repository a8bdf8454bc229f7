"""Local clocks, against zoneinfo one time at a time."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tracecup.errors import InvalidParameter
from tracecup.records.zones import Zone


class TestUtc:
    def test_minutes(self):
        assert Zone(-90).utc(np.zeros(1)).tolist() == [5400]

    @given(
        st.sampled_from(["Europe/Zurich", "America/New_York", "Australia/Lord_Howe", "Asia/Tokyo"]),
        st.lists(st.integers(0, 2_000_000_000), min_size=1, max_size=20),
    )
    @example("Europe/Zurich", [1364691599, 1364691600, 1382831999, 1382835599, 1382835600])
    def test_undoes_the_shift_or_names_the_first_of_two(self, name, times):
        zone, unix = Zone(name=name), np.array(times, dtype=float)
        back = zone.utc(unix + zone.shift(unix))
        assert (back <= unix).all()
        # Where it is another moment, the clock shows the same hour there.
        assert np.array_equal(back + zone.shift(back), unix + zone.shift(unix))

    def test_what_the_clock_skips_comes_out_behind_it(self):
        half_past_two = datetime(2013, 3, 31, 2, 30, tzinfo=UTC).timestamp()
        found = Zone(name="Europe/Zurich").utc(np.array([half_past_two]))
        assert datetime.fromtimestamp(found[0], UTC).hour == 1


class TestZone:
    def test_minutes(self):
        assert Zone(-90).shift(np.zeros(2)).tolist() == [-5400, -5400]

    @given(
        st.sampled_from(["Europe/Zurich", "America/New_York", "Australia/Lord_Howe", "Asia/Tokyo"]),
        st.lists(st.integers(0, 2_000_000_000), min_size=1, max_size=20),
    )
    @example("Europe/Zurich", [1364691599, 1364691600, 1382835599, 1382835600])
    def test_is_that_of_zoneinfo(self, name, times):
        expected = [
            datetime.fromtimestamp(t, UTC).astimezone(ZoneInfo(name)).utcoffset().total_seconds()
            for t in times
        ]
        assert Zone(name=name).shift(np.array(times, dtype=float)).tolist() == expected

    def test_the_ends_of_time(self):
        ends = np.array([-62135596800.0, 253402300799.0])
        assert np.isfinite(Zone(name="Asia/Tokyo").shift(ends)).all()

    @pytest.mark.parametrize(
        "given", [{"name": "Mars/Base"}, {"name": "../etc/passwd"}, {"minutes": 1e9},
                  {"minutes": float("nan")}, {"minutes": 60, "name": "Asia/Tokyo"}, {"name": ""}]
    )  # fmt: skip
    def test_wrong_use(self, given):
        with pytest.raises(InvalidParameter):
            Zone(**given)
