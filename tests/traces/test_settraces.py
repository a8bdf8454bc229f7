from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup import Clock, InvalidTraces, SetTraces, Traces

CLOCK = Clock.regular(2, slots=3)
CELLS = [[[0], [], [1, 2], [3], [3, 3], []], [[4], [4], [], [0, 1, 2], [5], [5]]]

cells = st.integers(1, 4).flatmap(
    lambda m: st.lists(
        st.lists(st.lists(st.integers(0, 9), max_size=4), min_size=6, max_size=6),
        min_size=m,
        max_size=m,
    )
)


def nested(traces: SetTraces) -> list[list[list[int]]]:
    return [
        [traces.cell(i, j).tolist() for j in range(traces.times)] for i in range(traces.n_users)
    ]


class TestSetTraces:
    @given(cells)
    def test_cells_come_back(self, given_cells):
        assert nested(SetTraces.of_cells(given_cells, CLOCK)) == given_cells

    @given(cells)
    def test_sorted_cells_hold_the_same_regions_in_order(self, given_cells):
        traces = SetTraces.of_cells(given_cells, CLOCK)
        wanted = [[sorted(cell) for cell in row] for row in given_cells]
        assert nested(traces.with_sorted_cells()) == wanted
        assert nested(traces) == given_cells  # the input stays

    def test_large_cells_are_sorted_too(self):
        cells = np.random.default_rng(1).integers(0, 500, (3, 2, 400)).tolist()
        assert nested(SetTraces.of_cells(cells).with_sorted_cells()) == [
            [sorted(cell) for cell in row] for row in cells
        ]

    @given(cells, st.data())
    def test_slices_equal_slices_of_nested_lists(self, given_cells, data):
        traces = SetTraces.of_cells(given_cells, CLOCK)
        users = data.draw(st.lists(st.integers(0, len(given_cells) - 1)))
        assert nested(traces.take_users(users)) == [given_cells[u] for u in users]
        assert nested(traces.take_users(slice(1, None))) == given_cells[1:]
        assert nested(traces.take_users(slice(None, None, -1))) == given_cells[::-1]
        assert nested(traces.take_days(1, 2)) == [row[3:] for row in given_cells]
        assert nested(traces.take_slots([0, 2])) == [
            [row[0], row[2], row[3], row[5]] for row in given_cells
        ]

    def test_from_and_to_plain_traces(self):
        plain = Traces.of([[0, 1, -1], [2, -1, 3]])
        assert SetTraces.of_traces(plain).as_traces() == plain
        assert SetTraces.of_traces(Traces.of([[0, 1]])).is_single

    def test_generalised_cells_are_no_plain_traces(self):
        with pytest.raises(InvalidTraces, match="generalised"):
            SetTraces.of_cells(CELLS, CLOCK).as_traces()

    def test_not_single_when_a_deletion_makes_up_for_a_pair(self):
        assert not SetTraces.of_cells([[[0, 1], []]]).is_single

    def test_cell_outside(self):
        with pytest.raises(InvalidTraces, match="not within"):
            SetTraces.of_cells(CELLS, CLOCK).cell(0, 6)

    def test_users_outside(self):
        with pytest.raises(InvalidTraces, match="within 0..1"):
            SetTraces.of_cells(CELLS, CLOCK).take_users([2])

    @pytest.mark.parametrize(
        ("offsets", "regions", "text"),
        [
            ([0, 1], [0], "need 3 offsets"),
            ([0, 2, 1], [0], "rise"),
            ([0, 1, 2], [0], "rise"),
            ([0, 1, 1], [-1], ">= 0"),
        ],
    )
    def test_bad_arrays(self, offsets, regions, text):
        with pytest.raises(InvalidTraces, match=text):
            SetTraces(np.array(offsets), np.array(regions), np.array([1]), Clock.unknown(2))

    def test_rows_of_one_length(self):
        with pytest.raises(InvalidTraces, match="different numbers"):
            SetTraces.of_cells([[[0]], [[0], [1]]])
