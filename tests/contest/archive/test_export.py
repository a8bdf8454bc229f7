import os
import stat
import zipfile

import pytest

from tracecup.contest.archive.export import export_public, opened, zip_archive
from tracecup.contest.archive.manifest import check_manifest
from tracecup.contest.archive.verify import verify
from tracecup.contest.entries import Entry
from tracecup.errors import InvalidFile, InvalidParameter, UnreadableFile


class TestExportPublic:
    def test_nothing_secret_is_in_it(self, played, tmp_path):
        names = export_public(played.root, tmp_path / "p.zip")
        samples = [f"public/team{entry.number}/" for entry in played.samples]
        for name in names:
            truth = ("orgtraces", "ptable", "anotraces")
            assert not name.startswith(("secret", "answers", "results", "openings"))
            if any(word in name for word in truth):
                assert any(name.startswith(folder) for folder in samples)

    def test_no_secret_content_is_in_it(self, played, tmp_path):
        export_public(played.root, tmp_path / "p.zip")
        with zipfile.ZipFile(tmp_path / "p.zip") as pack:
            public = b"".join(pack.read(name) for name in pack.namelist())
        for path in played.secret.rglob("*"):
            if path.is_file():
                assert path.read_bytes() not in public
        nonce = played.opening_file(1, opened=False).read_text().split("nonce ")[1][:64]
        assert nonce.encode() not in public

    def test_hashes_of_secrets_are_not_in_it(self, played, tmp_path):
        from tracecup.contest.ledger import file_hash

        export_public(played.root, tmp_path / "p.zip")
        with zipfile.ZipFile(tmp_path / "p.zip") as pack:
            manifest = pack.read("MANIFEST.json").decode()
        for path in played.secret.rglob("*"):
            if path.is_file():
                assert file_hash(path) not in manifest

    def test_attackers_find_all_they_need(self, played, tmp_path):
        names = export_public(played.root, tmp_path / "p.zip")
        for entry in played.published():
            folder = f"public/team{entry.number}"
            assert f"{folder}/{entry.file('pubtraces')}" in names
            assert f"{folder}/{entry.file('reftraces')}" in names
        assert f"public/team004/{Entry(4).file('pubtraces')}" not in names
        assert "public/commitments.json" in names

    def test_before_the_attacks_only_samples_are_out(self, played, tmp_path):
        names = export_public(played.root, tmp_path / "p.zip", "anonymize")
        traces = [name for name in names if "traces" in name]
        assert traces
        assert all("/team006/" in name or "/team007/" in name for name in traces)

    def test_it_fits_its_own_manifest(self, played, tmp_path):
        export_public(played.root, tmp_path / "p.zip")
        with opened(tmp_path / "p.zip") as folder:
            assert check_manifest(folder) == []

    def test_same_archive_same_bytes(self, played, tmp_path):
        for name in ("a.zip", "b.zip"):
            export_public(played.root, tmp_path / name)
        assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()

    def test_other_phases_are_refused(self, played, tmp_path):
        with pytest.raises(InvalidParameter, match="anonymize, attack"):
            export_public(played.root, tmp_path / "p.zip", "results")


class TestZipArchive:
    def test_holds_everything_and_verifies(self, played, tmp_path, contents_of):
        zip_archive(played.root, tmp_path / "a.zip")
        with opened(tmp_path / "a.zip") as folder:
            assert contents_of(folder) == contents_of(played.root)
            assert verify(folder) == []

    def test_is_for_its_owner_only(self, played, tmp_path):
        zip_archive(played.root, tmp_path / "a.zip")
        assert stat.S_IMODE((tmp_path / "a.zip").stat().st_mode) == 0o600
        with zipfile.ZipFile(tmp_path / "a.zip") as pack:
            assert pack.getinfo("secret/seed.json").external_attr >> 16 & 0o777 == 0o600


class TestOpened:
    def test_a_folder_is_used_as_it_is(self, tmp_path):
        with opened(tmp_path) as folder:
            assert folder == tmp_path

    def test_what_was_unpacked_is_removed(self, played, tmp_path):
        export_public(played.root, tmp_path / "p.zip")
        with opened(tmp_path / "p.zip") as folder:
            assert (folder / "contest.toml").exists()
        assert not folder.exists()

    @pytest.mark.parametrize("name", ["../out.txt", "/etc/out.txt", "a/../../out.txt", "folder/"])
    def test_ways_out_are_refused(self, tmp_path, name):
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as pack:
            pack.writestr(name, "")
        with pytest.raises(InvalidFile), opened(tmp_path / "a.zip"):
            pass

    def test_a_bomb_is_refused_by_what_it_says(self, tmp_path, monkeypatch):
        monkeypatch.setattr("tracecup.contest.archive.export.MAX_UNPACKED", 1000)
        with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as pack:
            pack.writestr("a.txt", b"0" * 2000)
        with pytest.raises(InvalidFile, match="zip of an archive"), opened(tmp_path / "a.zip"):
            pass

    def test_a_cut_zip(self, played, tmp_path):
        export_public(played.root, tmp_path / "p.zip")
        whole = (tmp_path / "p.zip").read_bytes()
        for cut in (0, 10, len(whole) // 2, len(whole) - 1):
            (tmp_path / "p.zip").write_bytes(whole[:cut])
            with pytest.raises(InvalidFile), opened(tmp_path / "p.zip"):
                pass

    def test_no_file_and_no_regular_file(self, tmp_path):
        with pytest.raises(UnreadableFile), opened(tmp_path / "missing.zip"):
            pass
        if hasattr(os, "mkfifo"):
            os.mkfifo(tmp_path / "pipe")
            with pytest.raises(UnreadableFile), opened(tmp_path / "pipe"):
                pass
