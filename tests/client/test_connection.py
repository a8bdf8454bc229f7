from __future__ import annotations

import socket

import pytest

from tracecup.client import Account, Connection, Refusal, Unreachable
from tracecup.client.connection import AGENT, Body, multipart
from tracecup.errors import UnreadableFile

BUSY = (503, {"error": {"code": "busy", "message": "later"}})


def cut(handler, body):
    """Hang up without a word."""
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def form(text: bytes = b"hello") -> Body:
    return multipart(
        {"key": "k"}, "file", "a.csv", Body("text/csv", len(text), lambda: iter([text])), "B"
    )


class TestGet:
    def test_sends_the_token_and_says_who_it_is(self, server, connection):
        server.on("/me", (200, {"name": "Ann"}))
        assert connection.get("/me") == {"name": "Ann"}
        headers = server.asked[0][2]
        assert headers["Authorization"] == "Bearer tct_secret"
        assert headers["User-Agent"] == AGENT

    def test_query_leaves_out_what_is_none_and_quotes_the_rest(self, server, connection):
        server.on("/me", (200, {}))
        connection.get("/me", round="a b&c", other=None)
        assert server.asked[0][1] == "/api/v1/me?round=a+b%26c"

    def test_network_failures_are_tried_again(self, server, connection, pauses):
        server.on("/me", cut, BUSY, (200, {"ok": True}))
        assert connection.get("/me") == {"ok": True}
        assert len(pauses) == 2
        assert pauses[0] < pauses[1]

    def test_waits_as_long_as_the_server_asks_for(self, server, connection, pauses):
        error = {"error": {"code": "throttled", "message": "slow"}}
        server.on("/me", (429, error, {"Retry-After": "7"}), (200, {}))
        connection.get("/me")
        assert 7 <= pauses[0] <= 7 * 1.25

    def test_gives_up_in_the_end(self, server, connection, pauses):
        server.on("/me", cut)
        with pytest.raises(Unreachable, match="cannot be asked"):
            connection.get("/me")
        assert len(server.asked) == 4
        assert len(pauses) == 3

    def test_nobody_there(self, pauses):
        nobody = Connection(Account("http://127.0.0.1:9", "tct_x"), tries=2, sleep=pauses.append)
        with pytest.raises(Unreachable, match="http://127.0.0.1:9"):
            nobody.get("/me")

    def test_refusals_carry_code_sentence_and_places(self, server, connection, pauses):
        problem = {"line": 3, "column": "reg_id", "found": "'x'", "expected": "1 to 9"}
        error = {"code": "rejected", "message": "Bad file.", "problems": [problem]}
        server.on("/me", (422, {"error": error}))
        with pytest.raises(Refusal, match="Bad file") as caught:
            connection.get("/me")
        assert (caught.value.status, caught.value.code) == (422, "rejected")
        assert "line 3, reg_id: found 'x', expected 1 to 9" in str(caught.value)
        assert pauses == []

    @pytest.mark.parametrize("answer", [b"<html>", b'{"error": 3}', b"[]"])
    def test_an_error_of_somebody_else_is_no_refusal(self, server, connection, answer):
        server.on("/me", (404, answer))
        with pytest.raises(Unreachable, match="address of a contest server"):
            connection.get("/me")

    def test_a_page_instead_of_json(self, server, connection):
        server.on("/me", (200, b"<html>"))
        with pytest.raises(Unreachable, match="not JSON"):
            connection.get("/me")

    def test_the_token_does_not_follow_a_redirect(self, server, connection):
        server.on("/me", (302, b"", {"Location": f"{server.url}/api/v1/other"}))
        with pytest.raises(Unreachable, match="sends to"):
            connection.get("/me")
        assert [asked[1] for asked in server.asked] == ["/api/v1/me"]


class TestPost:
    def test_is_not_repeated_by_itself(self, server, connection):
        server.on("/do", cut)
        with pytest.raises(Unreachable):
            connection.post("/do", {"a": 1})
        assert len(server.asked) == 1

    def test_what_may_be_repeated_is(self, server, connection):
        server.on("/do", cut, (200, {"done": True}))
        assert connection.post("/do", {"a": 1}, again=True) == {"done": True}
        assert server.asked[1][3] == b'{"a": 1}'

    def test_an_empty_answer_is_none(self, server, connection):
        server.on("/do", (204, b""))
        assert connection.post("/do") is None


class TestSend:
    def test_every_try_sends_the_whole_body(self, server, connection):
        server.on("/up", BUSY, cut, (200, {"ref": "1"}))
        assert connection.send("/up", form(), {"Idempotency-Key": "k"}) == (200, {"ref": "1"})
        assert {asked[2]["Idempotency-Key"] for asked in server.asked} == {"k"}
        bodies = {asked[3] for asked in server.asked}
        assert len(server.asked) == 3
        assert bodies == {b"".join(form().blocks())}

    def test_a_file_that_cannot_be_read_is_not_the_networks_fault(self, connection, pauses):
        def broken():
            raise UnreadableFile("a.csv", "changed while it was being sent")
            yield b""

        with pytest.raises(UnreadableFile, match="changed"):
            connection.send("/up", Body("text/csv", 5, broken), {})
        assert pauses == []


class TestMultipart:
    def test_a_file_name_cannot_end_its_header(self):
        body = Body("text/csv", 1, lambda: iter([b"x"]))
        sent = b"".join(multipart({}, "file", 'a"\r\nX: 1.csv', body, "B").blocks())
        assert b'filename="a___X: 1.csv"' in sent
