"""Boxes and their cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.datasets.boundingbox import CITIES, TOKYO_CENTRE, Box
from tracecup.errors import InvalidParameter


class TestBox:
    @pytest.mark.parametrize(
        "edges", [(1, 1, 0, 1), (2, 1, 0, 1), (0, 1, 3, 2), (0, 1, 0, float("inf"))]
    )
    def test_empty_or_endless_box_is_refused(self, edges):
        with pytest.raises(InvalidParameter):
            Box(*edges)

    def test_paper_has_six_check_in_cities(self):
        assert sorted(CITIES) == ["IST", "JK", "KL", "NYC", "SP", "TKY"]


class TestCells:
    def test_corners_belong_to_the_corner_cells(self):
        box = TOKYO_CENTRE
        latitude = [box.south, box.south, box.north, box.north]
        longitude = [box.west, box.east, box.west, box.east]
        assert box.cells(latitude, longitude, 20, 20).tolist() == [0, 19, 380, 399]

    def test_outside_is_minus_one(self):
        assert TOKYO_CENTRE.cells([35.64, 35.76, 35.7, 35.7], [139.7, 139.7, 139.67, 139.81], 2, 2)[
            :
        ].tolist() == [-1, -1, -1, -1]

    def test_an_inner_border_belongs_to_the_upper_cell(self):
        assert Box(0, 4, 0, 4).cells([1.0, 2.0], [3.0, 0.0], 4, 4).tolist() == [7, 8]

    @given(
        st.lists(
            st.tuples(
                st.floats(35.6, 35.8, allow_nan=False), st.floats(139.6, 139.9, allow_nan=False)
            ),
            min_size=1,
            max_size=30,
        ),
        st.integers(1, 33),
        st.integers(1, 33),
    )
    def test_agrees_with_a_loop_over_borders(self, points, nx, ny):
        box = TOKYO_CENTRE

        def slow(y, x):
            if not (box.south <= y <= box.north and box.west <= x <= box.east):
                return -1
            column, row = nx - 1, ny - 1
            for i in range(nx - 1):
                if x < box.west + (box.east - box.west) * (i + 1) / nx:
                    column = i
                    break
            for i in range(ny - 1):
                if y < box.south + (box.north - box.south) * (i + 1) / ny:
                    row = i
                    break
            return row * nx + column

        cells = box.cells([y for y, _ in points], [x for _, x in points], nx, ny)
        assert cells.tolist() == [slow(y, x) for y, x in points]

    def test_nan_is_outside(self):
        assert TOKYO_CENTRE.cells([np.nan], [139.7], 4, 4).tolist() == [-1]


class TestGrid:
    def test_contest_grid_has_its_region_size(self):
        grid = TOKYO_CENTRE.grid(32, 32)
        assert grid.km_x == pytest.approx(0.34125)
        assert grid.km_y == pytest.approx(0.346875)


class TestHair:
    def test_border_points_go_to_one_side_everywhere(self):
        """Corners of cells as people write them, in a box whose edges carry rounding."""
        box = Box(0.1 + 0.2 - 1e-16, 0.9 + 1e-16, 0.1 * 3, 0.9)
        corners = np.array([0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
        found = box.cells(corners, corners, 6, 6, hair=1e-9)
        assert found.tolist() == [0, 7, 14, 21, 28, 35]

    def test_a_hair_outside_is_inside(self):
        assert Box(0, 1, 0, 1).cells([-1e-10, 1 + 1e-10], [0, 1], 2, 2, 1e-9).tolist() == [0, 3]
        assert Box(0, 1, 0, 1).cells([-1e-10], [0], 2, 2).tolist() == [-1]
