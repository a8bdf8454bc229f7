from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tracecup.attack import Case
from tracecup.attack.infer.copy import copy_cells, fill_uniformly
from tracecup.traces import SetTraces


class TestCopyCells:
    def test_takes_a_member_of_every_cell(self, make_case: Callable[..., Case]) -> None:
        released = make_case(1, users=20).released
        copied = copy_cells(released, rng=1)
        for k in range(20):
            for j in range(released.times):
                cell = released.cell(k, j).tolist()
                assert copied[k, j] in (cell or [-1])

    def test_members_are_uniform_with_multiplicity(self) -> None:
        # 6000 draws from {0, 0, 1}: 4000 expected zeros, standard deviation 36.5; 6 sigma = 219,
        # a false alarm below 1e-8.
        copied = copy_cells(SetTraces.of_cells([[[0, 0, 1]] * 6000]), rng=2)
        assert abs(int((copied == 0).sum()) - 4000) < 219

    def test_same_seed_same_copy(self, make_case: Callable[..., Case]) -> None:
        released = make_case(2, users=20, sizes=(5,)).released
        assert np.array_equal(copy_cells(released, rng=1), copy_cells(released, rng=1))
        assert not np.array_equal(copy_cells(released, rng=1), copy_cells(released, rng=2))


class TestFillUniformly:
    def test_fills_deleted_cells_only(self) -> None:
        regions = np.array([[-1, 3], [2, -1]], dtype=np.int32)
        fill_uniformly(regions, 5, rng=1)
        assert (regions[0, 1], regions[1, 0]) == (3, 2)
        assert regions.min() >= 0
        assert regions.max() < 5

    def test_every_region_is_equally_likely(self) -> None:
        # 5000 draws of 5 regions: standard deviation 28.3, 6 sigma = 170, below 1e-8.
        regions = np.full((1, 5000), -1, dtype=np.int32)
        fill_uniformly(regions, 5, rng=3)
        assert (np.abs(np.bincount(regions[0], minlength=5) - 1000) < 170).all()
