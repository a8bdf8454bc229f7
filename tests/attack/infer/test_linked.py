from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tracecup.attack import (
    Case,
    HomeProbR,
    HomeProbT,
    VisitProbR,
    VisitProbT,
    assignment_table,
    greedy_table,
)
from tracecup.attack.infer.linked import copy_linked
from tracecup.city import City
from tracecup.traces import IdTable, SetTraces, Traces


class TestCopyLinked:
    def test_users_get_the_cells_of_their_pseudonym(self, toy_city: City) -> None:
        released = SetTraces.of_cells([[[0], [1]], [[2], [3]], [[4], [4]]], users=[4, 5, 6])
        case = Case(toy_city, Traces.of([[0, 0]] * 3), released)
        inferred = copy_linked(case, IdTable.of([2, 0, 1]))
        assert inferred.regions.tolist() == [[2, 3], [4, 4], [0, 1]]
        assert inferred.users.tolist() == [1, 2, 3]

    def test_deleted_cells_become_regions_of_the_city(self, toy_city: City) -> None:
        # 2000 uniform draws of 5 regions: a region is missing with probability 0.8^2000.
        case = Case(toy_city, Traces.of([[0] * 2000]), SetTraces.of_cells([[[]] * 2000]))
        inferred = copy_linked(case, IdTable.of([0]), rng=1)
        assert set(inferred.regions.ravel().tolist()) == {0, 1, 2, 3, 4}


class TestVisitProbT:
    def test_links_greedily(self, make_case: Callable[..., Case]) -> None:
        case = make_case(1, users=12, sizes=(1,))
        table = greedy_table(VisitProbR().scores(case))
        wanted = case.released.as_traces().regions[table.inverse()]
        assert np.array_equal(VisitProbT().infer(case, rng=1).regions, wanted)

    def test_or_optimally(self, make_case: Callable[..., Case]) -> None:
        case = make_case(1, users=12, sizes=(1,))
        table = assignment_table(VisitProbR().scores(case))
        wanted = case.released.as_traces().regions[table.inverse()]
        assert np.array_equal(VisitProbT(match="assignment").infer(case).regions, wanted)


class TestHomeProbT:
    def test_links_greedily(self, make_case: Callable[..., Case]) -> None:
        case = make_case(2, users=12, sizes=(1,))
        table = greedy_table(HomeProbR().scores(case))
        wanted = case.released.as_traces().regions[table.inverse()]
        assert np.array_equal(HomeProbT().infer(case, rng=1).regions, wanted)
