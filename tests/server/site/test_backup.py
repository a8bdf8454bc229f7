"""Backups: everything comes back, a changed byte is found, a server with data is refused."""

from __future__ import annotations

import pytest
import zstandard
from django.apps import apps

from tracecup.errors import InvalidFile, InvalidParameter, UnreadableFile
from tracecup.server import clock
from tracecup.server.access import SYSTEM
from tracecup.server.auditlog import check_chain, record
from tracecup.server.models import Contest, LogEntry, Person, StoredFile, Team
from tracecup.server.site.backup import describe, restore, save, saved_models
from tracecup.server.storage import store

pytestmark = pytest.mark.django_db


@pytest.fixture
def filled(contest, final, team, organiser):
    """A contest with a file and two entries in the log."""
    blob = store().put_blocks([b"reg_id\n", b"1\n"], 100)
    StoredFile.objects.create(
        contest=contest, round=final, team=team, kind="orgtraces", name="orgtraces.csv",
        sha256=blob.sha256, size=blob.size, audience="team", created_at=clock.now(),
    )  # fmt: skip
    record(SYSTEM, "data", contest=contest, after={"teams": [1, 2], "text": "日本"})
    record(SYSTEM, "more", contest=contest)
    return contest


def rows() -> dict[str, list[dict]]:
    return {m._meta.label: list(m._default_manager.order_by("pk").values()) for m in saved_models()}


def wipe() -> None:
    for model in reversed(list(apps.get_app_config("server").get_models())):
        model._default_manager.all().delete()
    for path in store().root.glob("*/*"):
        path.unlink()


class TestRestore:
    def test_every_row_and_file_comes_back(self, filled, tmp_path):
        before = rows()
        made = save(tmp_path / "b.tar.zst")
        wipe()
        assert Contest.objects.count() == 0
        held = restore(tmp_path / "b.tar.zst")
        assert rows() == before
        assert held.rows == made.rows
        found = StoredFile.objects.get()
        assert store().path(found.sha256).read_bytes() == b"reg_id\n1\n"
        assert list(check_chain()) == []

    def test_new_rows_go_on_after_the_restored_ones(self, filled, tmp_path):
        save(tmp_path / "b.tar.zst")
        largest = Team.objects.latest("pk").pk
        wipe()
        restore(tmp_path / "b.tar.zst")
        made = Team.objects.create(
            contest=Contest.objects.get(), number=9, name="new", created_at=clock.now()
        )
        assert made.pk > largest

    def test_passwords_still_work(self, filled, tmp_path):
        save(tmp_path / "b.tar.zst")
        wipe()
        restore(tmp_path / "b.tar.zst")
        assert Person.objects.get(username="organiser").check_password("correct horse battery")

    def test_a_server_with_data_is_refused(self, filled, tmp_path):
        save(tmp_path / "b.tar.zst")
        with pytest.raises(InvalidFile, match="a server with data") as refused:
            restore(tmp_path / "b.tar.zst")
        assert "b.tar.zst" not in str(refused.value)

    @pytest.mark.parametrize("what", ["rows", "blob"])
    def test_a_changed_byte_is_found_and_nothing_stays(self, filled, tmp_path, what):
        save(tmp_path / "b.tar.zst")
        wipe()
        text = zstandard.ZstdDecompressor().stream_reader((tmp_path / "b.tar.zst").read_bytes())
        plain = bytearray(text.read())
        at = plain.index(b"Spring contest" if what == "rows" else b"reg_id\n1")
        plain[at] ^= 1
        (tmp_path / "c.tar.zst").write_bytes(zstandard.ZstdCompressor().compress(bytes(plain)))
        with pytest.raises(InvalidFile):
            restore(tmp_path / "c.tar.zst")
        assert Contest.objects.count() == LogEntry.objects.count() == 0

    def test_a_changed_file_can_be_left_out_by_name(self, filled, tmp_path):
        save(tmp_path / "b.tar.zst")
        sha256 = StoredFile.objects.get().sha256
        wipe()
        packed = (tmp_path / "b.tar.zst").read_bytes()
        plain = zstandard.ZstdDecompressor().stream_reader(packed).read()
        spoiled = plain.replace(b"reg_id\n1", b"reg_id\n2")
        (tmp_path / "c.tar.zst").write_bytes(zstandard.ZstdCompressor().compress(spoiled))
        with pytest.raises(InvalidFile, match=sha256):
            restore(tmp_path / "c.tar.zst")
        held = restore(tmp_path / "c.tar.zst", leave_out=[sha256])
        assert (held.blobs, held.left_out) == (0, (sha256,))
        assert StoredFile.objects.get().sha256 == sha256

    @pytest.mark.parametrize("size", [0, 10, 200])
    def test_a_cut_file_is_refused(self, filled, tmp_path, size):
        save(tmp_path / "b.tar.zst")
        wipe()
        (tmp_path / "c.tar.zst").write_bytes((tmp_path / "b.tar.zst").read_bytes()[:size])
        with pytest.raises(InvalidFile):
            restore(tmp_path / "c.tar.zst")
        assert Contest.objects.count() == 0

    def test_a_missing_file_is_named(self, db, tmp_path):
        with pytest.raises(UnreadableFile):
            restore(tmp_path / "none.tar.zst")


class TestSave:
    def test_it_is_for_its_owner_only(self, filled, tmp_path):
        save(tmp_path / "b.tar.zst")
        assert (tmp_path / "b.tar.zst").stat().st_mode & 0o777 == 0o600

    def test_a_lost_blob_is_an_error_and_leaves_no_file(self, filled, tmp_path):
        store().path(StoredFile.objects.get().sha256).unlink()
        with pytest.raises(UnreadableFile):
            save(tmp_path / "b.tar.zst")
        assert list(tmp_path.glob("*b.tar*")) == []

    @pytest.mark.parametrize("content", [b"reg_id\n2\n", b"reg_id\n", b"reg_id\n1\n1\n"])
    def test_a_rotten_blob_is_named_and_leaves_no_file(self, filled, tmp_path, content):
        sha256 = StoredFile.objects.get().sha256
        store().path(sha256).write_bytes(content)
        with pytest.raises(InvalidFile, match=sha256) as refused:
            save(tmp_path / "b.tar.zst")
        assert "spring/orgtraces.csv" in str(refused.value)
        assert list(tmp_path.glob("*b.tar*")) == []

    def test_a_rotten_blob_can_be_left_out_by_name(self, filled, tmp_path):
        whole = store().put_blocks([b"whole"], 100)
        StoredFile.objects.create(
            contest=filled, kind="city", name="c", sha256=whole.sha256, size=5, audience="judge",
            created_at=clock.now(),
        )  # fmt: skip
        rotten = StoredFile.objects.get(name="orgtraces.csv").sha256
        store().path(rotten).write_bytes(b"other")
        made = save(tmp_path / "b.tar.zst", leave_out=[rotten])
        assert (made.blobs, made.left_out) == (1, (rotten,))
        wipe()
        assert restore(tmp_path / "b.tar.zst").left_out == (rotten,)
        assert StoredFile.objects.count() == 2
        assert store().checked(whole.sha256)
        assert not store().has(rotten)

    def test_only_files_that_there_are_can_be_left_out(self, filled, tmp_path):
        with pytest.raises(InvalidParameter, match="no file 'abc'"):
            save(tmp_path / "b.tar.zst", leave_out=["abc"])

    def test_it_can_be_described(self, filled, tmp_path):
        made = save(tmp_path / "b.tar.zst")
        assert describe(tmp_path / "b.tar.zst") == made
