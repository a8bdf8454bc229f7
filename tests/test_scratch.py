from __future__ import annotations

import errno
import os
import tempfile
from collections import namedtuple
from pathlib import Path
from typing import IO

import numpy as np
import pytest

from tracecup import scratch
from tracecup.attack import soft_links
from tracecup.errors import InvalidParameter, UnreadableFile

Usage = namedtuple("Usage", "total used free")


class TestEmpty:
    def test_small_arrays_are_held(self) -> None:
        assert scratch.empty(5).base is None

    def test_large_ones_lie_in_a_file_without_a_name(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TRACECUP_HELD_MIB", "0")
        monkeypatch.setenv("TRACECUP_SCRATCH", str(tmp_path))
        before = os.listdir(tmp_path)
        array = scratch.empty((3, 4), np.int32)
        array[:] = np.arange(12).reshape(3, 4)
        assert array.base is not None
        assert array.sum() == 66
        assert os.listdir(tmp_path) == before

    def test_a_full_disk_is_told_before_anything_is_written(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TRACECUP_HELD_MIB", "0")
        monkeypatch.setattr("shutil.disk_usage", lambda path: Usage(100, 90, 10))
        with pytest.raises(UnreadableFile, match=r"0\.0 GiB are free.*TRACECUP_SCRATCH"):
            soft_links(np.zeros((4, 4)))

    def test_room_is_taken_at_once(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TRACECUP_HELD_MIB", "0")
        opened, made = tempfile.TemporaryFile, []

        def noting(dir: str) -> IO[bytes]:
            file = opened(dir=dir)
            made.append(os.dup(file.fileno()))
            return file

        monkeypatch.setattr("tempfile.TemporaryFile", noting)
        array = scratch.empty(1 << 20, np.int8)
        told = os.fstat(made[0])
        os.close(made[0])
        assert (len(array), told.st_size) == (1 << 20, 1 << 20)
        assert told.st_blocks * 512 >= 1 << 20

    def test_two_arrays_do_not_share_the_same_room(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TRACECUP_HELD_MIB", "0")
        monkeypatch.setenv("TRACECUP_SCRATCH", str(tmp_path))
        monkeypatch.setattr("shutil.disk_usage", lambda path: Usage(40, 0, 40))
        left = [40]

        def take(file: int, offset: int, n_bytes: int) -> None:
            if n_bytes > left[0]:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            left[0] -= n_bytes
            os.truncate(file, n_bytes)

        monkeypatch.setattr("os.posix_fallocate", take)
        kept = scratch.empty(30, np.int8)
        with pytest.raises(UnreadableFile, match="needs a place"):
            scratch.empty(30, np.int8)
        kept[:] = 1
        assert kept.sum() == 30

    def test_a_file_system_that_reserves_nothing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(file: int, offset: int, n_bytes: int) -> None:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

        monkeypatch.setenv("TRACECUP_HELD_MIB", "0")
        monkeypatch.setenv("TRACECUP_SCRATCH", str(tmp_path))
        monkeypatch.setattr("os.posix_fallocate", refuse)
        assert scratch.empty(30, np.int8).nbytes == 30

    def test_a_wrong_limit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TRACECUP_HELD_MIB", "much")
        with pytest.raises(InvalidParameter, match="whole number of MiB"):
            scratch.empty(1)


class TestFilled:
    def test_every_part_is(self, in_small_parts: None) -> None:
        assert (scratch.filled((9000, 2), 7, np.int16) == 7).all()


class TestParts:
    @pytest.mark.parametrize("unit", [1, 7])
    def test_they_follow_one_another(self, unit: int, in_small_parts: None) -> None:
        bounds = scratch.parts(1000, 900, unit)
        assert [low for low, _ in bounds][1:] == [high for _, high in bounds][:-1]
        assert (bounds[0][0], bounds[-1][1]) == (0, 1000)
        assert all((high - low) % unit == 0 for low, high in bounds[:-1])

    def test_none_of_nothing(self) -> None:
        assert scratch.parts(0, 8) == []
