"""What every published attack must do, whatever its formula: the specification's general checks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tracecup.attack import Case, ReidAttack, parse_reid
from tracecup.city import Clock
from tracecup.score import reid_score
from tracecup.traces import IdTable, SetTraces

NAMES = (
    "VisitProb-R",
    "Markov-R",
    "Markov0-R",
    "MMC-R(sym)",
    "LPM-R(weak)",
    "LPM-R(strong)",
    "LPM-R(strong,periods=4)",
    "TF-R(3)",
    "TF-R(3,iterations=9,factors=ppmtf)",
)
LIKELIHOODS = tuple(name for name in NAMES if name != "MMC-R(sym)")


@pytest.fixture(params=NAMES)
def attack(request: pytest.FixtureRequest) -> ReidAttack:
    return parse_reid(request.param)


def cells_of(case: Case) -> list[list[list[int]]]:
    released = case.released
    return [
        [released.cell(k, t).tolist() for t in range(released.times)]
        for k in range(released.n_users)
    ]


class TestEveryAttack:
    def test_order_of_pseudonyms_does_not_matter(
        self, attack: ReidAttack, make_case: Callable[..., Case]
    ) -> None:
        case = make_case(3, users=6, slots=4)
        order = np.array([4, 2, 0, 5, 1, 3])
        cells = cells_of(case)
        other = SetTraces.of_cells([cells[k] for k in order], case.released.clock)
        permuted = Case(case.city, case.reference, other)
        found = attack.score_matrix(permuted, rng=1)
        assert np.allclose(found, attack.score_matrix(case, rng=1)[order], 1e-10, 1e-10)

    def test_nothing_released_is_guessing(
        self, attack: ReidAttack, make_case: Callable[..., Case]
    ) -> None:
        case = make_case(3, users=6, sizes=(0,))
        table = attack.identify(case, rng=1)
        assert len(table.users) == 6
        every = [reid_score(IdTable.of(np.roll(np.arange(6), k)), table).value for k in range(6)]
        assert np.mean(every) == pytest.approx(1 - 1 / 6)

    def test_with_the_maximum_ties_go_to_the_smallest_user(
        self, attack: ReidAttack, make_case: Callable[..., Case]
    ) -> None:
        case = make_case(3, users=6, sizes=(0,))
        scores = attack.scores(case, rng=1)
        assert scores.best().tolist() == [0] * 6

    def test_deleted_slots_after_all_others_change_nothing(
        self, attack: ReidAttack, make_case: Callable[..., Case]
    ) -> None:
        case = make_case(4, users=5, slots=3, days=2)
        longer = [row + [[]] * 3 for row in cells_of(case)]
        later = Case(case.city, case.reference, SetTraces.of_cells(longer, Clock.regular(3, 3)))
        found, wanted = (attack.score_matrix(one, rng=1) for one in (later, case))
        assert np.allclose(found, wanted, 1e-10, 1e-10)

    def test_a_cell_written_twice_is_the_same_cell(
        self, attack: ReidAttack, make_case: Callable[..., Case]
    ) -> None:
        case = make_case(5, users=5, slots=4)
        twice = [[cell + cell for cell in row] for row in cells_of(case)]
        again = Case(case.city, case.reference, SetTraces.of_cells(twice, case.released.clock))
        found, wanted = (attack.score_matrix(one, rng=1) for one in (again, case))
        assert np.allclose(found, wanted, 1e-10, 1e-10)


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_likelihoods_find_everybody_in_her_own_reference(
    name: str, make_case: Callable[..., Case]
) -> None:
    case = make_case(2, users=20, slots=5, days=4, gaps=0.0)
    same = Case(case.city, case.reference, SetTraces.of_traces(case.reference))
    assert parse_reid(name).identify(same, rng=1).users.tolist() == list(range(20))
