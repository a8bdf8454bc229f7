"""Cleaning of raw points, against slow twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.datasets.cleaning import BELIEVED, Cleaning, RawPoints, clean
from tracecup.errors import InvalidParameter


def points(rows: list[tuple[int, float, float, float]]) -> RawPoints:
    """Rows of (user, seconds, latitude, longitude)."""
    user, time, y, x = (np.array(column) for column in zip(*rows, strict=True))
    return RawPoints(
        user, y.astype(float), x.astype(float), time.astype(float), np.zeros(len(user))
    )


def kilometres(a: tuple, b: tuple) -> float:
    """Great-circle distance by the dot product of unit vectors."""
    first, second = (
        np.array([math.cos(y) * math.cos(x), math.cos(y) * math.sin(x), math.sin(y)])
        for y, x in ((math.radians(p[2]), math.radians(p[3])) for p in (a, b))
    )
    return 6371.0088 * math.atan2(
        float(np.linalg.norm(np.cross(first, second))), float(first @ second)
    )


def slow_speed(rows: list[tuple], limit: float) -> list[tuple]:
    kept: list[tuple] = []
    strays: list[tuple] = []
    for row in sorted(rows):
        if (
            not kept
            or kept[-1][0] != row[0]
            or kilometres(kept[-1], row) <= limit / 3600 * (row[1] - kept[-1][1])
        ):
            kept.append(row)
            strays = []
        else:
            reached = strays and kilometres(strays[-1], row) <= limit / 3600 * (
                row[1] - strays[-1][1]
            )
            strays = [*strays, row] if reached else [row]
            if len(strays) == BELIEVED:
                kept.append(row)
                strays = []
    return kept


ROWS = st.lists(
    st.tuples(
        st.integers(1, 2), st.integers(0, 20).map(lambda k: 60 * k),
        st.integers(0, 4).map(lambda k: 47 + k / 100), st.integers(0, 4).map(lambda k: 8 + k / 100),
    ),
    min_size=1, max_size=25,
)  # fmt: skip


class TestClean:
    def test_duplicates(self):
        rows = [(1, 0, 47, 8), (1, 0, 47, 8), (1, 0, 47, 8.1), (2, 0, 47, 8)]
        left, dropped = clean(points(rows), Cleaning(duplicates=True))
        assert (len(left.user), dropped) == (3, {"duplicates": 1})

    def test_stray_point(self):
        rows = [(1, 0, 47, 8), (1, 60, 48, 8), (1, 120, 47.001, 8)]
        left, dropped = clean(points(rows), Cleaning(max_speed=120))
        assert (left.latitude.tolist(), dropped) == ([47, 47.001], {"stray": 1})

    def test_a_place_that_goes_on_is_believed(self):
        rows = [(1, 0, 47, 8), *((1, 60 * k, 48, 8) for k in range(1, 6))]
        left, dropped = clean(points(rows), Cleaning(max_speed=120))
        assert (left.latitude.tolist(), dropped["stray"]) == ([47, 48, 48, 48], 2)

    def test_a_stay_and_a_walk(self):
        stay = [(1, 60 * k, 47 + k % 2 / 1e5, 8) for k in range(21)]
        walk = [(1, 1300 + 60 * k, 47.01 + k / 100, 8) for k in range(5)]
        left, dropped = clean(points(stay + walk), Cleaning(stay_minutes=20, stay_metres=100))
        assert dropped == {"moving": 5}
        assert len(set(left.latitude.tolist())) == 1
        assert left.latitude[0] == pytest.approx(47 + 10 / 21 / 1e5)

    @given(ROWS, st.sampled_from([5.0, 50.0, 100.0]))
    def test_speed_is_that_of_the_slow_twin(self, rows, limit):
        rows = sorted(set(rows))
        left, _ = clean(points(rows), Cleaning(max_speed=limit))
        found = list(zip(left.user, left.local, left.latitude, left.longitude, strict=True))
        assert found == slow_speed(rows, limit)

    @given(ROWS, st.randoms(use_true_random=False))
    def test_order_does_not_matter(self, rows, random):
        wish = Cleaning(duplicates=True, max_speed=60, stay_minutes=3, stay_metres=1500)
        mixed = random.sample(rows, len(rows))
        (one, lost), (other, gone) = (clean(points(some), wish) for some in (rows, mixed))
        assert lost == gone
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))

    @pytest.mark.parametrize("name", ["max_accuracy", "max_speed", "stay_minutes", "stay_metres"])
    @pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
    def test_numbers_that_make_no_sense(self, name, value):
        with pytest.raises(InvalidParameter, match=name):
            Cleaning(**{name: value}).check()
