from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tracecup.kernels import kernel
from tracecup.streams import child, stream_key
from tracecup.synth.zeros import draw_absent, table_size

ROWS, COLUMNS, SHIFT = 3, 2, 10


def drawn(key, wanted, rows, columns, taken, shift=0):
    """The drawn positions, with room and table as the training passes them."""
    room = len(taken) + rows * columns + wanted
    row, column = np.zeros(room, np.uint16), np.zeros(room, np.uint16)
    for e, (i, j) in enumerate(taken):
        row[e], column[e] = i, j + shift
    table = np.empty(table_size(len(taken), wanted), np.uint32)
    end = draw_absent(
        *key, wanted, rows, columns, row, column, 0, len(taken), len(taken), shift, table
    )
    found = slice(len(taken), end)
    return list(zip(row[found].tolist(), (column[found] - shift).tolist(), strict=True))


@kernel
def count_subsets(key0, key1, wanted, rows, columns, row, column, taken, table, counts):
    """counts[bits of the drawn set] += 1, over as many users as `counts` has runs."""
    for u in range(30_000):
        user0, user1 = child(key0, key1, np.uint64(u))
        end = draw_absent(
            user0, user1, wanted, rows, columns, row, column, 0, taken, taken, 0, table
        )
        bits = 0
        for e in range(taken, end):
            bits |= 1 << (np.int64(row[e]) * columns + np.int64(column[e]))
        counts[bits] += 1


class TestDrawAbsent:
    @given(
        rows=st.integers(1, 12),
        columns=st.integers(1, 12),
        wanted=st.integers(0, 80),
        seed=st.integers(0, 10**6),
        data=st.data(),
    )
    def test_distinct_absent_and_as_many_as_wanted(self, rows, columns, wanted, seed, data):
        every = [(i, j) for i in range(rows) for j in range(columns)]
        taken = data.draw(st.lists(st.sampled_from(every), unique=True, max_size=20))
        found = drawn(stream_key(seed), wanted, rows, columns, taken, SHIFT)
        assert len(found) == len(set(found)) == min(wanted, len(every) - len(taken))
        assert not set(found) & set(taken)
        assert set(found) <= set(every)

    def test_same_key_same_positions(self):
        key = stream_key(1)
        assert drawn(key, 50, 100, 100, [(3, 4)]) == drawn(key, 50, 100, 100, [(3, 4)])

    @pytest.mark.parametrize("wanted", [1, 2, 3, 4])
    def test_every_subset_is_equally_likely(self, wanted):
        # Six positions, one taken; 1 and 2 are drawn directly, 3 and 4 by what is left out.
        row, column = np.zeros(20, np.uint16), np.zeros(20, np.uint16)
        row[0], column[0] = 1, 1
        table = np.empty(table_size(1, wanted), np.uint32)
        counts = np.zeros(2 ** (ROWS * COLUMNS), np.int64)
        count_subsets(*stream_key(wanted), wanted, ROWS, COLUMNS, row, column, 1, table, counts)
        seen = counts[counts > 0]
        assert len(seen) == comb(ROWS * COLUMNS - 1, wanted)
        assert counts.sum() == 30_000
        # False alarm with probability 1e-4 in each of the four cases.
        assert stats.chisquare(seen).pvalue > 1e-4

    def test_large_slices_are_uniform(self):
        found = np.array(drawn(stream_key(9), 20_000, 997, 1009, []))
        for side, size in ((0, 997), (1, 1009)):
            cells = np.bincount(found[:, side] * 20 // size, minlength=20)
            assert stats.chisquare(cells).pvalue > 1e-4
