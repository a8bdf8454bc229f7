from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tracecup.attack import Case
from tracecup.attack.markov.emission import cell_support, emission_stencil, smeared


class TestEmissionStencil:
    def test_robust_sums_to_one_over_the_plane(self, make_case: Callable[..., Case]) -> None:
        stencil = emission_stencil(make_case(1).city, eta=0.2, spread=0.35)
        copies = np.full(stencil.shape, 4.0)
        copies[0], copies[:, 0], copies[0, 0] = 2.0, 2.0, 1.0
        assert (stencil * copies).sum() == pytest.approx(1.0)

    def test_reach_cuts_and_changes_nothing_else(self, make_case: Callable[..., Case]) -> None:
        city = make_case(1).city
        whole, near = emission_stencil(city), emission_stencil(city, reach=0.5)
        assert near.shape == (2, 2)
        assert np.array_equal(near, whole[:2, :2])


class TestSmeared:
    def test_spreads_beliefs_by_the_stencil(self, make_case: Callable[..., Case]) -> None:
        city = make_case(1).city
        stencil = emission_stencil(city, eta=0.4, spread=0.6)
        beliefs = np.random.default_rng(1).dirichlet(np.ones(35), size=3)
        d = city.grid.distances
        kappa = np.array([[_kappa(stencil, city, a, b) for b in range(35)] for a in range(35)])
        assert (kappa[d > 2.0] == 0.0).all()
        found = smeared(city, lambda low, high: beliefs[low:high], stencil)(0, 3)
        assert np.allclose(found, beliefs @ kappa, 1e-12)


class TestCellSupport:
    def test_members_with_multiplicity(self) -> None:
        likelihood, support = np.zeros(6), np.empty(6, dtype=np.int32)
        members = np.array([4, 1, 1, 4], dtype=np.int32)
        n = cell_support(members, np.ones((1, 1)), 3, 2, likelihood, support)
        assert support[:n].tolist() == [1, 4]
        assert likelihood.tolist() == [0.0, 0.5, 0.0, 0.0, 0.5, 0.0]

    def test_deleted_allows_everything(self) -> None:
        likelihood, support = np.zeros(6), np.empty(6, dtype=np.int32)
        none = np.empty(0, dtype=np.int32)
        assert cell_support(none, np.ones((1, 1)), 3, 2, likelihood, support) == 6
        assert (likelihood == 1.0).all()


def _kappa(stencil: np.ndarray, city: object, a: int, b: int) -> float:
    dy, dx = abs(a // 5 - b // 5), abs(a % 5 - b % 5)
    inside = dy < stencil.shape[0] and dx < stencil.shape[1]
    return float(stencil[dy, dx]) if inside else 0.0
