"""Packed files frame by frame: honest ones of any shape are read, hostile ones cost little."""

from __future__ import annotations

import gzip
import io

import pytest
import zstandard

from tracecup.errors import InvalidFile
from tracecup.frames import BYTES_PER_FRAME, FRAMES_FREE, Frames, gzip_frames, zstd_frames
from tracecup.safeio import read_blocks

TEXT = b"user,time,lat,lon\n" * 3000
PACKERS = {"gzip": gzip.compress, "zstd": zstandard.ZstdCompressor().compress}
READERS = {"gzip": gzip_frames, "zstd": zstd_frames}


def all_of(frames: Frames) -> bytes:
    return b"".join(iter(lambda: frames.read(1 << 20), b""))


@pytest.fixture(params=list(PACKERS))
def kind(request):
    return request.param


class TestFrames:
    def test_many_frames_of_honest_size_are_one_text(self, kind):
        parts = [TEXT[k : k + BYTES_PER_FRAME] for k in range(0, len(TEXT), BYTES_PER_FRAME)]
        packed = b"".join(map(PACKERS[kind], [*parts * 20, b""]))
        assert all_of(READERS[kind](io.BytesIO(packed))) == TEXT * 20

    @pytest.mark.parametrize("sizes", [(10, 54_000), (27_000, 27_000), (1, 53_999, 1)])
    def test_pieces_of_any_size(self, kind, sizes):
        packed = PACKERS[kind](TEXT[:27_000]) + PACKERS[kind](TEXT[27_000:])
        frames = READERS[kind](io.BytesIO(packed))
        parts = [frames.read(size) for size in sizes]
        assert b"".join(parts) == TEXT
        assert len(parts[0]) == sizes[0]
        assert frames.read(1) == b""

    @pytest.mark.parametrize("lost", [1, 4, 9])
    def test_a_cut_end_is_noticed_though_all_text_is_there(self, lost):
        frames = gzip_frames(io.BytesIO(gzip.compress(TEXT)[:-lost]))
        with pytest.raises(EOFError):
            all_of(frames)

    def test_a_bomb_unpacks_no_more_than_is_asked_for(self):
        bomb = io.BytesIO(gzip.compress(b"1" * (4 << 20)))
        assert len(gzip_frames(bomb).read(1 << 16)) == 1 << 16

    def test_a_few_empty_ones_do_no_harm(self, kind):
        packed = PACKERS[kind](b"") * (FRAMES_FREE - 1) + PACKERS[kind](TEXT)
        assert all_of(READERS[kind](io.BytesIO(packed))) == TEXT

    def test_zeros_after_the_end_are_padding(self):
        assert all_of(gzip_frames(io.BytesIO(gzip.compress(TEXT) + b"\0" * 5000))) == TEXT

    @pytest.mark.parametrize("content", [b"", b"1\n"])
    def test_a_million_pieces_are_refused_after_a_hundred(self, kind, content, tmp_path):
        """9 MB of empty frames took 10.7 s; now hardly any of them are looked at."""
        path = tmp_path / "packed"
        path.write_bytes(PACKERS[kind](content) * 1_000_000)
        with pytest.raises(InvalidFile, match="101 pieces for"):
            list(read_blocks(path))

    def test_little_of_a_hostile_file_is_read(self, kind):
        raw = io.BytesIO(PACKERS[kind](b"") * 100_000)
        with pytest.raises(Exception, match="pieces"):
            all_of(READERS[kind](raw))
        assert raw.tell() < 10_000

    def test_a_cut_frame_is_no_end(self, kind):
        with pytest.raises(EOFError):
            all_of(READERS[kind](io.BytesIO(PACKERS[kind](TEXT)[:-3])))
