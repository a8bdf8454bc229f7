from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from tracecup.attack import Case
from tracecup.attack.infer.frequent import frequent_regions, usual_regions
from tracecup.city import Clock
from tracecup.traces import Traces


class TestFrequentRegions:
    def test_ties_go_to_the_first_seen(self) -> None:
        traces = Traces.of([[4, 1, 2, 1, 2, 4]], Clock.regular(6, slots=1))
        regions, counts = frequent_regions(traces, 5)
        assert (regions.tolist(), counts.tolist()) == ([[4]], [[2]])

    def test_a_slot_without_observation_gets_the_usual_region(self) -> None:
        traces = Traces.of([[3, -1, 3, -1], [-1, 2, 1, 2]], Clock.regular(2, slots=2))
        regions, counts = frequent_regions(traces, 5)
        assert regions.tolist() == [[3, 3], [1, 2]]
        assert counts.tolist() == [[2, 0], [1, 2]]

    @pytest.mark.parametrize("seed", range(3))
    def test_equals_counters(self, make_case: Callable[..., Case], seed: int) -> None:
        traces = make_case(seed, nx=2, ny=2, days=7, gaps=0.0).reference
        regions, counts = frequent_regions(traces, 4)
        for i in range(traces.n_users):
            for slot in range(3):
                # Counter.most_common keeps the order of first sight among equals
                wanted = Counter(traces.regions[i, slot::3].tolist()).most_common(1)[0]
                assert (regions[i, slot], counts[i, slot]) == wanted


class TestUsualRegions:
    def test_over_all_slots(self) -> None:
        traces = Traces.of([[0, 4, 1, 4]], Clock.regular(2, slots=2))
        assert usual_regions(traces, 5).tolist() == [4]

    def test_a_user_never_seen_gets_the_most_visited_region(self) -> None:
        assert usual_regions(Traces.of([[-1, -1], [3, 2], [3, 1]]), 5).tolist() == [3, 3, 3]

    def test_nobody_ever_seen(self) -> None:
        assert usual_regions(Traces.of([[-1], [-1]]), 5).tolist() == [0, 0]
