from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tracecup.attack import Case
from tracecup.attack.models import likelihood, visit_scores
from tracecup.attack.models.cellwise import CellwiseScores
from tracecup.attack.models.products import ProductScores
from tracecup.attack.models.running import Running
from tracecup.attack.scores import Scores
from tracecup.city import Clock
from tracecup.device import NumpyArrays
from tracecup.errors import InvalidParameter
from tracecup.traces import SetTraces, Traces

TABLE, CELLWISE = 1 << 25, 0


def slow_scores(reference: Traces, released: SetTraces) -> NDArray[np.float64]:
    """The paper's formula, cell by cell."""
    m = reference.n_users
    scores = np.zeros((m, m))
    for u in range(m):
        seen = [int(r) for r in reference.regions[u] if r >= 0]
        visits = {r: seen.count(r) / len(seen) for r in seen}
        for k in range(m):
            for j in range(released.times):
                cell = released.cell(k, j).tolist()
                if cell:
                    mean = sum(visits.get(r, 1e-8) for r in cell) / len(cell)
                    scores[k, u] += math.log(mean)
    return scores


def exact_best(scores: NDArray[np.float64]) -> list[int]:
    return [next(u for u, s in enumerate(row) if s >= max(row) - 1e-9) for row in scores.tolist()]


def both_ways(reference: Traces, released: SetTraces, n_regions: int) -> list[Scores]:
    return [visit_scores(reference, released, n_regions, limit) for limit in (TABLE, CELLWISE)]


class TestVisitScores:
    def test_by_hand(self) -> None:
        # V[0] = (1/2, 1/2, floor), V[1] = (floor, floor, 1)
        reference = Traces.of([[0, 1], [2, 2]])
        released = SetTraces.of_cells([[[0], [0, 2]], [[], [2]]])
        wanted = [
            [math.log(0.5) + math.log((0.5 + 1e-8) / 2), math.log(1e-8) + math.log((1e-8 + 1) / 2)],
            [math.log(1e-8), 0.0],
        ]
        for scores in both_ways(reference, released, 3):
            assert scores.rows(0, 2) == pytest.approx(np.array(wanted), abs=1e-12)

    def test_multiplicity_counts(self) -> None:
        reference = Traces.of([[0, 0], [1, 1]])
        released = SetTraces.of_cells([[[0, 0, 1]], [[1]]], Clock.regular(1, slots=1))
        reference = reference.take_slots([0])
        for scores in both_ways(reference, released, 2):
            assert scores.rows(0, 1)[0] == pytest.approx(
                [math.log((2 + 1e-8) / 3), math.log((1 + 2e-8) / 3)], abs=1e-12
            )

    def test_the_same_set_in_another_order_scores_the_same(self) -> None:
        reference = Traces.of([[0, 1, 2], [3, 4, 4]])
        released = SetTraces.of_cells([[[0, 1, 3], [3, 0, 1], []], [[4, 4], [4], [4, 4]]])
        for scores in both_ways(reference, released, 5):
            assert scores.rows(0, 2) == pytest.approx(slow_scores(reference, released), abs=1e-11)

    @pytest.mark.parametrize("seed", range(8))
    def test_equals_the_slow_loop(self, make_case: Callable[..., Case], seed: int) -> None:
        case = make_case(seed, users=1 + seed, days=1 + seed % 3, gaps=0.2)
        wanted = slow_scores(case.reference, case.released)
        for scores in both_ways(case.reference, case.released, 35):
            assert scores.rows(0, case.n_users) == pytest.approx(wanted, abs=1e-10)
            assert scores.best().tolist() == exact_best(wanted)

    @pytest.mark.parametrize("sizes", [(1,), (0,), (5,), (0, 1), (2, 3)])
    def test_equals_the_slow_loop_for_any_kind_of_cell(
        self, make_case: Callable[..., Case], sizes: tuple[int, ...]
    ) -> None:
        case = make_case(1, sizes=sizes)
        wanted = slow_scores(case.reference, case.released)
        for scores in both_ways(case.reference, case.released, 35):
            assert scores.rows(0, case.n_users) == pytest.approx(wanted, abs=1e-10)

    def test_long_traces_neither_overflow_nor_vanish(self, make_case: Callable[..., Case]) -> None:
        # 90 cells that nobody visited: 1e-720 as a product
        case = make_case(2, users=3, slots=30, days=3, sizes=(1, 2, 7))
        nowhere = Traces.of(np.full((3, 90), 34), case.reference.clock)
        for reference in (case.reference, nowhere):
            wanted = slow_scores(reference, case.released)
            for scores in both_ways(reference, case.released, 35):
                assert scores.rows(0, 3) == pytest.approx(wanted, abs=1e-9)

    def test_more_users_than_a_block(self, make_case: Callable[..., Case]) -> None:
        case = make_case(4, users=70, days=1)
        wanted = slow_scores(case.reference, case.released)
        for scores in both_ways(case.reference, case.released, 35):
            assert scores.rows(0, 70) == pytest.approx(wanted, abs=1e-10)
            assert scores.best().tolist() == exact_best(wanted)

    def test_a_deleted_pseudonym_ties_everybody(self, make_case: Callable[..., Case]) -> None:
        case = make_case(3)
        for scores in both_ways(case.reference, case.released, 35):
            assert scores.rows(5, 6).tolist() == [[0.0] * 6]
            assert scores.best()[5] == 0

    def test_a_user_who_was_never_seen_has_floors(self) -> None:
        reference = Traces.of([[-1, -1], [1, 1]])
        released = SetTraces.of_cells([[[0], [1]], [[0, 1], []]])
        for scores in both_ways(reference, released, 2):
            assert scores.rows(0, 2)[:, 0] == pytest.approx([2 * math.log(1e-8), math.log(1e-8)])

    def test_a_block_of_rows_is_a_part_of_all(self, make_case: Callable[..., Case]) -> None:
        case = make_case(6, users=9)
        for scores in both_ways(case.reference, case.released, 35):
            assert np.array_equal(scores.rows(2, 7), scores.rows(0, 9)[2:7])

    def test_permuting_users_permutes_the_matrix(self, make_case: Callable[..., Case]) -> None:
        case = make_case(8, users=9)
        order = np.random.default_rng(0).permutation(9)
        for limit in (TABLE, CELLWISE):
            scores = visit_scores(case.reference, case.released, 35, limit).rows(0, 9)
            users = visit_scores(case.reference.take_users(order), case.released, 35, limit)
            released = case.released.take_users(order)
            pseudonyms = visit_scores(case.reference, released, 35, limit)
            assert np.array_equal(users.rows(0, 9), scores[:, order])
            assert pseudonyms.rows(0, 9) == pytest.approx(scores[order], abs=1e-11)

    def test_few_distinct_cells_go_through_the_table(self, make_case: Callable[..., Case]) -> None:
        case = make_case(1, users=4, days=1, sizes=(2,))
        assert isinstance(visit_scores(case.reference, case.released, 35), ProductScores)
        # 12 different sets x 4 users
        fits = visit_scores(case.reference, case.released, 35, max_table_entries=48)
        assert isinstance(fits, ProductScores)
        too_many = visit_scores(case.reference, case.released, 35, max_table_entries=47)
        assert isinstance(too_many, CellwiseScores)
        with pytest.raises(InvalidParameter, match="this release is attacked on the cpu only"):
            too_many.best_on(NumpyArrays())

    def test_blocks_of_users_where_the_table_is_too_large(
        self, make_case: Callable[..., Case], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tracecup.attack.models.likelihood.TILE", 2)
        case = make_case(5, users=30, days=3, sizes=(1, 1, 1, 0))
        whole = visit_scores(case.reference, case.released, 35)
        blocks = visit_scores(case.reference, case.released, 35, max_table_entries=200)
        assert isinstance(blocks, ProductScores)
        assert np.array_equal(blocks.rows(3, 28), whole.rows(3, 28))
        assert blocks.best().tolist() == whole.best().tolist()
        assert whole.best().tolist() == exact_best(slow_scores(case.reference, case.released))

    def test_cell_by_cell_with_longer_chains_of_near_ties_than_are_kept(
        self, make_case: Callable[..., Case], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        full = replace(Running.of(7), counts=np.full(7, -1, dtype=np.int8))
        monkeypatch.setattr(Running, "of", lambda m: full)
        case = make_case(9, users=7)
        scores = CellwiseScores(case.reference, case.released, 35)
        wanted = exact_best(slow_scores(case.reference, case.released))
        assert scores.best().tolist() == wanted

    def test_too_many_single_regions_go_cell_by_cell(self, make_case: Callable[..., Case]) -> None:
        case = make_case(1, users=4, sizes=(1,), gaps=0.0)
        assert isinstance(visit_scores(case.reference, case.released, 35, 8), CellwiseScores)

    def test_sets_are_merged_over_blocks(
        self, make_case: Callable[..., Case], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        case = make_case(2, users=12, sizes=(2, 2, 1, 0))
        rows = []
        for threads in ("1", "3"):
            monkeypatch.setenv("TRACECUP_THREADS", threads)
            keep = likelihood.visited_regions(case.reference, 35)
            bags = likelihood.bag_cells(case.released, 35, keep, 1000)
            assert bags is not None
            lists = np.split(bags.row_regions, bags.row_offsets[1:-1])
            rows.append([part.tolist() for part in lists])
        assert rows[0] == rows[1]
        assert len({tuple(row) for row in rows[0]}) == len(rows[0])

    @settings(max_examples=40)
    @given(
        cells=st.lists(
            st.lists(st.lists(st.integers(0, 5), max_size=4), min_size=3, max_size=3),
            min_size=2,
            max_size=2,
        ),
        visits=st.lists(
            st.lists(st.integers(-1, 5), min_size=3, max_size=3), min_size=2, max_size=2
        ),
    )
    def test_any_cells_and_visits(
        self, cells: list[list[list[int]]], visits: list[list[int]]
    ) -> None:
        reference, released = Traces.of(visits), SetTraces.of_cells(cells)
        wanted = slow_scores(reference, released)
        for scores in both_ways(reference, released, 6):
            assert scores.rows(0, 2) == pytest.approx(wanted, abs=1e-10)
            assert scores.best().tolist() == exact_best(wanted)
