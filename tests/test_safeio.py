from __future__ import annotations

import gzip
import os
import stat
from pathlib import Path

import pytest
import zstandard

from tracecup.errors import InvalidFile, UnreadableFile
from tracecup.safeio import Limits, atomic_files, atomic_write, read_blocks, read_lines

CONTENT = b"reg_id\n" + b"".join(b"%d\n" % k for k in range(1, 5000))


def pack(path: Path, content: bytes) -> Path:
    with atomic_write(path) as file:
        file.write(content)
    return path


def read(path: Path, limits: Limits | None = None) -> bytes:
    return b"".join(read_blocks(path, limits or Limits()))


class TestReadBlocks:
    @pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.csv.zst"])
    def test_gives_back_what_was_written(self, tmp_path, name):
        assert read(pack(tmp_path / name, CONTENT)) == CONTENT

    def test_container_is_told_by_content_not_by_name(self, tmp_path):
        path = tmp_path / "plain.csv"
        path.write_bytes(gzip.compress(CONTENT))
        assert read(path) == CONTENT

    def test_several_frames_are_one_file(self, tmp_path):
        path = tmp_path / "a.zst"
        path.write_bytes(zstandard.compress(CONTENT[:99]) + zstandard.compress(CONTENT[99:]))
        assert read(path) == CONTENT

    @pytest.mark.parametrize("name", ["a.csv.gz", "a.csv.zst"])
    def test_truncated_archive(self, tmp_path, name):
        path = pack(tmp_path / name, CONTENT)
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(InvalidFile, match="truncated archive"):
            read(path)

    @pytest.mark.parametrize("name", ["a.csv.gz", "a.csv.zst"])
    def test_broken_archive(self, tmp_path, name):
        path = pack(tmp_path / name, CONTENT)
        packed = bytearray(path.read_bytes())
        packed[len(packed) // 2] ^= 0xFF
        path.write_bytes(bytes(packed))
        with pytest.raises(InvalidFile, match="archive"):
            read(path)

    @pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.csv.zst"])
    def test_more_bytes_than_allowed(self, tmp_path, name):
        path = pack(tmp_path / name, CONTENT)
        with pytest.raises(InvalidFile, match="at most 1000 bytes"):
            read(path, Limits(max_bytes=1000))

    def test_directory(self, tmp_path):
        with pytest.raises(UnreadableFile, match="is a directory"):
            read(tmp_path)

    def test_pipe_does_not_hang(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(UnreadableFile, match="is a pipe"):
            read(tmp_path / "pipe")

    def test_missing(self, tmp_path):
        with pytest.raises(UnreadableFile, match="no such file"):
            read(tmp_path / "nothing")

    def test_name_with_nul(self):
        with pytest.raises(UnreadableFile):
            read(Path("a\0b"))


class TestReadLines:
    def test_line_ends_mark_and_missing_last_end(self, tmp_path):
        path = pack(tmp_path / "a.csv", b"\xef\xbb\xbfa,b\r\n1,2\n3,4")
        assert list(read_lines(path)) == ["a,b", "1,2", "3,4"]

    def test_long_line(self, tmp_path):
        path = pack(tmp_path / "a.csv", b"a\n" + b"x" * 100)
        with pytest.raises(InvalidFile, match=r"line 2: found a line of more than 50 bytes"):
            list(read_lines(path, Limits(max_line=50)))

    def test_not_utf8(self, tmp_path):
        path = pack(tmp_path / "a.csv", b"a\n\xff\xfe\n")
        with pytest.raises(InvalidFile, match=r"line 2: .*expected UTF-8 text"):
            list(read_lines(path))

    def test_nul(self, tmp_path):
        path = pack(tmp_path / "a.csv", b"a\nb\0c\n")
        with pytest.raises(InvalidFile, match="line 2: found a NUL byte"):
            list(read_lines(path))


class TestAtomicWrite:
    def test_nothing_is_left_when_writing_fails(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_bytes(b"old")
        with pytest.raises(RuntimeError, match="stop"), atomic_write(path) as file:
            file.write(b"half")
            raise RuntimeError("stop")
        assert path.read_bytes() == b"old"
        assert os.listdir(tmp_path) == ["a.csv"]

    @pytest.mark.parametrize("name", ["a.csv.gz", "a.csv.zst"])
    def test_same_content_same_bytes(self, tmp_path, name):
        first = pack(tmp_path / name, CONTENT).read_bytes()
        assert pack(tmp_path / ("b" + name), CONTENT).read_bytes() == first

    def test_missing_folder(self, tmp_path):
        with pytest.raises(UnreadableFile, match="cannot be written"):
            pack(tmp_path / "no" / "a.csv", CONTENT)

    def test_directory_in_the_way(self, tmp_path):
        with pytest.raises(UnreadableFile, match="is a directory"):
            pack(tmp_path, CONTENT)

    def test_mode_is_kept(self, tmp_path):
        path = tmp_path / "secret"
        with atomic_write(path, 0o600) as file:
            file.write(b"x")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_a_full_disk_is_an_error_of_ours(self, tmp_path):
        with (
            pytest.raises(UnreadableFile, match="no space left"),
            atomic_files((tmp_path / "a", 0o600)),
        ):
            raise OSError(28, "No space left on device")
        assert os.listdir(tmp_path) == []


class TestAtomicFiles:
    def test_all_or_nothing(self, tmp_path):
        with (
            pytest.raises(RuntimeError, match="stop"),
            atomic_files((tmp_path / "a", 0o666), (tmp_path / "b", 0o600)) as (a, b),
        ):
            a.write_bytes(b"1")
            b.write_bytes(b"2")
            raise RuntimeError("stop")
        assert os.listdir(tmp_path) == []
