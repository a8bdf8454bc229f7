from __future__ import annotations

import numpy as np
import pytest

from tracecup.errors import InvalidParameter
from tracecup.rng import child_seed, generator


class TestGenerator:
    def test_same_seed_same_numbers(self):
        assert generator(5).random() == generator(5).random()

    def test_a_generator_passes_through(self):
        rng = np.random.default_rng(1)
        assert generator(rng) is rng

    def test_negative_seed_is_refused(self):
        with pytest.raises(InvalidParameter, match="got -1"):
            generator(-1)


class TestChildSeed:
    def test_names_and_numbers_are_kept_apart(self):
        assert child_seed(1, "a", "b") != child_seed(1, "ab")
        assert child_seed(1, 2) != child_seed(1, "2")
        assert child_seed(12, "x") != child_seed(1, "2", "x")

    def test_fits_128_bits(self):
        assert 0 <= child_seed(0, "team", 1) < 2**128
