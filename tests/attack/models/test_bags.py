from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from tracecup.attack import Case
from tracecup.attack.models import bags as module
from tracecup.attack.models.bags import Bags, bag_cells, bag_visits, bags_of_counts, visited_regions
from tracecup.traces import SetTraces, Traces
from tracecup.traces.visitfiles import VisitCounts

EVERYWHERE = np.ones(35, dtype=np.bool_)


def contents(bags: Bags, pseudonym: int) -> dict[tuple[int, ...], float]:
    """The bag of one pseudonym as {list of regions: weight}."""
    lists = [
        tuple(bags.row_regions[low:high].tolist())
        for low, high in zip(bags.row_offsets[:-1], bags.row_offsets[1:], strict=True)
    ]
    begin = bags.begins[pseudonym]
    own = slice(begin, begin + bags.lengths[pseudonym])
    entries = zip(bags.ids[own], bags.weights[own], strict=True)
    return {lists[row]: float(weight) for row, weight in entries}


class TestVisitedRegions:
    def test_marks_what_occurs(self) -> None:
        seen = visited_regions(Traces.of([[0, -1], [3, 0]]), 5)
        assert seen.tolist() == [True, False, False, True, False]


class TestBagCells:
    def test_by_hand(self) -> None:
        released = SetTraces.of_cells([[[4], [1, 2], [4], []], [[1, 2], [2, 1], [2], [1, 2]]])
        bags = bag_cells(released, 5, EVERYWHERE[:5], 10)
        assert bags is not None
        assert contents(bags, 0) == {(4,): 2.0, (1, 2): 1.0}
        assert contents(bags, 1) == {(1, 2): 2.0, (2, 1): 1.0, (2,): 1.0}
        assert bags.cells.tolist() == [3, 4]

    def test_leaves_out_what_nobody_visits(self) -> None:
        released = SetTraces.of_cells([[[4], [1, 2], [0], [0, 1]]])
        keep = np.array([True, False, False, False, False])
        bags = bag_cells(released, 5, keep, 10)
        assert bags is not None
        assert contents(bags, 0) == {(0,): 1.0, (0, 1): 1.0}
        assert bags.cells.tolist() == [4]

    @pytest.mark.parametrize("seed", range(4))
    def test_equals_counters(self, make_case: Callable[..., Case], seed: int) -> None:
        released = make_case(seed, users=9, nx=2, ny=2, days=4).released
        bags = bag_cells(released, 4, EVERYWHERE[:4], 1000)
        assert bags is not None
        for k in range(9):
            cells = [tuple(released.cell(k, j).tolist()) for j in range(released.times)]
            assert contents(bags, k) == Counter(cell for cell in cells if cell)

    def test_gives_up_above_the_limit(self) -> None:
        released = SetTraces.of_cells([[[0, 1], [1, 2], [0, 1], [2, 3]]])
        assert bag_cells(released, 5, EVERYWHERE[:5], 2) is None
        assert bag_cells(released, 5, EVERYWHERE[:5], 3) is not None

    def test_gives_up_above_the_limit_over_all_blocks(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TRACECUP_THREADS", "2")
        released = SetTraces.of_cells([[[0, 1], [1, 2]], [[0, 2], [2, 3]]])
        assert bag_cells(released, 5, EVERYWHERE[:5], 3) is None

    def test_equal_hashes_do_not_make_equal_sets(self) -> None:
        released = SetTraces.of_cells([[[0, 1], [1, 2], [0, 1]]])
        slots, hashes = np.full(64, -1, dtype=np.int32), np.zeros(64, dtype=np.uint64)
        first = np.empty(4, dtype=np.int64)
        find = module._find_set
        offsets, regions = released.offsets, released.regions
        assert find(offsets, regions, 0, slots, hashes, first, 0) == 0
        # pretend that cell 1 has the hash and the place of cell 0
        mixed = module._hash_cell(regions, offsets[1], offsets[2])
        at = int(np.flatnonzero(slots == 0)[0])
        slots[at] = -1
        slots[int(mixed) % 64], hashes[int(mixed) % 64] = 0, mixed
        assert find(offsets, regions, 1, slots, hashes, first, 1) == 1


class TestBagVisits:
    def test_a_set_shares_one_visit(self) -> None:
        bags = bag_visits(SetTraces.of_cells([[[4], [1, 4], [2, 2, 1], []]]), 5)
        assert contents(bags, 0) == pytest.approx({(4,): 1.5, (1,): 0.5 + 1 / 3, (2,): 2 / 3})

    def test_everything_deleted(self) -> None:
        bags = bag_visits(SetTraces.of_cells([[[], []]]), 5)
        assert bags.lengths.tolist() == [0]

    def test_one_large_bag_does_not_make_all_large(self) -> None:
        cells = [[[region] for region in range(5)], *([[2]] + [[]] * 4 for _ in range(99))]
        bags = bag_visits(SetTraces.of_cells(cells), 5)
        assert bags.weights.nbytes == 8 * (5 + 99)
        assert contents(bags, 99) == {(2,): 1.0}


class TestBagsOfCounts:
    def test_memory_grows_with_entries_not_with_the_largest_bag(self) -> None:
        offsets = np.concatenate([[0, 400], 400 + np.arange(1, 1000)]).astype(np.int64)
        regions = np.concatenate([np.arange(400), np.full(999, 7)]).astype(np.int32)
        bags = bags_of_counts(VisitCounts(offsets, regions, np.full(1399, 3, np.int32)), 400)
        assert (bags.ids.size, bags.weights.size) == (1399, 1399)
        assert len(contents(bags, 0)) == 400
        assert contents(bags, 999) == {(7,): 3.0}


class TestOf:
    def test_some_pseudonyms_in_their_order(self) -> None:
        bags = bag_visits(SetTraces.of_cells([[[0], [1]], [[2], [2]], [[3], []]]), 5)
        some = bags.of(np.array([2, 1]))
        assert [contents(some, k) for k in range(2)] == [{(3,): 1.0}, {(2,): 2.0}]
        assert some.cells.tolist() == [1, 2]
