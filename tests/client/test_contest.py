from __future__ import annotations

import hashlib
import json
import socket

import pytest

from tracecup.client import Refusal
from tracecup.client.contest import ContestClient, content_key, file_body, log_in
from tracecup.client.naming import Meant, meant_by
from tracecup.errors import InvalidParameter, UnreadableFile

RELEASE = "anotraces_team001_data02_TRP.csv"


def cut(handler, body):
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


@pytest.fixture
def contest(connection):
    return ContestClient(connection, "spring", "final")


@pytest.fixture
def release(tmp_path):
    path = tmp_path / RELEASE
    path.write_bytes(b"reg_id\n1\n")
    return path


def accepted(content: bytes) -> dict:
    return {"ref": "abc", "sha256": hashlib.sha256(content).hexdigest()}


def keys(server) -> list[str]:
    return [asked[2]["Idempotency-Key"] for asked in server.asked]


class TestWhichContest:
    def roles(self, *slugs):
        return {"roles": [{"contest": slug, "role": "member"} for slug in slugs]}

    def test_the_only_one(self, server, connection):
        server.on("/me", (200, self.roles("spring")))
        assert ContestClient(connection).slug == "spring"

    def test_one_of_several_has_to_be_named(self, server, connection):
        server.on("/me", (200, self.roles("spring", "autumn")))
        with pytest.raises(InvalidParameter, match="--contest: autumn, spring"):
            ContestClient(connection)

    def test_nobody_in_no_team(self, server, connection):
        server.on("/me", (200, {"roles": [{"contest": "x", "role": "organiser"}]}))
        with pytest.raises(InvalidParameter, match="in no team"):
            ContestClient(connection)

    def test_current_round_is_asked_for_once(self, server, connection):
        server.on("/contests/spring", (200, {"round": "final"}))
        contest = ContestClient(connection, "spring")
        assert (contest.round, contest.round) == ("final", "final")
        assert len(server.asked) == 1

    def test_no_round_yet(self, server, connection):
        server.on("/contests/spring", (200, {"round": None}))
        with pytest.raises(InvalidParameter, match="no round"):
            _ = ContestClient(connection, "spring").round


class TestSubmit:
    def test_says_what_the_file_is(self, server, contest, tmp_path):
        path = tmp_path / "my.csv"
        path.write_bytes(b"x")
        server.on("/contests/spring/submissions", (201, accepted(b"x")))
        contest.submit(path, Meant("reid", "trace", 3), method="guess", consent=True)
        body = server.asked[0][3]
        for name, value in (("kind", "reid"), ("target", "3"), ("round", "final")):
            assert f'name="{name}"\r\n\r\n{value}\r\n'.encode() in body
        assert b"\r\n\r\nx\r\n--" in body

    def test_a_failure_of_the_network_repeats_the_same_key(self, server, contest, release):
        said = accepted(release.read_bytes())
        server.on("/contests/spring/submissions", cut, cut, (200, said))
        answer = contest.submit(release, meant_by(RELEASE))
        assert answer["repeated"] is True
        assert len(server.asked) == 3
        assert len(set(keys(server))) == 1

    def test_the_same_file_has_the_same_key_in_another_run(self, server, contest, release):
        server.on("/contests/spring/submissions", (201, accepted(release.read_bytes())))
        contest.submit(release, meant_by(RELEASE))
        contest.submit(release, meant_by(RELEASE))
        contest.submit(release, Meant("release", "reid"))
        first, second, other = keys(server)
        assert first == second != other

    def test_other_words_about_the_same_file_are_no_new_try(self, server, contest, release):
        server.on("/contests/spring/submissions", (201, accepted(release.read_bytes())))
        contest.submit(release, meant_by(RELEASE), method="PL(4,1)", consent=True)
        contest.submit(release, meant_by(RELEASE), confirm_invalid=True)
        first, second = keys(server)
        assert first == second

    def test_a_refusal_is_not_repeated(self, server, contest, release):
        error = {"error": {"code": "quota", "message": "All tries are used."}}
        server.on("/contests/spring/submissions", (409, error))
        with pytest.raises(Refusal, match="All tries"):
            contest.submit(release, meant_by(RELEASE))
        assert len(server.asked) == 1

    def test_another_digest_than_ours_is_no_success(self, server, contest, release):
        server.on("/contests/spring/submissions", (201, accepted(b"something else")))
        with pytest.raises(UnreadableFile, match="SHA-256"):
            contest.submit(release, meant_by(RELEASE))

    def test_an_archive_has_its_own_address(self, server, contest, tmp_path):
        path = tmp_path / "all.zip"
        path.write_bytes(b"PK")
        server.on("/contests/spring/archives", (200, {"accepted": 0, "items": []}))
        assert contest.submit(path, Meant("archive"))["items"] == []


class TestSettled:
    def states(self, *states):
        return (
            200,
            [{"ref": ref, "state": state} for ref, state in zip("ab", states, strict=True)],
        )

    def test_asks_until_all_are_scored(self, server, contest, pauses):
        answers = [("queued", "scored"), ("scoring", "scored"), ("scored", "scored")]
        server.on("/contests/spring/submissions", *(self.states(*one) for one in answers))
        found = contest.settled(["a", "b"])
        assert [one["state"] for one in found] == ["scored", "scored"]
        assert len(server.asked) == 3
        assert pauses[0] < pauses[1]

    def test_others_are_not_waited_for(self, server, contest, pauses):
        server.on("/contests/spring/submissions", self.states("queued", "failed"))
        assert [one["ref"] for one in contest.settled(["b"])] == ["b"]
        assert not pauses

    def test_patience_ends(self, server, contest):
        server.on("/contests/spring/submissions", self.states("queued", "queued"))
        assert contest.settled(["a"], patience=0.0)[0]["state"] == "queued"


class TestDescribe:
    @pytest.mark.parametrize(("said", "sent"), [(None, True), (False, False)])
    def test_consent_stays_as_it_was_unless_said(self, server, contest, said, sent):
        server.on("/contests/spring/submissions/a", (200, {"consent": True}))
        server.on("/contests/spring/submissions/a/describe", (200, {}))
        contest.describe("a", "PL(4,1)", said)
        assert json.loads(server.asked[-1][3]) == {"method": "PL(4,1)", "consent": sent}


class TestDownload:
    def test_files_and_rules(self, server, contest, tmp_path):
        told = {"name": "a.csv", "size": 2, "sha256": hashlib.sha256(b"aa").hexdigest()}
        server.on("/contests/spring/files", (200, {"files": [told]}))
        server.on("/contests/spring/files/a.csv", (200, b"aa"))
        server.on("/contests/spring/rules", (200, b"users = 3\n"))
        (found,) = contest.download(tmp_path / "data")
        assert found["fetched"] is True
        assert (tmp_path / "data" / "contest.toml").read_text() == "users = 3\n"
        assert server.asked[1][1].endswith("/files/a.csv?round=final")


class TestFileBody:
    def test_a_file_that_shrinks_while_it_is_sent(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_bytes(b"12345")
        body = file_body(path)
        path.write_bytes(b"1")
        with pytest.raises(UnreadableFile, match="changed"):
            list(body.blocks())

    def test_a_file_that_grows(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_bytes(b"12345")
        body = file_body(path)
        path.write_bytes(b"1234567890")
        with pytest.raises(UnreadableFile, match="changed"):
            list(body.blocks())

    def test_no_file(self, tmp_path):
        with pytest.raises(UnreadableFile, match="no such file"):
            file_body(tmp_path / "none")
        with pytest.raises(UnreadableFile, match="not a regular file"):
            file_body(tmp_path)


class TestLogIn:
    def test_gives_the_new_token(self, server, connection):
        server.on("/log-in", (201, {"secret": "tct_new"}))
        assert log_in(connection, "ann", "pw", "laptop", 30) == "tct_new"


class TestContentKey:
    def test_fits_the_header(self):
        assert len(content_key("a" * 64, "spring", "final")) <= 80
        assert content_key("ü").isascii()
