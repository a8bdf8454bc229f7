"""Points in Arrow columns, against struct."""

from __future__ import annotations

import math
import struct

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.datasets.wellknown import point_columns

NUMBER = st.floats(-180, 180)


class TestPointColumns:
    @given(NUMBER, NUMBER, st.sampled_from("<>"), st.sampled_from([1, 1001, 0x80000001]))
    def test_binary(self, x, y, order, kind):
        extra = [7.0] if kind != 1 else []
        parts = [x, y, *extra]
        text = struct.pack(f"{order}BI{len(parts)}d", order == "<", kind, *parts)
        found = point_columns(pa.array([text, None, b"\x01\x02"]))
        assert (found[0][0], found[1][0]) == (x, y)
        assert found[2].tolist() == [True, False, False]

    def test_binary_with_a_reference_system(self):
        text = struct.pack("<BIIdd", 1, 0x20000001, 4326, 8.5, 47.0)
        x, y, good = point_columns(pa.array([text]))
        assert (x[0], y[0], good[0]) == (8.5, 47.0, True)

    @given(NUMBER, NUMBER, st.sampled_from(["POINT ({} {})", "point({}  {})", "Point Z ({} {} 3)"]))
    def test_text(self, x, y, form):
        found = point_columns(pa.array([form.format(repr(x), repr(y))]))
        assert (found[0][0], found[1][0], found[2][0]) == (x, y, True)

    @pytest.mark.parametrize(
        "text", ["", "POINT", "POINT EMPTY", "POINT (1)", "POINT (1 2", "LINE (1 2)", "POINT (a b)"]
    )
    def test_no_point(self, text):
        x, _, good = point_columns(pa.array([text]))
        assert math.isnan(x[0])
        assert not good[0]

    def test_pairs(self):
        pairs = pa.array([[8.5, 47.0], None], pa.list_(pa.float64(), 2))
        struct_of = pa.array([{"x": 8.5, "y": 47.0}, None])
        for column in (pairs, struct_of):
            x, y, good = point_columns(column)
            assert (x[0], y[0], good.tolist()) == (8.5, 47.0, [True, False])
