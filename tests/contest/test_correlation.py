"""The correlation of two scores: against NumPy and SciPy, and where there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tracecup.contest.correlation import correlate
from tracecup.errors import InvalidParameter

scores = st.lists(
    st.tuples(st.floats(0, 1, width=32), st.floats(0, 1, width=32)), min_size=2, max_size=30
)


class TestCorrelate:
    def test_by_hand(self):
        # dx = -1, 0, 1; dy = -1, 1, 0: r = 1 / (sqrt 2 sqrt 2)
        assert correlate([1, 2, 3], [1, 3, 2]).value == pytest.approx(0.5, abs=1e-15)

    def test_as_scipy_says(self):
        rng = np.random.default_rng(3)
        x = rng.random(18)
        y = 0.5 * x + 0.3 * rng.random(18)
        ours = correlate(x, y, 0.9)
        theirs = stats.pearsonr(x, y)
        interval = theirs.confidence_interval(0.9)
        assert ours.value == pytest.approx(theirs.statistic, abs=1e-14)
        assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high), abs=1e-12)
        assert ours.pairs == 18

    @given(scores)
    def test_never_not_a_number(self, pairs):
        x, y = zip(*pairs, strict=True)
        found = correlate(x, y)
        if found.value is None:
            assert "same everywhere" in found.reason
            assert min(np.ptp(x), np.ptp(y)) <= 1e-9
        else:
            assert -1 <= found.value <= 1
            if found.low is not None:
                assert found.low <= found.value + 1e-12
                assert found.value <= found.high + 1e-12
        assert str(found)

    @given(scores, st.randoms(use_true_random=False))
    def test_order_of_pairs_does_not_matter(self, pairs, rnd):
        shuffled = list(pairs)
        rnd.shuffle(shuffled)
        first = correlate(*zip(*pairs, strict=True)).value
        second = correlate(*zip(*shuffled, strict=True)).value
        assert (first is None) == (second is None)
        # Values that differ by hardly more than a tie lose digits when the mean is taken off.
        assert first is None or first == pytest.approx(second, abs=1e-6)

    @pytest.mark.parametrize("sign", [1, -1])
    def test_a_line_has_an_interval_of_no_width(self, sign):
        x = np.linspace(0.1, 0.9, 9)
        found = correlate(x, 0.5 + sign * x / 4)
        assert found.value == pytest.approx(sign, abs=1e-12)
        assert math.isfinite(found.low)
        assert math.isfinite(found.high)

    @pytest.mark.parametrize(
        ("x", "y", "reason"),
        [
            ([], [], "0 pairs"),
            ([0.5], [0.5], "1 pairs"),
            ([0.5, 0.5, 0.5], [0.1, 0.2, 0.3], "first"),
            ([0.1, 0.2, 0.3], [0.7, 0.7, 0.7 + 1e-12], "second"),
        ],
    )
    def test_says_why_there_is_none(self, x, y, reason):
        found = correlate(x, y)
        assert found.value is None
        assert reason in found.reason

    def test_three_pairs_have_no_interval(self):
        found = correlate([0.1, 0.2, 0.3], [0.1, 0.3, 0.2])
        assert found.value is not None
        assert found.low is None
        assert "4 are needed" in str(found)

    @pytest.mark.parametrize(
        ("x", "y", "confidence"),
        [([1, 2], [1], 0.95), ([math.nan, 1], [1, 2], 0.95), ([1, 2], [1, 2], 1.0)],
    )
    def test_refuses(self, x, y, confidence):
        with pytest.raises(InvalidParameter):
            correlate(x, y, confidence)
