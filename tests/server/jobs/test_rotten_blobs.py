"""Bytes are what was received: a blob that rots on the disk is never judged, scored or sent."""

from __future__ import annotations

import pytest
from django.test import RequestFactory

from archived import archive_folder
from tracecup.contest.archive.folder import Archive
from tracecup.contest.archive.manifest import write_manifest
from tracecup.contest.archive.verify import verify
from tracecup.contest.entries import Entry
from tracecup.contest.judging.commitment import content_hash, read_opening
from tracecup.server.access import role_of
from tracecup.server.errors import Refused
from tracecup.server.jobs.worker import drain
from tracecup.server.models import Download, Job, Release, StoredFile
from tracecup.server.results import downloads
from tracecup.server.storage import store
from tracecup.traces.files import write_obfuscated

pytestmark = pytest.mark.django_db


def rot(sha256: str) -> None:
    """Another region in the last line: every reader takes the file, and its score is another."""
    path = store().path(sha256)
    held = bytearray(path.read_bytes())
    held[-2] = ord("1") if held[-2] != ord("1") else ord("2")
    path.write_bytes(held)


class TestJudging:
    def test_a_rotten_release_is_not_judged(self, court):
        court.begin()
        given = court.hand_in(1, court.release(1))
        rot(given.sha256)
        court.at("attack")
        drain()
        assert not Release.objects.filter(team__number=1).exists()
        job = Job.objects.get(kind="shuffle", payload__team=1)
        assert given.sha256[:12] in job.error
        assert "damaged" in job.error

    def test_sent_again_it_is_whole_again_and_judged(self, court):
        court.begin()
        given = court.hand_in(1, court.release(1))
        rot(given.sha256)
        again = court.hand_in(1, court.release(1))
        assert again.sha256 == given.sha256
        assert store().checked(given.sha256)
        court.at("attack")
        drain()
        assert Release.objects.get(team__number=1).valid

    def test_a_rotten_answer_is_not_scored(self, court):
        court.to_attack()
        given = court.attack(1, 2)
        rot(given.sha256)
        drain()
        given.refresh_from_db()
        assert given.score is None
        assert "damaged" in Job.objects.get(kind="score").error

    def test_with_rotten_data_nothing_is_checked(self, court):
        court.begin()
        path = court.release(1)
        rot(StoredFile.objects.get(name="orgtraces_team001_data02_TRP.csv.zst").sha256)
        with pytest.raises(Refused, match="damaged") as refused:
            court.hand_in(1, path)
        assert refused.value.status == 500
        assert not court.teams[1].submissions.exists()


class TestDownloads:
    @pytest.mark.parametrize("range", [None, "bytes=0-9"])
    def test_a_rotten_file_is_not_sent(self, court, range):
        court.begin()
        file = StoredFile.objects.get(name="orgtraces_team001_data02_TRP.csv.zst")
        rot(file.sha256)
        request = RequestFactory(headers={"Range": range} if range else {}).get("/")
        request.user = court.teams[1].members.get().person
        with pytest.raises(Refused, match="damaged"):
            downloads.ranged_response(request, file)
        role = role_of(court.contest, request.user)
        with pytest.raises(Refused, match="damaged"):
            downloads.archive_response(request, role, court.round)
        assert not Download.objects.exists()


class TestReceipts:
    """The archive holds what teams were told about their files; a verification compares it."""

    def test_a_judge_who_committed_to_other_bytes_is_found(self, court, tmp_path):
        """Release, ID table, verdict, commitment and opening agree; only the receipt does not."""
        court.to_results()
        archive = Archive(archive_folder(court.round, tmp_path / "archive"))
        given = {one.sha256 for team in court.teams.values() for one in team.submissions.all()}
        assert {one.sha256 for one in archive.receipts.values()} == given
        assert verify(archive.root) == []

        entry = Entry(2)
        handed_in, path = archive.obfuscated(entry), archive.locate(entry, "anotraces")
        before = content_hash(path)
        order = [*range(10), 11, 10, *range(12, 24)]
        write_obfuscated(path, handed_in.take_users(order).renamed(handed_in.users))
        after = content_hash(path)
        for opened in (True, False):
            opening = archive.opening_file(2, opened=opened)
            opening.write_text(opening.read_text().replace(before, after))
            assert after in read_opening(opening).files.values()
        write_manifest(archive.root)
        found = [line for line in verify(archive.root) if "receipt" in line]
        name = "secret/team002/anotraces_team002_data02_TRP.csv.zst"
        assert found == [
            f"{name}: is not what the team has a receipt for",
            f"{name}: the commitment fixes other bytes than the receipt",
        ]
        # Archives of before have no receipts, and nothing is missed in them.
        (archive.secret / "receipts.json").unlink()
        write_manifest(archive.root)
        assert [line for line in verify(archive.root) if "receipt" in line] == []

        rot(court.teams[1].submissions.get(kind="release").sha256)
        with pytest.raises(Refused, match="damaged"):
            archive_folder(court.round, tmp_path / "another")
