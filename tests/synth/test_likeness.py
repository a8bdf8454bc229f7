from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracecup.synth.likeness import geographic, passes, semantic
from tracecup.synth.semantics import Profiles

OFF = (0, 0.0, 1.0, 1.0)


def visits_of(traces, n):
    """Of whole traces, one per user."""
    held = Profiles.counted(
        np.repeat(np.arange(len(traces)), [len(one) for one in traces]),
        np.concatenate(traces).astype(np.int32),
        len(traces),
        n,
    )
    return held.starts, held.place, held.count, held.records


def profile(trace, n):
    return (np.bincount(trace, minlength=n) + 0.01) / (len(trace) + 0.01 * n)


def passed(day, traces, n, user=0, **bounds):
    day, seed = np.array(day, dtype=np.int32), np.array(traces[user], dtype=np.int32)
    held = dict(zip(("k", "delta", "maxgeo", "maxinter"), OFF, strict=True)) | bounds
    return passes(day, seed, user, visits_of(traces, n), n, tuple(held.values()))


class TestLikeness:
    @settings(max_examples=30)
    @given(
        st.lists(st.integers(0, 6), min_size=1, max_size=8),
        st.lists(st.lists(st.integers(0, 6), max_size=9), min_size=2, max_size=2),
    )
    def test_sums_of_smaller_shares(self, day, traces):
        traces = [np.array(one, dtype=int) for one in traces]
        own = profile(day, 7)
        seen = np.bincount(day, minlength=7)
        ranked = -np.sort(-seen[seen > 0])
        held = visits_of(traces, 7)
        for user, trace in enumerate(traces):
            other = profile(trace, 7)
            assert geographic(seen, len(day), user, held) == pytest.approx(
                np.minimum(own, other).sum()
            )
            assert semantic(ranked, len(day), user, held, 7) == pytest.approx(
                np.minimum(np.sort(own), np.sort(other)).sum()
            )


class TestPasses:
    def test_everything_without_bounds(self):
        assert passed([0, 1], [[0, 1]], 3)

    def test_intersection(self):
        assert passed([0, 1, 2, 2], [[0, 1, 0, 1]], 3, maxinter=0.5)
        assert not passed([0, 1, 0, 2], [[0, 1, 0, 1]], 3, maxinter=0.5)

    def test_geographic_likeness(self):
        # The same visits in another order; visits elsewhere.
        assert not passed([1, 0], [[0, 1]], 4, maxgeo=0.9)
        assert passed([2, 3], [[0, 1]], 4, maxgeo=0.9)

    def test_as_many_others_could_be_the_seed(self):
        # Users 1 and 2 divide their time like user 0, user 3 does not.
        traces = [[0, 0, 1], [2, 2, 3], [4, 1, 1], [5, 5, 5]]
        day = [3, 3, 2]
        assert passed(day, traces, 6, k=2, delta=1e-9)
        assert not passed(day, traces, 6, k=3, delta=1e-9)
        assert passed(day, traces, 6, k=3, delta=1.0)

    def test_users_without_records_are_no_seeds(self):
        assert not passed([1, 1], [[0, 0], []], 2, k=1, delta=1.0)
