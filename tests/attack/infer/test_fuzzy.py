from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracecup.attack import Case, FuzzyR, FuzzyT
from tracecup.attack.infer.fuzzy import default_threshold, keep_first
from tracecup.city import City, Clock
from tracecup.traces import SetTraces, Traces


class TestDefaultThreshold:
    @pytest.mark.parametrize(("days", "wanted"), [(1, 2), (2, 2), (8, 2), (9, 3), (20, 5), (21, 6)])
    def test_a_quarter_of_the_days_but_two(self, days: int, wanted: int) -> None:
        assert default_threshold(days) == wanted


class TestKeepFirst:
    def test_the_first_pseudonym_keeps_a_user(self) -> None:
        table = keep_first(np.array([2, 2, 0, 2], dtype=np.int32), rng=1).users.tolist()
        assert (table[0], table[2]) == (2, 0)
        assert {table[1], table[3]} == {1, 3}

    def test_leftovers_are_matched_at_random(self) -> None:
        # pseudonyms 1 and 2 draw from users 1 and 2: 1000 tables, each order with probability
        # 1/2; standard deviation 15.8, 6 sigma = 95, a false alarm below 1e-8.
        random = np.random.default_rng(3)
        tables = [keep_first(np.zeros(3, dtype=np.int32), random).users for _ in range(1000)]
        assert abs(sum(int(table[1]) == 1 for table in tables) - 500) < 95

    @settings(max_examples=40)
    @given(
        st.integers(1, 9).flatmap(lambda m: st.lists(st.integers(0, m - 1), min_size=m, max_size=m))
    )
    def test_is_one_to_one_and_keeps_the_first(self, users: list[int]) -> None:
        table = keep_first(np.array(users, dtype=np.int32), rng=1)
        assert table.is_permutation
        for user in set(users):
            assert table.users[users.index(user)] == user


class TestFuzzyT:
    def test_cell_by_cell(self, toy_city: City) -> None:
        # three days of three slots; region 0 twice at slot 0, once at most elsewhere
        clock = Clock.regular(3, slots=3)
        reference = Traces.of([[0, 1, 2, 0, 3, 4, 1, 2, 3]], clock)
        day = [[4], [4], []]
        released = SetTraces.of_cells([day * 3], clock)
        inferred = FuzzyT().infer(Case(toy_city, reference, released))
        # slot 0: habit (2 of 3 days); slot 1: the cell; slot 2: deleted, so the first seen
        assert inferred.regions.tolist() == [[0, 4, 2] * 3]

    def test_threshold_one_is_habit_everywhere(self, make_case: Callable[..., Case]) -> None:
        case = make_case(1, users=9, gaps=0.0)
        first, second = (FuzzyT(threshold=1).infer(case, rng=seed) for seed in (1, 2))
        assert np.array_equal(first.regions, second.regions)

    def test_a_threshold_out_of_reach_copies_the_linked_cells(
        self, make_case: Callable[..., Case]
    ) -> None:
        case = make_case(1, users=9, sizes=(1,))
        table = keep_first(FuzzyR().identify(case).users, rng=5)
        wanted = case.released.as_traces().regions[table.inverse()]
        assert np.array_equal(FuzzyT(threshold=99).infer(case, rng=5).regions, wanted)

    def test_zero_is_the_default_threshold(self, make_case: Callable[..., Case]) -> None:
        case = make_case(3, users=9, nx=2, ny=2, days=12)
        auto, three = (FuzzyT(threshold=n).infer(case, rng=1) for n in (0, 3))
        assert auto == three

    def test_parameters_reach_the_model(self, make_case: Callable[..., Case]) -> None:
        case = make_case(4, users=30, sizes=(1,))
        attack = FuzzyT(0.8, 0.1, 99, tf="count", idf="log", order="spread-first")
        model = FuzzyR(0.8, 0.1, tf="count", idf="log", order="spread-first")
        table = keep_first(model.identify(case).users, rng=5)
        assert table != keep_first(FuzzyR().identify(case).users, rng=5)
        wanted = case.released.as_traces().regions[table.inverse()]
        assert np.array_equal(attack.infer(case, rng=5).regions, wanted)
