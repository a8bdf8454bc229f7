"""The small inputs are as awkward as the checks say."""

from __future__ import annotations

import numpy as np

from tracecup.checks.samples import (
    blind_case,
    deleted_case,
    mixed_cells,
    ordinary_case,
    original_traces,
    small_city,
    tiny_case,
    training_records,
)


class TestSamples:
    def test_the_city_is_no_square(self) -> None:
        grid = small_city().grid
        assert (grid.nx, grid.ny) == (5, 7)

    def test_originals_use_the_whole_city_and_ids_of_their_own(self) -> None:
        original = original_traces()
        assert (original.regions.min(), original.regions.max()) == (0, 34)
        assert not original.has_gaps
        assert original.users[0] != 1
        assert (original.clock.slots, original.clock.first_time) == (3, 6)
        assert original_traces(users=1, days=1, slots=1).shape == (1, 1)

    def test_cells_are_deleted_single_and_generalised(self) -> None:
        sizes = mixed_cells().sizes
        assert {0, 1, 2, 4} == set(sizes.ravel().tolist())
        assert (sizes[-1] == 0).all()

    def test_a_case_has_other_days_than_its_reference(self) -> None:
        case = ordinary_case()
        assert case.reference.clock.days != case.released.clock.days
        assert not case.reference.has_gaps

    def test_gaps(self) -> None:
        regions = ordinary_case(gaps=0.4).reference.regions
        assert (regions[3] == -1).all()
        assert 0.2 < np.mean(regions == -1) < 0.6
        assert (blind_case().reference.regions == -1).all()

    def test_all_deleted(self) -> None:
        assert deleted_case().released.regions.size == 0

    def test_tiny(self) -> None:
        assert tiny_case().released.shape == (1, 3)
        assert tiny_case(users=3, slots=1).released.shape == (3, 1)

    def test_training_has_gaps(self) -> None:
        training = training_records()
        assert len(training.user) == 6 * 8
        assert (training.n_users, training.n_locations, training.slots) == (6, 35, 3)

    def test_every_call_gives_arrays_of_its_own(self) -> None:
        assert not np.shares_memory(original_traces().regions, original_traces().regions)
        assert original_traces() == original_traces()
