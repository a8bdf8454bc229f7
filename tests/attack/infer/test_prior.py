from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from tracecup.attack import Case, PriorT
from tracecup.attack.stencil import gain_stencil
from tracecup.city import City, Clock, Grid
from tracecup.traces import SetTraces, Traces


def expected_losses(attack: PriorT, case: Case) -> NDArray[np.float64]:
    """Expected contest loss of every answer, from the definition: (users, slots, regions)."""
    city, reference, slots = case.city, case.reference, case.reference.clock.slots
    weight = np.where(city.is_hospital, 10.0, 1.0)
    loss = weight[:, None] * np.minimum(1.0, city.grid.distances / 2.0)
    losses = np.empty((case.n_users, slots, city.n_regions))

    def shares(regions: NDArray[np.int32]) -> NDArray[np.float64]:
        counts = np.bincount(regions[regions >= 0], minlength=city.n_regions)
        return counts / max(1, counts.sum())

    for u in range(case.n_users):
        own = reference.regions[u]
        for slot in range(slots):
            belief = shares(own[slot::slots])
            belief += attack.user * shares(own)
            belief += attack.population * shares(reference.regions[:, slot::slots].ravel())
            losses[u, slot] = belief @ loss
    return losses


class TestPriorT:
    @pytest.mark.parametrize("attack", [PriorT(), PriorT(0, 0), PriorT(2, 0), PriorT(0, 0.5)])
    @pytest.mark.parametrize("shape", [(5, 7), (14, 13), (1, 9)])
    def test_least_expected_loss(
        self, make_case: Callable[..., Case], attack: PriorT, shape: tuple[int, int]
    ) -> None:
        case = make_case(1, nx=shape[0], ny=shape[1], reference_days=4, gaps=0.4)
        losses = expected_losses(attack, case)
        # ties: the smallest region
        near = losses <= losses.min(axis=2, keepdims=True) + 1e-9
        wanted = np.tile(near.argmax(axis=2), (1, case.released.clock.days))
        assert np.array_equal(attack.infer(case).regions, wanted)

    def test_a_hospital_weighs_ten_visits(self) -> None:
        # regions far apart: nine days at region 0, one at the hospital in region 9
        grid = Grid.from_metres(10, 1, width_m=1000, height_m=1000)
        reference = Traces.of([[0] * 9 + [9]], Clock.regular(10, slots=1))
        released = SetTraces.of_cells([[[]]], Clock.regular(1, slots=1))
        for hospitals, wanted in (([], 0), ([9], 9)):
            case = Case(City(grid, hospitals=hospitals), reference, released)
            assert PriorT(0, 0).infer(case).regions.tolist() == [[wanted]]

    def test_never_looks_at_the_release(self, make_case: Callable[..., Case]) -> None:
        case = make_case(2)
        other = SetTraces.of_cells([[[0]] * case.released.times] * 6, case.released.clock)
        changed = Case(case.city, case.reference, other)
        assert np.array_equal(PriorT().infer(case).regions, PriorT().infer(changed).regions)

    def test_a_user_never_seen_follows_the_crowd(self, toy_city: City) -> None:
        reference = Traces.of([[-1, -1], [4, 0], [4, 0]])
        released = SetTraces.of_cells([[[], []]] * 3)
        inferred = PriorT().infer(Case(toy_city, reference, released))
        assert inferred.regions[0].tolist() == [4, 0]


class TestGainStencil:
    def test_ends_within_two_kilometres(self, make_case: Callable[..., Case]) -> None:
        stencil = gain_stencil(make_case(1, nx=14, ny=13).city)
        assert stencil.shape == (6, 6)
        assert stencil[0, 1] == pytest.approx(1 - 0.34125 / 2)
        assert stencil[5, 5] == 0.0
