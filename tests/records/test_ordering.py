"""Orders of records, against NumPy's lexicographic sort."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracecup.records.ordering import first_of_events, first_rows, order_by_user

ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 3)), max_size=40)


def columns(rows: list[tuple[int, int, int]]) -> list[np.ndarray]:
    return [np.array([row[k] for row in rows], dtype=np.int64) for k in range(3)]


class TestOrderByUser:
    @given(ROWS)
    def test_is_the_lexicographic_order(self, rows):
        user, time, place = columns(rows)
        found = order_by_user(user, 6, time.astype(np.float64), place.astype(np.int32))
        assert found.tolist() == np.lexsort((place, time, user)).tolist()


class TestFirstOfEvents:
    @given(ROWS)
    def test_is_the_first_row_of_each(self, rows):
        user, event, _ = columns(sorted(rows, key=lambda row: row[0]))
        firsts: dict[tuple[int, int], int] = {}
        for k, pair in enumerate(zip(user.tolist(), event.tolist(), strict=True)):
            firsts.setdefault(pair, k)
        assert first_of_events(user, event).tolist() == [firsts[pair] for pair in sorted(firsts)]


class TestFirstRows:
    @given(ROWS)
    def test_is_that_of_the_general_rule(self, seen):
        user, day, instant = columns(seen)
        rows = np.argsort(user, kind="stable")
        found, sure = first_rows(rows, user, day.astype(np.int32), instant.astype(np.int32))
        event = day[rows] * 4 + instant[rows]
        falls = (np.diff(user[rows]) == 0) & (np.diff(event) < 0)
        assert sure == (not falls.any())
        if sure:
            assert found.tolist() == rows[first_of_events(user[rows], event)].tolist()
