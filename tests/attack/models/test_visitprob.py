from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tracecup.attack import Case, HomeProbR, VisitProbR
from tracecup.attack.models import visit_scores
from tracecup.city import City, Clock
from tracecup.errors import InvalidParameter
from tracecup.traces import SetTraces, Traces


class TestVisitProbR:
    def test_finds_the_users_of_the_toy(
        self, toy_city: City, toy_original: Traces, toy_obfuscated: SetTraces
    ) -> None:
        case = Case(toy_city, toy_original, toy_obfuscated.take_users([1, 2, 0]))
        assert VisitProbR().identify(case).users.tolist() == [1, 2, 0]

    def test_uses_all_cells_and_members(self, make_case: Callable[..., Case]) -> None:
        case = make_case(1)
        wanted = visit_scores(case.reference, case.released, 35).rows(0, 6)
        assert np.array_equal(VisitProbR().score_matrix(case, rng=1), wanted)

    def test_the_organisers_variant_uses_a_part(self, make_case: Callable[..., Case]) -> None:
        case = make_case(1, users=9, days=30)
        all_cells = VisitProbR().score_matrix(case)
        tenth = VisitProbR(cells=0.1, members=2).score_matrix(case, rng=1)
        # 90 cells: the part has a likelihood nearer to zero
        assert (tenth[:-1] > all_cells[:-1]).all()
        assert np.array_equal(tenth, VisitProbR(cells=0.1, members=2).score_matrix(case, rng=1))

    @pytest.mark.parametrize("attack", [VisitProbR(cells=0.0), VisitProbR(members=-1)])
    def test_checks_its_parameters(
        self, make_case: Callable[..., Case], attack: VisitProbR
    ) -> None:
        with pytest.raises(InvalidParameter, match=r"VisitProb-R\.(cells|members) must be"):
            attack.identify(make_case(1))


class TestHomeProbR:
    def test_looks_at_the_first_two_slots_only(self, toy_city: City) -> None:
        clock = Clock.regular(days=2, slots=3)
        reference = Traces.of([[0, 1, 4, 0, 1, 4], [2, 3, 0, 2, 3, 0]], clock)
        released = SetTraces.of_cells(
            [[[2], [3], [4], [2], [3], [4]], [[0], [1], [0], [1], [0], [0]]], clock
        )
        case = Case(toy_city, reference, released)
        assert HomeProbR().identify(case).users.tolist() == [1, 0]
        home = visit_scores(reference.take_slots([0, 1]), released.take_slots([0, 1]), 5)
        assert np.array_equal(HomeProbR().score_matrix(case), home.rows(0, 2))

    def test_slots_are_a_parameter(self, make_case: Callable[..., Case]) -> None:
        case = make_case(2)
        whole_day = HomeProbR(slots=3).score_matrix(case)
        assert np.array_equal(whole_day, VisitProbR().score_matrix(case))

    def test_a_shorter_day_is_used_whole(self, make_case: Callable[..., Case]) -> None:
        case = make_case(2, slots=1, days=4)
        assert np.array_equal(HomeProbR().score_matrix(case), VisitProbR().score_matrix(case))
