"""Coordinate systems to degrees."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.datasets.projection import name_of_crs, to_degrees
from tracecup.errors import InvalidParameter


class TestToDegrees:
    @pytest.mark.parametrize("crs", [None, "EPSG:4326", "OGC:CRS84"])
    def test_degrees_stay(self, crs):
        x, y = to_degrees(crs, np.array([8.5]), np.array([47.0]))
        assert (x.tolist(), y.tolist()) == ([8.5], [47.0])

    @given(st.floats(-179, 179), st.floats(-84, 84))
    def test_mercator_undoes_the_textbook_formula(self, longitude, latitude):
        radius = 6378137.0
        x = radius * math.radians(longitude)
        y = radius * math.log(math.tan(math.pi / 4 + math.radians(latitude) / 2))
        found = to_degrees("EPSG:3857", np.array([x]), np.array([y]))
        assert [float(v[0]) for v in found] == pytest.approx([longitude, latitude], abs=1e-9)

    def test_swiss_grid_with_pyproj(self):
        pytest.importorskip("pyproj")
        x, y = to_degrees("EPSG:2056", np.array([2600000.0]), np.array([1200000.0]))
        assert [float(x[0]), float(y[0])] == pytest.approx([7.438632, 46.951083], abs=1e-5)

    def test_nonsense(self):
        with pytest.raises(InvalidParameter):
            to_degrees("EPSG:nonsense", np.zeros(1), np.zeros(1))


class TestNameOfCrs:
    @pytest.mark.parametrize("crs", [None, {}, {"id": 3}, "{broken", "{" * 5000, 7])
    def test_nothing_usable(self, crs):
        assert name_of_crs(crs) is None

    def test_text_of_projjson(self):
        assert name_of_crs('{"id": {"authority": "epsg", "code": 3857}}') == "EPSG:3857"
