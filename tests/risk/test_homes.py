from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowrisk import slow_home_work
from tracecup import City, Clock, Grid, SetTraces, Traces
from tracecup.errors import InvalidParameter
from tracecup.risk import home_work_risk, homes_found
from tracecup.risk.homes import NIGHT, at_night

CITY = City(Grid.from_metres(4, 1, width_m=500, height_m=500))
# Two days: at three in the morning, at noon, at eleven in the evening.
CLOCK = Clock(2, (180, 720, 1380))


class TestHomeWorkRisk:
    @given(
        st.lists(st.lists(st.integers(-1, 3), min_size=6, max_size=6), min_size=1, max_size=6),
        st.integers(0, 100),
        st.sampled_from([NIGHT, (0, 360), (720, 1440), (1380, 1380)]),
    )
    def test_equals_counting(self, regions, seed, night):
        known = Traces.of(regions, CLOCK)
        noise = np.random.default_rng(seed)
        changed = np.where(noise.random(known.shape) < 0.3, -1, known.regions)
        for released in (None, SetTraces.of_traces(Traces.of(changed, CLOCK))):
            found = home_work_risk(known, released, night=night).risk.tolist()
            slow = slow_home_work(known, released, CLOCK.minutes, night)
            assert found == pytest.approx(slow, nan_ok=True)

    def test_by_hand(self):
        # Ann and Bob live in 0 and work in 1, Cid works elsewhere, Dee is never seen at night.
        days = [[0, 1, 0, 0, 1, 0], [0, 1, 0, 2, 1, 0], [0, 2, 0, 0, 2, 0], [-1, 1, -1, -1, 1, -1]]
        found = home_work_risk(Traces.of(days, CLOCK))
        assert found.risk.tolist() == pytest.approx([0.5, 0.5, 1, np.nan], nan_ok=True)
        assert found.home.tolist() == [0, 0, 0, -1]
        assert found.work.tolist() == [1, 1, 2, 1]


class TestHomesFound:
    def test_distance_of_what_is_shown(self):
        known = Traces.of([[0, 3, 0] * 2, [1, 1, 1] * 2, [2, 2, 2] * 2, [-1, 1, -1] * 2], CLOCK)
        shown = SetTraces.of_cells(
            [[[0], [3], [0]] * 2, [[3], [1], [3]] * 2, [[], [2], []] * 2, [[1], [1], [1]] * 2]
        )
        shown = SetTraces(shown.offsets, shown.regions, known.users, CLOCK)
        found = homes_found(CITY, known, shown)
        assert found.distance_km.tolist() == pytest.approx([0, 1, np.inf, np.nan], nan_ok=True)
        assert found.measured == 3
        assert found.within(0.5) == pytest.approx(1 / 3)
        assert found.within(1.0) == pytest.approx(2 / 3)


class TestAtNight:
    def test_over_midnight_and_not(self):
        assert at_night(CLOCK).tolist() == [True, False, True] * 2
        assert at_night(CLOCK, (600, 800)).tolist() == [False, True, False] * 2

    def test_wrong_night(self):
        with pytest.raises(InvalidParameter, match="two minutes of the day"):
            at_night(CLOCK, (-1, 5))
