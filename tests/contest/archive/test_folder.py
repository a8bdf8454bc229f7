import json
import stat

import numpy as np
import pytest

from tracecup.contest.archive.folder import About, Archive
from tracecup.contest.entries import BENCHMARK, Entry
from tracecup.contest.judging.flow import truth_of
from tracecup.contest.smallfiles import make_folder, read_json, write_text
from tracecup.errors import InvalidFile, UnreadableFile
from tracecup.traces import SetTraces


class TestArchive:
    def test_knows_what_is_played(self, played):
        assert played.about.teams == 5
        assert played.attackers == ["001", "002", "003", "004", "005"]
        assert played.entries == [Entry(k) for k in range(1, 6)]
        assert [entry.team for entry in played.samples] == [6, 7]

    def test_invalid_releases_are_not_published(self, played):
        assert played.published() == [BENCHMARK, Entry(1), Entry(2), Entry(3), Entry(5)]

    def test_files_have_the_names_of_2019(self, played):
        names = {path.name.split(".")[0] for path in played.root.rglob("*.zst")}
        for name in (
            "reftraces_team001_data02_TRP", "orgtraces_team001_data02_TRP",
            "anotraces_team001_data02_TRP", "pubtraces_team001_data02_TRP",
            "ptable_team001_data02_TRP", "etable_team002-001_data02_TRP",
            "etraces_team002-001_data02_TRP", "pubtraces_team000_data01_IDP",
        ):  # fmt: skip
            assert name in names

    def test_secrets_are_for_their_owner_only(self, played):
        assert stat.S_IMODE(played.secret.stat().st_mode) == 0o700
        for path in played.secret.rglob("*"):
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)

    def test_no_secret_lies_outside(self, played):
        samples = {f"team{entry.number}" for entry in played.samples}
        for path in played.root.rglob("*"):
            if path.name.startswith(("orgtraces", "anotraces", "ptable", "seed", "submission")):
                assert played.secret in path.parents or path.parent.name in samples

    def test_releases_are_the_submissions_shuffled(self, played):
        table = played.id_table(Entry(2))
        shuffled = played.obfuscated(Entry(2)).take_users(table.users)
        assert np.array_equal(shuffled.regions, played.released(Entry(2)).regions)

    def test_the_benchmark_is_only_shuffled(self, played):
        truth = truth_of(played, BENCHMARK)
        plain = SetTraces.of_traces(truth.original.take_users(truth.table.users))
        assert np.array_equal(plain.regions, played.released(BENCHMARK).regions)

    def test_tries_are_found_in_order(self, played):
        assert len(played.answer_files(Entry(1), "etable", "002")) == 1
        assert played.answer_files(Entry(1), "etable", "001") == []

    @pytest.mark.parametrize(
        "held", [{}, [], {"format": "other"}, {"format": "tracecup-archive-1"}]
    )
    def test_another_file_is_no_archive(self, tmp_path, held):
        (tmp_path / "archive.json").write_text(json.dumps(held))
        with pytest.raises(InvalidFile, match="tracecup-archive-1"):
            _ = Archive(tmp_path).about

    def test_a_missing_folder(self, tmp_path):
        with pytest.raises(UnreadableFile):
            _ = Archive(tmp_path / "missing").about


class TestAbout:
    def test_reads_what_it_writes(self, tmp_path):
        about = About(3, "somewhere", {"tracecup": "1"})
        (tmp_path / "archive.json").write_text(about.text)
        assert Archive(tmp_path).about == about


class TestReadJson:
    @pytest.mark.parametrize("text", [b"", b"{", b"\xff\xfe", b"[" * 100_000])
    def test_no_json(self, tmp_path, text):
        (tmp_path / "a.json").write_bytes(text)
        with pytest.raises(InvalidFile):
            read_json(tmp_path / "a.json")


class TestMakeFolder:
    def test_what_is_there_keeps_its_mode(self, tmp_path):
        (tmp_path / "a").mkdir(mode=0o755)
        make_folder(tmp_path / "a" / "b" / "c", secret=True)
        modes = [stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "a", tmp_path / "a" / "b")]
        assert modes == [0o755, 0o700]


class TestWriteText:
    def test_secret_or_not(self, tmp_path):
        path = write_text(tmp_path / "x" / "a.txt", "ä", secret=True)
        assert path.read_text() == "ä"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
