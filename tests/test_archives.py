"""xz and zip: what raw data come in, and what somebody may make of it."""

from __future__ import annotations

import io
import lzma
import zipfile

import pytest

from tracecup.errors import InvalidFile
from tracecup.safeio import Limits, read_blocks

TEXT = b"user,time,lat,lon\n" * 5000


def zipped(*names: str, content: bytes = TEXT) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, content)
    return raw.getvalue()


@pytest.fixture
def read(tmp_path):
    def unpack(content: bytes, limits: Limits | None = None) -> bytes:
        path = tmp_path / "packed"
        path.write_bytes(content)
        return b"".join(read_blocks(path, limits or Limits(), foreign=True))

    return unpack


class TestForeign:
    @pytest.mark.parametrize(
        "packed",
        [
            lzma.compress(TEXT),
            lzma.compress(TEXT[:100]) + b"\0" * 8 + lzma.compress(TEXT[100:]),
            zipped("a.csv"),
        ],
    )
    def test_round_trip(self, read, packed):
        assert read(packed) == TEXT

    def test_what_macos_adds_does_not_count(self, read):
        assert read(zipped("a/", "a/t.csv", "__MACOSX/a/._t.csv", content=b"x")) == b"x"

    @pytest.mark.parametrize(
        ("packed", "message"),
        [
            (zipped("a.csv", "b.csv"), "2 files inside"),
            (zipped(), "PK"),
            (lzma.compress(TEXT)[:-20], "truncated"),
            (zipped("a.csv")[:-30], "broken"),
            (lzma.compress(TEXT)[:40] + b"damage" + lzma.compress(TEXT)[46:], "broken"),
        ],
    )
    def test_broken(self, read, packed, message):
        if message == "PK":  # an archive of nothing begins in another way and is plain bytes
            assert read(packed).startswith(b"PK")
            return
        with pytest.raises(InvalidFile, match=message):
            read(packed)

    @pytest.mark.parametrize("pack", [lzma.compress, lambda text: zipped("a", content=text)])
    def test_bombs_end_at_the_limit(self, read, pack):
        with pytest.raises(InvalidFile, match="after decompression"):
            read(pack(b"\0" * (8 << 20)), Limits(max_bytes=1 << 20))

    def test_a_contest_file_is_not_unpacked(self, tmp_path):
        path = tmp_path / "a"
        path.write_bytes(zipped("a.csv"))
        assert b"".join(read_blocks(path)) == path.read_bytes()
