from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tracecup.attack import Case, RandomT, ReplayT
from tracecup.city import City, Clock
from tracecup.traces import SetTraces, Traces


def case_of(city: City, reference: list[int], reference_days: int, days: int) -> Case:
    slots = len(reference) // reference_days
    clock = Clock.regular(days, slots)
    return Case(
        city,
        Traces.of([reference], Clock.regular(reference_days, slots)),
        SetTraces.of_cells([[[0]] * clock.times], clock),
    )


class TestRandomT:
    def test_every_region_is_equally_likely(self, make_case: Callable[..., Case]) -> None:
        # 40 x 300 draws of 10 regions: 1200 each, standard deviation 32.9; 6.5 sigma = 214,
        # a false alarm below 1e-8 for the ten.
        case = make_case(1, users=40, nx=5, ny=2, days=100)
        counts = np.bincount(RandomT().infer(case, rng=4).regions.ravel(), minlength=10)
        assert (np.abs(counts - 1200) < 214).all()


class TestReplayT:
    def test_is_the_reference(self, make_case: Callable[..., Case]) -> None:
        case = make_case(2, gaps=0.0)
        assert np.array_equal(ReplayT().infer(case).regions, case.reference.regions)

    def test_days_are_used_in_turn(self, toy_city: City) -> None:
        case = case_of(toy_city, [0, 1, 2, 3], reference_days=2, days=3)
        assert ReplayT().infer(case).regions.tolist() == [[0, 1, 2, 3, 0, 1]]

    def test_fewer_days_take_the_first(self, toy_city: City) -> None:
        case = case_of(toy_city, [0, 1, 2, 3], reference_days=2, days=1)
        assert ReplayT().infer(case).regions.tolist() == [[0, 1]]

    def test_gaps_become_the_usual_region(self, toy_city: City) -> None:
        case = case_of(toy_city, [4, -1, 1, 4], reference_days=2, days=2)
        assert ReplayT().infer(case).regions.tolist() == [[4, 4, 1, 4]]
