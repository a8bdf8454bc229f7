"""Ways, stays and drifting on a small plain."""

from __future__ import annotations

import numpy as np
import pytest

from tracecup.datasets.destinations import Ground
from tracecup.datasets.travelling import (
    RAIL_MIN_PER_KM,
    RAIL_WAIT,
    STREET_MIN_PER_KM,
    STREET_WAIT,
    WALK_MIN_PER_KM,
    Window,
    drift,
    stay,
    travel,
    travel_minutes,
)

DAY = Window(0, 5, 288)


def plain(stations=(0, 9)) -> Ground:
    """Ten by ten regions of a kilometre; everybody's nearest station is one of two."""
    attraction = np.full((6, 100), 0.01)
    column = np.arange(100) % 10
    station_of = np.where(column < 5, stations[0], stations[1]).astype(np.int32)
    return Ground(attraction, np.cumsum(attraction, axis=1), station_of, 10, 10, 1.0, 1.0)


def empty_row(window=DAY):
    return np.full(window.instants, -1, dtype=np.int32)


class TestStay:
    def test_fills_from_begin_to_end(self):
        row = empty_row()
        assert stay(row, DAY, 10.0, 20.0, 7) == 20.0
        assert np.flatnonzero(row == 7).tolist() == [2, 3]

    def test_begin_between_instants(self):
        row = empty_row()
        stay(row, DAY, 11.0, 21.0, 7)
        assert np.flatnonzero(row == 7).tolist() == [3, 4]

    def test_window_cuts(self):
        window = Window(480, 30, 20)
        row = empty_row(window)
        stay(row, window, 0.0, 2000.0, 7)
        assert (row == 7).all()


class TestTravelMinutes:
    def test_near_goals_are_walked_to(self):
        assert travel_minutes(plain(), 0, 1) == (WALK_MIN_PER_KM, False)

    def test_street_when_there_is_no_second_station(self):
        minutes, by_rail = travel_minutes(plain((0, 0)), 0, 9)
        assert (minutes, by_rail) == (STREET_WAIT + 9 * STREET_MIN_PER_KM, False)

    def test_train_when_quicker(self):
        minutes, by_rail = travel_minutes(plain(), 0, 9)
        assert by_rail
        assert minutes == pytest.approx(RAIL_WAIT + 9 * RAIL_MIN_PER_KM)


class TestTravel:
    def test_no_way_takes_no_time(self):
        row = empty_row()
        assert travel(plain(), row, DAY, 100.0, 5, 5) == 100.0
        assert (row == -1).all()

    def test_straight_way_passes_the_regions_between(self):
        row = empty_row()
        end = travel(plain((0, 0)), row, DAY, 0.0, 0, 9)
        seen = row[row >= 0]
        assert end == STREET_WAIT + 9 * STREET_MIN_PER_KM
        assert (np.diff(seen) >= 0).all()
        assert set(seen) <= set(range(10))
        assert len(seen) == np.ceil(end / 5)

    def test_train_goes_by_way_of_its_stations(self):
        window = Window(0, 1, 1440)
        ground, row = plain((10, 19)), empty_row(window)
        end = travel(ground, row, window, 0.0, 10, 29)
        seen = row[row >= 0]
        assert len(seen) == np.ceil(end)
        # On foot only from station 19 on; the train itself waits at station 10.
        assert (seen == 10).sum() >= RAIL_WAIT
        assert 19 in seen
        assert set(seen) <= {*range(10, 20), 29}


class TestDrift:
    def test_without_chance_nobody_moves(self):
        row = empty_row()
        stream = np.array([1, 2, 0], dtype=np.uint64)
        assert drift(stream, plain(), row, DAY, 0.0, 60.0, 55, 0.0, 0) == 55
        assert (row[:12] == 55).all()

    def test_steps_go_to_neighbours(self):
        row = empty_row()
        stream = np.array([1, 2, 0], dtype=np.uint64)
        drift(stream, plain(), row, DAY, 0.0, 300.0, 55, 1.0, 0)
        steps = row[:60:2]
        dx = np.abs(np.diff(steps % 10))
        dy = np.abs(np.diff(steps // 10))
        assert (np.maximum(dx, dy) == 1).all()
