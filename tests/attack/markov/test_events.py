from __future__ import annotations

from collections.abc import Callable

from tracecup.attack import Case
from tracecup.attack.markov.events import number_cells
from tracecup.traces import SetTraces


class TestNumberCells:
    def test_lists_of_every_event_are_found_again(self, make_case: Callable[..., Case]) -> None:
        released = make_case(4, users=8, days=4).released
        numbers, offsets, regions = number_cells(released)
        for k in range(8):
            for t in range(released.times):
                c = numbers[k, t]
                found = regions[offsets[c] : offsets[c + 1]].tolist() if c >= 0 else []
                assert found == released.cell(k, t).tolist()

    def test_nothing_released(self) -> None:
        numbers, offsets, regions = number_cells(SetTraces.of_cells([[[], []]]))
        assert numbers.tolist() == [[-1, -1]]
        assert (offsets.tolist(), regions.tolist()) == ([0], [])
