from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.engine import map_blocks, thread_count
from tracecup.kernels import block_bounds


class TestThreadCount:
    def test_environment_wins(self, monkeypatch):
        monkeypatch.setenv("TRACECUP_THREADS", "3")
        assert thread_count() == 3

    @pytest.mark.parametrize("nonsense", ["", "0", "-2", "many"])
    def test_nonsense_is_ignored(self, monkeypatch, nonsense):
        monkeypatch.setenv("TRACECUP_THREADS", nonsense)
        assert thread_count() >= 1


class TestBlockBounds:
    @given(st.integers(0, 200), st.integers(1, 20))
    def test_blocks_tile_the_range(self, n, blocks):
        bounds = block_bounds(n, blocks)
        assert [k for low, high in bounds for k in range(low, high)] == list(range(n))
        assert len(bounds) <= blocks


class TestMapBlocks:
    @pytest.mark.parametrize("blocks", [1, 2, 5, 50])
    def test_results_come_in_block_order(self, blocks):
        parts = map_blocks(lambda low, high: list(range(low, high)), 23, blocks=blocks)
        assert [k for part in parts for k in part] == list(range(23))

    def test_takes_an_executor(self):
        with ThreadPoolExecutor(2) as pool:
            assert map_blocks(lambda a, b: b - a, 10, blocks=4, executor=pool) == [3, 3, 3, 1]

    def test_nothing_to_do(self):
        assert map_blocks(lambda a, b: 1, 0) == []
