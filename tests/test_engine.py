from __future__ import annotations

import pickle
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracecup.engine import ahead, cores, map_blocks, thread_count
from tracecup.errors import InvalidFile, InvalidParameter, Problem, UnreadableFile
from tracecup.kernels import block_bounds


class TestThreadCount:
    def test_environment_wins(self, monkeypatch):
        monkeypatch.setenv("TRACECUP_THREADS", "3")
        assert thread_count() == 3

    def test_empty_is_as_if_it_were_not_set(self, monkeypatch):
        monkeypatch.setenv("TRACECUP_THREADS", "")
        assert thread_count() == cores()

    @pytest.mark.parametrize("nonsense", ["0", "-2", "many", "\u0663", "1.5"])
    def test_nonsense_is_told(self, monkeypatch, nonsense):
        monkeypatch.setenv("TRACECUP_THREADS", nonsense)
        with pytest.raises(InvalidParameter, match="TRACECUP_THREADS is a number of threads"):
            thread_count()


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


class TestAhead:
    @pytest.mark.parametrize("count", [1, 2, 5])
    def test_results_come_in_order(self, count):
        def slow(k: int) -> int:
            time.sleep(0.002 * (k % 3))
            return -k

        assert list(ahead(slow, range(12), count)) == [-k for k in range(12)]

    def test_errors_come_in_their_turn(self):
        def items():
            yield 1
            yield 0
            raise InvalidParameter("the source broke")

        with pytest.raises(ZeroDivisionError):
            list(ahead(lambda k: 1 // k, items(), 3))
        found = ahead(lambda k: k, items(), 3)
        assert [next(found), next(found)] == [1, 0]
        with pytest.raises(InvalidParameter, match="the source broke"):
            next(found)


class TestErrorsTravel:
    """An executor may compute in another process; errors come back by pickle."""

    @pytest.mark.parametrize(
        "error",
        [
            UnreadableFile("a.csv", "no such file"),
            InvalidFile("b.csv", [Problem(2, "reg_id", "'x'", "a number")], 12),
            InvalidParameter("too much"),
        ],
    )
    def test_with_all_their_parts(self, error):
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))
