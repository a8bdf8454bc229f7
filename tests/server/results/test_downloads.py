"""Who may fetch what, when; ranges, versions, the archive, the log."""

from __future__ import annotations

import hashlib
import io
import zipfile
from datetime import timedelta

import pytest
import zstandard
from django.test import RequestFactory
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tracecup.server import clock
from tracecup.server.access import role_of
from tracecup.server.errors import Refused
from tracecup.server.models import Download
from tracecup.server.results import downloads
from tracecup.server.web import segments
from tracecup.server.web.segments import Packed, Segments, zip_parts

pytestmark = pytest.mark.django_db
CONTENT = bytes(range(256)) * 8


@pytest.fixture
def person(team):
    return team.members.get().person


@pytest.fixture
def file(desk, person):
    """A file for all."""
    return desk.add_file("pubtraces_team002_data02_TRP.csv", CONTENT, "all")


def names(role, round) -> set[str]:
    return {one.name for one in downloads.files_for(role, round)}


def fetch(person, file, method="get", **headers):
    """The answer to a request for a file."""
    request = getattr(RequestFactory(headers=headers), method)("/")
    request.user = person
    return downloads.ranged_response(request, file)


def body(response) -> bytes:
    return b"".join(response.streaming_content)


class TestFilesFor:
    def test_a_team_sees_its_own_and_what_is_for_all(self, desk, person, file, new_team):
        other = new_team(desk.contest)
        desk.add_team(other)
        found = names(role_of(desk.contest, person), desk.round)
        assert found == {"orgtraces_team001_data02_TRP.csv", file.name}

    def test_own_files_come_first(self, desk, person, file):
        found = downloads.files_for(role_of(desk.contest, person), desk.round)
        assert [one.own for one in found] == [True, False]
        assert found[0].about

    def test_nothing_before_its_time(self, desk, person, fixed_clock):
        later = clock.now() + timedelta(hours=1)
        desk.add_file("later.csv", CONTENT, "all", visible_from=later)
        desk.add_file("never.csv", CONTENT, "all", visible_from=None)
        role = role_of(desk.contest, person)
        assert "later.csv" not in names(role, desk.round)
        fixed_clock.at = later
        assert "later.csv" in names(role, desk.round)
        assert "never.csv" not in names(role, desk.round)

    def test_the_judges_files_are_for_nobody(self, desk, person, organiser):
        desk.add_file("ptable_team002_data02_TRP.csv", b"secret", "judge", kind="ptable")
        for who in (None, person, organiser):
            assert not {
                name for name in names(role_of(desk.contest, who), desk.round) if "ptable" in name
            }

    def test_organisers_see_no_originals_of_teams(self, desk, organiser):
        assert names(role_of(desk.contest, organiser), desk.round) == set()

    def test_organisers_see_archive_and_report_first(self, desk, organiser, person):
        desk.add_file("report.html", b"", "judge", kind="report")
        assert names(role_of(desk.contest, organiser), desk.round) == {"report.html"}
        assert "report.html" not in names(role_of(desk.contest, person), desk.round)

    def test_visitors_see_what_is_for_all_once_results_are_out(self, desk, file):
        role = role_of(desk.contest, None)
        assert names(role, desk.round) == set()
        desk.round.released_at = clock.now()
        assert names(role, desk.round) == {file.name}

    def test_files_of_another_round_and_contest_are_elsewhere(
        self, desk, person, file, new_contest
    ):
        other = new_contest("autumn")
        assert names(role_of(other, person), other.rounds.get()) == set()

    def test_the_sum_is_told(self, desk, person, file):
        page = downloads.files_page(role_of(desk.contest, person), desk.round)
        assert page.size == sum(one.size for one in page.files)


class TestOpenFile:
    def test_by_name(self, desk, person, file):
        assert downloads.open_file(role_of(desk.contest, person), desk.round, file.name) == file

    def test_what_one_may_not_see_is_not_found(self, desk, file, new_team):
        other = new_team(desk.contest)
        role = role_of(desk.contest, other.members.get().person)
        for name in ("orgtraces_team001_data02_TRP.csv", "nothing.csv", "../secret_key"):
            with pytest.raises(Refused) as found:
                downloads.open_file(role, desk.round, name)
            assert found.value.code == "not-found"


class TestRangedResponse:
    def test_the_whole_file_with_its_digest(self, person, file):
        response = fetch(person, file)
        assert body(response) == CONTENT
        assert response.headers["X-SHA256"] == hashlib.sha256(CONTENT).hexdigest()
        assert response.headers["ETag"] == f'"{response.headers["X-SHA256"]}"'
        assert response.headers["Content-Length"] == "2048"
        assert response.headers["Accept-Ranges"] == "bytes"
        assert "attachment" in response.headers["Content-Disposition"]

    @pytest.mark.parametrize(
        ("asked", "first", "last"),
        [
            ("bytes=0-9", 0, 9),
            ("bytes=100-", 100, 2047),
            ("bytes=-5", 2043, 2047),
            ("bytes=2000-9999", 2000, 2047),
            ("bytes=-9999", 0, 2047),
            ("bytes=7-7", 7, 7),
        ],
    )
    def test_a_range(self, person, file, asked, first, last):
        response = fetch(person, file, Range=asked)
        assert response.status_code == 206
        assert response.headers["Content-Range"] == f"bytes {first}-{last}/2048"
        assert response.headers["Content-Length"] == str(last - first + 1)
        assert body(response) == CONTENT[first : last + 1]

    @pytest.mark.parametrize("asked", ["bytes=2048-", "bytes=9999-10000", "bytes=-0"])
    def test_a_range_that_is_not_there(self, person, file, asked):
        response = fetch(person, file, Range=asked)
        assert response.status_code == 416
        assert response.headers["Content-Range"] == "bytes */2048"
        assert not Download.objects.exists()

    @pytest.mark.parametrize("asked", ["bytes=9-5", "bytes=0-1,5-6", "lines=1-2", "bytes=-", "x"])
    def test_what_is_no_range_gives_everything(self, person, file, asked):
        response = fetch(person, file, Range=asked)
        assert response.status_code == 200
        assert body(response) == CONTENT

    def test_a_range_of_the_same_version(self, person, file):
        response = fetch(person, file, Range="bytes=5-", **{"If-Range": f'"{file.sha256}"'})
        assert response.status_code == 206
        response.close()

    def test_a_range_of_another_version_gives_everything(self, person, file):
        response = fetch(person, file, Range="bytes=5-", **{"If-Range": '"other"'})
        assert response.status_code == 200
        assert body(response) == CONTENT

    def test_what_one_has_is_not_sent(self, person, file):
        response = fetch(person, file, **{"If-None-Match": f'"{file.sha256}"'})
        assert (response.status_code, response.content) == (304, b"")

    def test_head_has_the_headers_and_no_body(self, person, file):
        response = fetch(person, file, "head", Range="bytes=0-9")
        assert (response.status_code, response.content) == (206, b"")
        assert response.headers["Content-Length"] == "10"
        assert not Download.objects.exists()

    def test_every_range_stands_in_the_log(self, person, team, file):
        fetch(person, file, Range="bytes=10-19").close()
        row = Download.objects.get()
        assert (row.person, row.team, row.file, row.first, row.length) == (
            person,
            team,
            file,
            10,
            10,
        )


class TestArchiveResponse:
    def answer(self, desk, person, method="get", **headers):
        request = getattr(RequestFactory(headers=headers), method)("/")
        role = role_of(desk.contest, person)
        return downloads.archive_response(request, role, desk.round)

    def test_holds_all_that_one_may_fetch_and_the_sums(self, desk, person, file, new_team):
        desk.add_team(new_team(desk.contest))
        content = body(self.answer(desk, person))
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            assert archive.testzip() is None
            assert set(archive.namelist()) == {
                "spring-final/orgtraces_team001_data02_TRP.csv",
                f"spring-final/{file.name}",
                "spring-final/SHA256SUMS",
                "spring-final/README.txt",
                "spring-final/contest.toml",
            }
            assert file.name in archive.read("spring-final/README.txt").decode()
            assert archive.read("spring-final/contest.toml").decode() == desk.contest.rules_text
            assert archive.read(f"spring-final/{file.name}") == CONTENT
            sums = archive.read("spring-final/SHA256SUMS").decode()
        assert f"{file.sha256}  {file.name}\n" in sums

    def test_the_length_is_told_before(self, desk, person, file):
        response = self.answer(desk, person)
        assert int(response.headers["Content-Length"]) == len(body(response))

    def test_it_can_be_resumed(self, desk, person, file):
        whole = self.answer(desk, person)
        content, etag = body(whole), whole.headers["ETag"]
        rest = self.answer(desk, person, Range="bytes=1000-", **{"If-Range": etag})
        assert rest.status_code == 206
        assert content[:1000] + body(rest) == content

    def test_another_file_makes_another_version(self, desk, person, file):
        before = self.answer(desk, person)
        desk.add_file("more.csv", b"x", "all")
        after = self.answer(desk, person)
        assert before.headers["ETag"] != after.headers["ETag"]
        before.close()
        after.close()

    def test_with_nothing_to_fetch_it_is_not_found(self, desk):
        with pytest.raises(Refused):
            self.answer(desk, None)

    def test_it_stands_in_the_log(self, desk, person, file):
        self.answer(desk, person).close()
        assert Download.objects.get().name == "spring-final.zip"


class TestSegments:
    @settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(data=st.data())
    def test_reads_like_one_file(self, tmp_path, data):
        pieces = data.draw(st.lists(st.binary(max_size=9), max_size=6))
        parts = []
        for k, piece in enumerate(pieces):
            if data.draw(st.booleans()):
                (tmp_path / str(k)).write_bytes(piece)
                parts.append((tmp_path / str(k), len(piece)))
            else:
                parts.append(piece)
        whole = b"".join(pieces)
        start = data.draw(st.integers(0, len(whole)))
        length = data.draw(st.none() | st.integers(0, len(whole)))
        wanted = whole[start:] if length is None else whole[start : start + length]
        with Segments(parts, start, length) as file:
            assert len(file) == len(wanted)
            assert file.readall() == wanted
            at = data.draw(st.integers(0, len(wanted)))
            file.seek(at)
            step = data.draw(st.integers(1, 12))
            assert b"".join(iter(lambda: file.read(step), b"")) == wanted[at:]

    def test_a_file_that_got_shorter_is_an_error(self, tmp_path):
        (tmp_path / "x").write_bytes(b"12")
        with Segments([(tmp_path / "x", 5)]) as file, pytest.raises(OSError, match="shorter"):
            file.readall()

    def test_an_archive_of_more_than_four_gigabytes(self, tmp_path, monkeypatch):
        big = tmp_path / "big"
        with big.open("wb") as file:
            file.truncate((1 << 32) + 5)  # sparse: takes no room
        monkeypatch.setattr(segments, "crc_of", lambda path: 0)
        files = [
            Packed.of_bytes("a.txt", b"a"),
            Packed("big", (big, (1 << 32) + 5), (1 << 32) + 5, 0),
            Packed.of_bytes("z.txt", b"zzz"),
        ]
        with Segments(zip_parts(files)) as made, zipfile.ZipFile(made) as archive:
            assert [one.file_size for one in archive.infolist()] == [1, (1 << 32) + 5, 3]
            assert archive.read("z.txt") == b"zzz"

    def test_an_archive_of_very_many_files(self):
        files = [Packed.of_bytes(f"{k}.txt", b"") for k in range(66_000)]
        with Segments(zip_parts(files)) as made, zipfile.ZipFile(made) as archive:
            assert len(archive.infolist()) == 66_000


class TestPlain:
    """Packed files as plain CSV, alone and in an archive."""

    @pytest.fixture
    def packed(self, desk):
        content = zstandard.ZstdCompressor().compress(b"reg_id\n1\n2\n")
        return desk.add_file("pubtraces_team003_data02_TRP.csv.zst", content, "all")

    def ask(self, client, person, path):
        client.force_login(person)
        return client.get(path)

    def test_one_file_unpacked(self, client, person, packed):
        answer = self.ask(client, person, f"/c/spring/files/{packed.name}?plain=1")
        assert body(answer) == b"reg_id\n1\n2\n"
        assert 'filename="pubtraces_team003_data02_TRP.csv"' in answer["Content-Disposition"]
        assert Download.objects.get().name == "pubtraces_team003_data02_TRP.csv"

    def test_a_plain_file_goes_out_as_it_is(self, client, person, file):
        answer = self.ask(client, person, f"/c/spring/files/{file.name}?plain=1")
        assert body(answer) == CONTENT

    def test_the_archive_of_plain_files(self, client, person, file, packed):
        answer = self.ask(client, person, "/c/spring/files.zip?plain=1")
        with zipfile.ZipFile(io.BytesIO(body(answer))) as archive:
            assert archive.testzip() is None
            names = {name.removeprefix("spring-final/") for name in archive.namelist()}
            unpacked = packed.name.removesuffix(".zst")
            assert archive.read(f"spring-final/{unpacked}") == b"reg_id\n1\n2\n"
            said = archive.read("spring-final/README.txt").decode()
        assert {unpacked, file.name, "README.txt", "contest.toml"} <= names
        assert not any(name.endswith(".zst") for name in names)
        assert ".zst" not in said

    def test_others_find_nothing(self, client, packed, new_person):
        stranger = new_person("stranger")
        for path in (f"/c/spring/files/{packed.name}?plain=1", "/c/spring/files.zip?plain=1"):
            assert client.get(path).status_code == 404
            assert self.ask(client, stranger, path).status_code == 404
            client.logout()

    def test_the_data_page_offers_both(self, client, person, packed):
        html = self.ask(client, person, "/c/spring/team/data/").content.decode()
        assert "files.zip?round=final&amp;plain=1" in html
        assert f"{packed.name}?round=final&amp;plain=1" in html
