from __future__ import annotations

from collections.abc import Callable
from math import log

import numpy as np
import pytest
from slowchains import matrices, move_scores

from tracecup.attack import Case, Markov0R, MarkovR
from tracecup.attack.markov import start_rows
from tracecup.city import City, Clock, Grid
from tracecup.errors import InvalidParameter
from tracecup.traces import SetTraces, Traces


@pytest.fixture(scope="module")
def worked() -> Case:
    """Regions 1..3, A = 1 1 2 1 and B = 3 3 2 3; q = 3 3 3 2 and p = 1, {1,2}, deleted, 2."""
    city = City(Grid.from_metres(3, 1, width_m=341.25, height_m=346.875))
    reference = Traces.of([[0, 0, 1, 0], [2, 2, 1, 2]])
    released = SetTraces.of_cells([[[2], [2], [2], [1]], [[0], [0, 1], [], [1]]])
    return Case(city, reference, released)


class TestMarkovR:
    def test_worked_example(self, worked: Case) -> None:
        wanted = [[-55.2620, -2.0794], [-0.6931, -18.4207]]
        assert np.allclose(MarkovR().score_matrix(worked), wanted, 0, 5e-5)

    def test_default_is_the_floor_estimator(self, make_case: Callable[..., Case]) -> None:
        case = make_case(1)
        wanted = move_scores(case.released, matrices(case.reference, 35, "floor", 0))
        assert np.allclose(MarkovR().score_matrix(case), wanted, 1e-11, 1e-11)

    def test_a_region_that_stands_twice_acts_like_once(self, worked: Case) -> None:
        cells = [[[2, 2], [2], [2, 2], [1]], [[0], [0, 1, 0, 1], [], [1, 1]]]
        again = Case(worked.city, worked.reference, SetTraces.of_cells(cells))
        assert np.allclose(MarkovR().score_matrix(again), MarkovR().score_matrix(worked), 1e-14)

    def test_a_day_of_deleted_cells_changes_nothing(self, make_case: Callable[..., Case]) -> None:
        case = make_case(2, slots=3, days=2)
        cells = [[case.released.cell(k, t).tolist() for t in range(6)] for k in range(6)]
        longer = SetTraces.of_cells([row + [[]] * 3 for row in cells], Clock.regular(3, 3))
        later = Case(case.city, case.reference, longer)
        for attack in (MarkovR(), Markov0R()):
            assert np.allclose(attack.score_matrix(later), attack.score_matrix(case), 1e-14)

    @pytest.mark.parametrize("attack", [MarkovR(), MarkovR(estimator="shrunk"), Markov0R()])
    def test_finds_everybody_in_her_own_reference(
        self, make_case: Callable[..., Case], attack: MarkovR
    ) -> None:
        case = make_case(3, users=30, slots=5, days=4, gaps=0.0)
        same = Case(case.city, case.reference, SetTraces.of_traces(case.reference))
        assert attack.identify(same).users.tolist() == list(range(30))

    def test_everything_deleted_goes_to_the_smallest_user(self, worked: Case) -> None:
        nothing = SetTraces.of_cells([[[]] * 4] * 2)
        case = Case(worked.city, worked.reference, nothing)
        assert MarkovR().identify(case).users.tolist() == [0, 0]

    @pytest.mark.parametrize(
        "attack", [MarkovR(estimator="no"), MarkovR(b=0.0), Markov0R(start="")]
    )
    def test_checks_its_parameters(self, worked: Case, attack: MarkovR) -> None:
        with pytest.raises(InvalidParameter, match=r"Markov0?-R\.(estimator|b|start) must be"):
            attack.identify(worked)


class TestMarkov0R:
    def test_adds_the_first_cell_of_every_day(self, worked: Case) -> None:
        moves = MarkovR(estimator="shrunk").score_matrix(worked)
        starts = start_rows(worked.reference, 3)(0, 2)
        wanted = moves[0] + [log(starts[0, 2]), log(starts[1, 2])]
        assert np.allclose(Markov0R().score_matrix(worked)[0], wanted, 1e-12)

    def test_beginnings_from_first_slots(self, make_case: Callable[..., Case]) -> None:
        case = make_case(4, slots=4)
        chains = matrices(case.reference, 35, "shrunk", 20.0)
        wanted = move_scores(case.released, chains, start_rows(case.reference, 35, "first")(0, 6))
        assert np.allclose(Markov0R(start="first").score_matrix(case), wanted, 1e-11, 1e-11)
