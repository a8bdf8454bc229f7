import json

import pytest

from tracecup.contest.archive.manifest import (
    check_manifest,
    is_safe_name,
    read_manifest,
    write_manifest,
)
from tracecup.errors import InvalidFile


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.bin").write_bytes(bytes(range(256)))
    (tmp_path / "timings.json").write_text("{}")
    return tmp_path


class TestWriteManifest:
    def test_lists_files_with_size_and_hash(self, folder):
        write_manifest(folder)
        listed = read_manifest(folder)
        assert sorted(listed) == ["a.txt", "b/c.bin"]
        assert listed["b/c.bin"].size == 256

    def test_same_files_same_digest(self, folder):
        digest = write_manifest(folder)
        (folder / "timings.json").write_text('{"other": 1}')
        assert write_manifest(folder) == digest

    def test_digest_is_in_the_form_of_sha256sum(self, folder):
        digest = write_manifest(folder)
        assert (folder / "MANIFEST.sha256").read_text() == f"{digest}  MANIFEST.json\n"


class TestCheckManifest:
    def test_nothing_to_say_about_what_is_as_it_was(self, folder):
        digest = write_manifest(folder)
        assert check_manifest(folder) == []
        assert check_manifest(folder, digest) == []

    def test_every_flipped_byte_is_named(self, folder):
        write_manifest(folder)
        for name in ("a.txt", "b/c.bin"):
            kept = (folder / name).read_bytes()
            for k in range(0, len(kept), 37):
                spoiled = bytearray(kept)
                spoiled[k] ^= 1
                (folder / name).write_bytes(spoiled)
                assert check_manifest(folder) == [
                    f"{name}: its content is not the one of the manifest"
                ]
            (folder / name).write_bytes(kept)

    def test_missing_added_and_cut_files(self, folder):
        write_manifest(folder)
        (folder / "a.txt").unlink()
        (folder / "new.txt").write_text("")
        (folder / "b" / "c.bin").write_bytes(b"short")
        assert check_manifest(folder) == [
            "a.txt: is missing",
            "b/c.bin: has 5 bytes, the manifest says 256",
            "new.txt: is not in the manifest",
        ]

    def test_a_manifest_that_was_replaced_does_not_have_the_published_digest(self, folder):
        published = write_manifest(folder)
        (folder / "a.txt").write_text("b")
        write_manifest(folder)
        assert check_manifest(folder) == []
        assert check_manifest(folder, published) != []

    def test_a_changed_digest_is_found(self, folder):
        write_manifest(folder)
        (folder / "MANIFEST.sha256").write_text(f"{'0' * 64}  MANIFEST.json\n")
        assert "MANIFEST.sha256" in check_manifest(folder)[0]


class TestReadManifest:
    @pytest.mark.parametrize(
        "held",
        [
            [],
            {"format": "other", "files": {}},
            {"format": "tracecup-manifest-1"},
            {"format": "tracecup-manifest-1", "files": {"../a": {"size": 1, "sha256": "0" * 64}}},
            {"format": "tracecup-manifest-1", "files": {"a": {"size": 1, "sha256": "x"}}},
            {"format": "tracecup-manifest-1", "files": {"a": 1}},
        ],
    )
    def test_anything_else_is_refused(self, tmp_path, held):
        (tmp_path / "MANIFEST.json").write_text(json.dumps(held))
        with pytest.raises(InvalidFile):
            read_manifest(tmp_path)


class TestIsSafeName:
    @pytest.mark.parametrize("name", ["/etc/passwd", "../a", "a/../../b", "C:\\a", "a\\b", ""])
    def test_ways_out(self, name):
        assert not is_safe_name(name)
