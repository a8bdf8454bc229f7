"""Log lines: one JSON object each, and nothing in them that opens a door."""

from __future__ import annotations

import json
import logging
import sys

import pytest

from tracecup.server.logs import JsonLines, without_secrets


def line(message: str, *args, **extra) -> dict:
    record = logging.LogRecord("x", logging.INFO, __file__, 1, message, args, None)
    vars(record).update(extra)
    return json.loads(JsonLines().format(record))


class TestJsonLines:
    def test_known_fields_are_written_and_others_are_not(self):
        said = line("done", job=3, password="hunter2")
        assert said["job"] == 3
        assert "hunter2" not in json.dumps(said)

    def test_an_error_tells_its_place_and_not_what_it_quotes(self):
        try:
            raise ValueError("the table is 4711")
        except ValueError:
            record = logging.LogRecord("x", 40, __file__, 1, "failed", (), sys.exc_info())
        said = json.loads(JsonLines().format(record))
        assert said["error"] == "ValueError"
        assert "4711" not in json.dumps(said)
        assert any("test_logs.py" in place for place in said["where"])

    def test_one_line_even_of_a_message_of_several(self):
        record = logging.LogRecord("x", 20, __file__, 1, "a\nb", (), None)
        assert len(JsonLines().format(record).splitlines()) == 1


class TestWithoutSecrets:
    @pytest.mark.parametrize(
        "path",
        [
            "/receipt/S3CRET/",
            "/link/S3CRET/",
            "/join/S3CRET/",
            "/api/v1/links/S3CRET/accept",
            "/api/v1/receipts/S3CRET",
        ],
    )
    def test_paths_that_are_as_good_as_a_password(self, path):
        assert "S3CRET" not in line("Internal Server Error: %s", path)["message"]

    def test_tokens(self):
        assert "S3CRET" not in without_secrets("refused tct_S3CRET-x_y and tcw_S3CRET")

    def test_other_paths_stay(self):
        message = "Forbidden: /c/spring/join/ and /api/v1/join"
        assert without_secrets(message) == message
