from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup import Clock, InvalidTraces, SetTraces, Traces
from tracecup.traces import (
    slot_counts,
    transition_counts,
    user_slot_counts,
    user_transition_counts,
    visit_counts,
)

CLOCK = Clock.regular(2, slots=3)
N = 5

tables = st.integers(1, 5).flatmap(
    lambda m: st.lists(
        st.lists(st.integers(-1, N - 1), min_size=6, max_size=6), min_size=m, max_size=m
    )
)


class TestVisitCounts:
    @given(tables)
    def test_equals_a_slow_count(self, table):
        counts = visit_counts(Traces.of(table, CLOCK), N)
        for i, row in enumerate(table):
            assert counts[i].tolist() == [row.count(r) for r in range(N)]

    def test_sets_share_their_visit_with_multiplicity(self):
        cells = SetTraces.of_cells([[[0, 1, 1, 2], [], [3]]])
        assert visit_counts(cells, 4).tolist() == [[0.25, 0.5, 0.25, 1.0]]

    @pytest.mark.parametrize("threads", ["1", "2", "3"])
    def test_threads_do_not_matter(self, monkeypatch, threads):
        regions = np.random.default_rng(1).integers(0, N, (7, 6))
        expected = visit_counts(Traces.of(regions, CLOCK), N)
        monkeypatch.setenv("TRACECUP_THREADS", threads)
        assert np.array_equal(visit_counts(Traces.of(regions, CLOCK), N), expected)

    def test_region_outside(self):
        with pytest.raises(InvalidTraces, match="region 5"):
            visit_counts(Traces.of([[5]]), 5)


class TestSlotCounts:
    @given(tables)
    def test_equals_a_slow_count(self, table):
        slow = Counter((j % 3, r) for row in table for j, r in enumerate(row) if r >= 0)
        counts = slot_counts(Traces.of(table, CLOCK), N)
        assert {(t, r): counts[t, r] for t, r in np.argwhere(counts)} == slow

    @given(tables)
    def test_per_user_sums_to_the_population(self, table):
        traces = Traces.of(table, CLOCK)
        per_user = user_slot_counts(traces, N)
        assert np.array_equal(per_user.sum(axis=0).reshape(3, N), slot_counts(traces, N))


class TestTransitionCounts:
    @given(tables)
    def test_only_within_a_day_and_between_observed_events(self, table):
        slow = Counter(
            (row[j], row[j + 1])
            for row in table
            for j in range(5)
            if j != 2 and row[j] >= 0 and row[j + 1] >= 0
        )
        counts = transition_counts(Traces.of(table, CLOCK), N).toarray()
        assert {(i, j): counts[i, j] for i, j in np.argwhere(counts)} == slow

    @given(tables)
    def test_per_user_sums_to_the_pooled_ones(self, table):
        traces = Traces.of(table, CLOCK)
        per_user = user_transition_counts(traces, N)
        pooled = transition_counts(traces, N).toarray()
        assert np.array_equal(per_user.sum(axis=0).reshape(N, N), pooled)

    def test_of_users_in_blocks(self, monkeypatch):
        traces = Traces.of(np.random.default_rng(4).integers(-1, N, size=(50, 6)), CLOCK)
        whole = user_transition_counts(traces, N), transition_counts(traces, N)
        monkeypatch.setattr("tracecup.scratch.PART_BYTES", 2000)
        for once, parts in zip(
            whole, (user_transition_counts(traces, N), transition_counts(traces, N)), strict=True
        ):
            for name in ("data", "indices", "indptr"):
                assert np.array_equal(getattr(once, name), getattr(parts, name))
