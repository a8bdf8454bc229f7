from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.city import City, Grid, Places
from tracecup.errors import InvalidParameter, InvalidTraces

TOKYO = Grid.from_box(32, 32, south=35.65, north=35.75, west=139.68, east=139.80)


class TestDistance:
    def test_the_papers_examples(self):
        assert TOKYO.distance(0, 1) == pytest.approx(0.34125, abs=1e-12)
        assert TOKYO.distance(0, 32) == pytest.approx(0.346875, abs=1e-12)
        assert round(float(TOKYO.distance(0, 33)), 5) == 0.48659

    @given(st.integers(1, 9), st.integers(1, 9), st.data())
    def test_equals_the_formula_and_is_a_metric(self, nx, ny, data):
        grid = Grid.from_metres(nx, ny, width_m=500, height_m=250)
        a, b, c = (data.draw(st.integers(0, nx * ny - 1)) for _ in range(3))
        wanted = math.hypot(0.5 * (a % nx - b % nx), 0.25 * (a // nx - b // nx))
        assert grid.distance(a, b) == pytest.approx(wanted, abs=1e-9)
        assert grid.distance(a, b) == grid.distance(b, a)
        assert grid.distance(a, c) <= grid.distance(a, b) + grid.distance(b, c) + 1e-12

    def test_matrix_agrees_with_single_distances(self):
        grid = Grid.from_metres(5, 7, width_m=300, height_m=400)
        every = np.arange(35)
        assert np.array_equal(grid.distances[3], grid.distance(3, every))
        assert not grid.distances.flags.writeable

    def test_matrix_of_a_huge_grid_is_refused(self):
        grid = Grid.from_metres(500, 500, width_m=100, height_m=100)
        with pytest.raises(InvalidParameter, match="too large"):
            _ = grid.distances


class TestRegionAt:
    def test_centres_lie_in_their_region(self):
        latitude = np.array(TOKYO.latitudes)[TOKYO.y]
        longitude = np.array(TOKYO.longitudes)[TOKYO.x]
        assert np.array_equal(TOKYO.region_at(latitude, longitude), np.arange(1024))

    def test_outside_and_upper_border(self):
        assert TOKYO.region_at(35.0, 139.7) == -1
        assert TOKYO.region_at(35.75, 139.80) == 1023


class TestGrid:
    def test_sizes_are_checked(self):
        with pytest.raises(InvalidParameter, match="nx and ny"):
            Grid.from_box(0, 1, south=0, north=1, west=0, east=1)
        with pytest.raises(InvalidParameter, match="width"):
            Grid.from_box(1, 1, south=0, north=1, west=1, east=1)
        with pytest.raises(InvalidParameter, match="at most"):
            Grid.from_box(2000, 2000, south=0, north=1, west=0, east=1)


class TestCity:
    def test_hospital_outside_the_grid(self):
        with pytest.raises(InvalidTraces, match="hospital region 1024"):
            City(TOKYO, hospitals=[1024])

    def test_place_outside_the_grid(self):
        with pytest.raises(InvalidTraces, match="place"):
            City(TOKYO, places=Places.of([("food", 0.0, 0.0, 5000)]))

    def test_equal_by_content(self):
        assert City(TOKYO, [3, 1]) == City(TOKYO, [1, 3, 3])
        assert City(TOKYO, [1]) != City(TOKYO, [2])


class TestPlaces:
    def test_categories_by_their_general_part(self):
        places = Places.of([("food/Cafe", 0, 0, 1), ("food", 0, 0, 2), ("foodstuff", 0, 0, 3)])
        assert places.in_category("food").regions.tolist() == [1, 2]

    def test_columns_of_one_length(self):
        with pytest.raises(InvalidTraces, match="length"):
            Places(np.zeros(1), np.zeros(2), np.zeros(1, np.int32), ("a",), np.zeros(1, np.int64))
