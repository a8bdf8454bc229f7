from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from tracecup.attack import Case
from tracecup.attack.markov.channel import fit_channel
from tracecup.attack.markov.emission import emission_stencil
from tracecup.attack.models.lpm import visit_profiles
from tracecup.city import City, Grid
from tracecup.traces import SetTraces, Traces


def slow_likelihood(case: Case, users: list[int], eta: float, spread: float) -> float:
    """Sum over cells of log sum_x pi_u(x) f(o | x), region by region."""
    stencil = emission_stencil(case.city, "robust", eta, spread)
    profiles = visit_profiles(case.reference, case.city.n_regions, "lpm", 20.0)
    nx, total = case.city.grid.nx, 0.0
    for k, u in enumerate(users):
        pi = profiles(u, u + 1)[0]
        for t in range(case.released.times):
            cell = case.released.cell(k, t).tolist()
            value = 0.0
            for s in cell:
                for x in range(case.city.n_regions):
                    dy, dx = abs(x // nx - s // nx), abs(x % nx - s % nx)
                    if dy < stencil.shape[0] and dx < stencil.shape[1]:
                        value += pi[x] * stencil[dy, dx] / len(cell)
            total += math.log(value) if cell else 0.0
    return total


class TestFitChannel:
    def test_the_likelihood_is_that_of_the_slow_sum_and_never_falls(
        self, make_case: Callable[..., Case]
    ) -> None:
        case, users = make_case(4, users=4), [2, 0, 0, 3]
        profiles = visit_profiles(case.reference, 35, "lpm", 20.0)
        seen, last = [], (0.2, 0.35)
        for steps in (1, 2, 3, 4):
            found = fit_channel(
                case.city, case.released, np.array(users), profiles, 0.2, 0.35, steps
            )
            wanted = slow_likelihood(case, users, *last)
            assert found.log_likelihood == pytest.approx(wanted, rel=1e-10)
            seen.append(found.log_likelihood)
            last = found.eta, found.spread
        assert all(np.diff(seen) >= -1e-9)

    def test_finds_the_channel_that_made_the_cells(self) -> None:
        # 4000 cells in the middle of a city: eta to about 0.02, the spread to about 0.05 km
        random = np.random.default_rng(1)
        city = City(Grid.from_metres(21, 21, width_m=300, height_m=300))
        stencil = emission_stencil(city, "robust", 0.4, 0.6)
        offset = np.arange(1 - len(stencil), len(stencil))
        plane = stencil[np.abs(offset)[:, None], np.abs(offset)]
        drawn = random.choice(plane.size, size=4000, p=plane.ravel() / plane.sum())
        cells = (10 + offset[drawn // len(offset)]) * 21 + 10 + offset[drawn % len(offset)]
        released = SetTraces.of_traces(Traces.of([cells]))
        home = np.zeros((1, 441))
        home[0, 220] = 1.0
        found = fit_channel(
            city, released, np.array([0]), lambda low, high: home[low:high], steps=40
        )
        assert found.eta == pytest.approx(0.4, abs=0.04)
        assert found.spread == pytest.approx(0.6, abs=0.1)

    def test_nothing_released_changes_nothing(self, make_case: Callable[..., Case]) -> None:
        case = make_case(4, users=2, sizes=(0,))
        profiles = visit_profiles(case.reference, 35, "lpm", 20.0)
        found = fit_channel(case.city, case.released, np.array([0, 1]), profiles, 0.3, 0.5)
        assert (found.eta, found.spread) == (0.3, 0.5)

    def test_thread_count_does_not_matter(
        self, make_case: Callable[..., Case], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        case = make_case(6, users=9)
        profiles = visit_profiles(case.reference, 35, "lpm", 20.0)
        found = []
        for threads in ("1", "3"):
            monkeypatch.setenv("TRACECUP_THREADS", threads)
            found.append(fit_channel(case.city, case.released, np.arange(9), profiles))
        assert found[0] == found[1]
