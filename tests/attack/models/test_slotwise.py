from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tracecup.attack import Case
from tracecup.attack.models import slotwise
from tracecup.attack.models.slotwise import slot_likelihoods


class TestSlotLikelihoods:
    @pytest.mark.parametrize("most", [1 << 25, 60])
    def test_equals_the_sum_over_cells(
        self, make_case: Callable[..., Case], monkeypatch: pytest.MonkeyPatch, most: int
    ) -> None:
        monkeypatch.setattr(slotwise, "MAX_ENTRIES", most)
        case = make_case(3, users=8, days=4)
        released, slots = case.released, case.released.clock.slots
        expected = np.random.default_rng(1).dirichlet(np.ones(35), size=(8, slots))
        slow = np.zeros((8, 8))
        for k in range(8):
            for j in range(released.times):
                members = released.cell(k, j)
                if len(members):
                    slow[k] += np.log(expected[:, j % slots][:, members].sum(axis=1))
        found = slot_likelihoods(expected.astype(np.float32), released).rows(0, 8)
        assert np.allclose(found, slow, rtol=1e-6, atol=1e-5)

    def test_impossible_cells_stay_finite(self, make_case: Callable[..., Case]) -> None:
        case = make_case(4)
        nothing = np.zeros((6, case.released.clock.slots, 35), dtype=np.float32)
        assert np.isfinite(slot_likelihoods(nothing, case.released).rows(0, 6)).all()
