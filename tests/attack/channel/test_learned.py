from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tracecup.attack import Case
from tracecup.attack.channel import learn_channel
from tracecup.attack.channel.learned import ENOUGH, expected_displacements
from tracecup.attack.prior import slot_prior
from tracecup.city import City, Clock, Grid
from tracecup.traces import SetTraces, Traces


class TestExpectedDisplacements:
    def test_equals_the_sum_of_posteriors(self, make_case: Callable[..., Case]) -> None:
        case = make_case(2, users=4)
        city, released, slots = case.city, case.released, case.released.clock.slots
        random = np.random.default_rng(2)
        prior = random.dirichlet(np.ones(35), size=(4, slots)).astype(np.float32)
        channel = random.dirichlet(np.ones(35), size=35).astype(np.float32)
        users, pseudonyms = np.array([2, 0]), np.array([1, 0], dtype=np.int32)
        weights, grid = np.array([1.0, 0.5]), city.grid
        shifts, own = np.zeros((2, 2 * grid.ny - 1, 2 * grid.nx - 1)), np.zeros((2, 35))
        for u, k, weight in zip(users, pseudonyms, weights, strict=True):
            for j in range(released.times):
                members = released.cell(int(k), j)
                joint = prior[u, j % slots][:, None] * channel[:, members]
                if joint.size == 0:
                    continue
                joint = weight * joint / joint.sum()
                for x in range(35):
                    for at, y in enumerate(members):
                        kind = int(city.is_hospital[x])
                        down = grid.y[y] - grid.y[x] + grid.ny - 1
                        right = grid.x[y] - grid.x[x] + grid.nx - 1
                        shifts[kind, down, right] += joint[x, at]
                        if kind:
                            own[city.hospitals.index(x), y] += joint[x, at]
        found = expected_displacements(city, prior, released, users, pseudonyms, weights, channel)
        assert np.allclose(found.shifts, shifts, atol=2e-3)
        assert np.allclose(found.hospitals, own, atol=2e-3)


def _world() -> tuple[City, Traces, Traces]:
    """Sixty users of a small city, each with four regions of her own: references, originals."""
    random = np.random.default_rng(3)
    city = City(Grid.from_metres(8, 8, width_m=341.25, height_m=346.875), hospitals=[9])
    homes = random.integers(64, size=(60, 4))
    picks = random.choice(4, p=[0.4, 0.3, 0.2, 0.1], size=(60, 120))
    regions = np.take_along_axis(homes, picks, axis=1)
    clock = Clock.regular(15, 4)
    return city, Traces.of(regions[:, :60], clock), Traces.of(regions[:, 60:], clock)


class TestLearnChannel:
    def test_learns_that_nothing_moves(self) -> None:
        city, reference, original = _world()
        prior = slot_prior(city, reference).probabilities
        found = learn_channel(city, prior, SetTraces.of_traces(original))
        assert np.diag(found.channel).mean() > 0.8
        assert found.stay[-1] > found.stay[0]

    def test_says_whether_it_came_to_rest(self) -> None:
        city, reference, original = _world()
        prior = slot_prior(city, reference).probabilities
        released = SetTraces.of_traces(original)
        rested, stopped = (learn_channel(city, prior, released, rounds) for rounds in (20, 1))
        assert rested.converged
        assert len(rested.stay) < 20
        assert abs(rested.stay[-1] - rested.stay[-2]) < ENOUGH
        assert not stopped.converged

    def test_learns_that_all_move_east(self) -> None:
        city, reference, original = _world()
        moved = np.where(original.regions % 8 < 7, original.regions + 1, original.regions)
        prior = slot_prior(city, reference).probabilities
        released = SetTraces.of_traces(Traces(moved, original.users, original.clock))
        found = learn_channel(city, prior, released)
        inner = np.array([r for r in range(64) if r % 8 < 6 and r != 9])
        assert found.channel[inner, inner + 1].mean() > 0.7
