"""The blob store: files that are on disk already are linked, others are copied."""

from __future__ import annotations

import hashlib

import pytest

from tracecup.server.errors import Refused
from tracecup.server.storage import BlobStore, Damaged

CONTENT = b"a line\n" * 1000
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def blobs(tmp_path):
    for name in ("blobs", "incoming", "elsewhere"):
        (tmp_path / name).mkdir()
    return BlobStore(tmp_path / "blobs", tmp_path / "incoming")


def arrived(blobs, folder):
    path = blobs.root.parent / folder / "x.part"
    path.write_bytes(CONTENT)
    return path


class TestKeep:
    def test_what_lies_in_incoming_is_not_written_again(self, blobs):
        path = arrived(blobs, "incoming")
        assert blobs.keep(path, DIGEST, len(CONTENT)).sha256 == DIGEST
        assert blobs.path(DIGEST).samefile(path)
        assert list(blobs.incoming.iterdir()) == [path]

    def test_the_blob_stays_when_its_first_name_goes(self, blobs):
        path = arrived(blobs, "incoming")
        blobs.keep(path, DIGEST, len(CONTENT))
        path.unlink()
        assert blobs.path(DIGEST).read_bytes() == CONTENT

    def test_somebody_elses_file_is_copied(self, blobs):
        path = arrived(blobs, "elsewhere")
        blobs.keep(path, DIGEST, len(CONTENT))
        assert not blobs.path(DIGEST).samefile(path)
        assert blobs.path(DIGEST).read_bytes() == CONTENT

    def test_the_same_again_changes_nothing(self, blobs):
        first = arrived(blobs, "incoming")
        blobs.keep(first, DIGEST, len(CONTENT))
        second = first.with_name("y.part")
        second.write_bytes(CONTENT)
        blobs.keep(second, DIGEST, len(CONTENT))
        assert blobs.path(DIGEST).samefile(first)

    def test_without_links_it_is_copied(self, blobs, monkeypatch):
        def refuse(*_names):
            raise OSError("no links here")

        path = arrived(blobs, "incoming")
        monkeypatch.setattr("os.link", refuse)
        blobs.keep(path, DIGEST, len(CONTENT))
        assert blobs.path(DIGEST).read_bytes() == CONTENT

    def test_a_full_disk_is_told(self, blobs, monkeypatch):
        path = arrived(blobs, "incoming")
        monkeypatch.setattr(BlobStore, "free", lambda self: 0)
        with pytest.raises(Refused):
            blobs.keep(path, DIGEST, len(CONTENT))


class TestChecked:
    def test_whole_bytes_are_there(self, blobs):
        blobs.put_blocks([CONTENT], 1 << 20)
        assert blobs.checked(DIGEST).read_bytes() == CONTENT

    @pytest.mark.parametrize("found", [None, b"", CONTENT[:-1], CONTENT[:-1] + b"x"])
    def test_other_bytes_are_damaged(self, blobs, found):
        blobs.put_blocks([CONTENT], 1 << 20)
        if found is None:
            blobs.path(DIGEST).unlink()
        else:
            blobs.path(DIGEST).write_bytes(found)
        with pytest.raises(Damaged, match=DIGEST[:12]):
            blobs.checked(DIGEST)

    def test_put_again_it_is_whole_again(self, blobs):
        blobs.put_blocks([CONTENT], 1 << 20)
        blobs.path(DIGEST).write_bytes(b"rotten")
        blobs.put_blocks([CONTENT], 1 << 20)
        assert blobs.checked(DIGEST).read_bytes() == CONTENT
