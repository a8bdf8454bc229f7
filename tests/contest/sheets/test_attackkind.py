"""Which attack values belong to: shares of users, real numbers, and what cannot be told."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.contest.sheets import read_sheet
from tracecup.contest.sheets.attackkind import NEEDED, kind_of_values


class TestKindOfValues:
    @given(
        st.sampled_from([200, 300, 777, 2000, 4000, 10_181]),
        st.integers(0, 2**32 - 1),
    )
    def test_shares_of_users(self, users, seed):
        named = np.random.default_rng(seed).choice(np.arange(1, users), 40, replace=False)
        told = kind_of_values((1 - named / users).tolist())
        # Forty of so many are all multiples of 1/100 or 1/10 less than once in a million draws.
        assert told == "reid"

    @given(st.integers(0, 2**32 - 1))
    def test_real_numbers(self, seed):
        assert kind_of_values(np.random.default_rng(seed).random(NEEDED).tolist()) == "trace"

    def test_rounded_or_few(self):
        values = np.random.default_rng(1).random(50).round(4).tolist()
        assert kind_of_values(values) is None
        assert kind_of_values([0.123456789012, 0.5]) is None
        assert kind_of_values([0.0, 1.0] * 20) is None

    @pytest.mark.parametrize("name", ["final", "preliminary"])
    def test_published(self, data_dir, name):
        for kind, stem in (("reid", "reidentification"), ("trace", "traceinference")):
            sheet = read_sheet(data_dir / "results" / f"{name}_{stem}.csv", kind)
            assert kind_of_values(sheet.scores.ravel().tolist()) == kind
