from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from tracecup.attack import Case
from tracecup.attack.models.subsample import subsample
from tracecup.traces import SetTraces


class TestSubsample:
    def test_everything_is_the_release_itself(self, make_case: Callable[..., Case]) -> None:
        released = make_case(1).released
        assert subsample(released, 1.0, 0, rng=1) is released

    def test_members_are_drawn_from_the_cell_without_replacement(
        self, make_case: Callable[..., Case]
    ) -> None:
        released = make_case(2, sizes=(0, 1, 2, 5, 9)).released
        part = subsample(released, 1.0, 3, rng=1)
        assert np.array_equal(part.sizes, np.minimum(released.sizes, 3))
        for k in range(released.n_users):
            for j in range(released.times):
                taken = Counter(part.cell(k, j).tolist())
                assert taken <= Counter(released.cell(k, j).tolist())

    def test_members_are_uniform(self) -> None:
        # 4000 cells, 2 of 4 members: each is taken with probability 1/2. The count has standard
        # deviation 31.6; outside +-190 (6 sigma) with probability below 1e-8 for the four.
        released = SetTraces.of_cells([[[0, 1, 2, 3]] * 4000])
        part = subsample(released, 1.0, 2, rng=5)
        counts = np.bincount(part.regions, minlength=4)
        assert (np.abs(counts - 2000) < 190).all()

    def test_cells_are_kept_whole_or_deleted(self, make_case: Callable[..., Case]) -> None:
        released = make_case(3, users=20).released
        part = subsample(released, 0.5, 0, rng=1)
        for k in range(20):
            for j in range(released.times):
                cell = part.cell(k, j).tolist()
                assert cell in ([], released.cell(k, j).tolist())

    def test_cells_are_kept_with_their_probability(self) -> None:
        # Binomial(4000, 0.1): mean 400, standard deviation 19; +-114 is 6 sigma, below 1e-8.
        released = SetTraces.of_cells([[[0]] * 4000])
        assert abs(len(subsample(released, 0.1, 0, rng=3).regions) - 400) < 114

    def test_both_at_once(self) -> None:
        released = SetTraces.of_cells([[[0, 1, 2, 3]] * 100])
        part = subsample(released, 0.5, 2, rng=1)
        assert set(part.sizes.ravel().tolist()) == {0, 2}

    def test_same_seed_same_part(self, make_case: Callable[..., Case]) -> None:
        released = make_case(4, sizes=(5, 9)).released
        assert subsample(released, 0.5, 3, rng=1) == subsample(released, 0.5, 3, rng=1)
        assert subsample(released, 0.5, 3, rng=1) != subsample(released, 0.5, 3, rng=2)
