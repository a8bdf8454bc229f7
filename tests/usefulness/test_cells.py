from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tracecup.traces import SetTraces
from tracecup.usefulness.cells import distinct_cells


class TestDistinctCells:
    @given(st.lists(st.lists(st.integers(0, 3), max_size=3), min_size=1, max_size=40))
    def test_equal_numbers_mean_equal_cells(self, cells: list[list[int]]):
        released = SetTraces.of_cells([cells])
        kind, first = distinct_cells(released.offsets, released.regions)
        for k, cell in enumerate(cells):
            assert (kind[k] < 0) == (not cell)
            if cell:
                assert cells[first[kind[k]]] == cell
        assert len({tuple(cell) for cell in cells if cell}) == len(first)
