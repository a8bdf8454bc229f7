"""`tracecup worker`: wrong use, and a token for a worker elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tracecup.cli.main import run

# The verb several times in one process of their own: the server's settings are read once.
CALLS = """
import json, sys
from tracecup.cli.main import run
for call in json.loads(sys.argv[1]):
    print(run(["worker", *call]), flush=True)
"""


def process(*calls: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TRACECUP_", "DATABASE_"))}
    return subprocess.run(
        [sys.executable, "-c", CALLS, json.dumps(calls)],
        env=kept,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


class TestWorker:
    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ((), "folder, or its address"),
            (("somewhere", "--url", "http://localhost:1"), "folder, or its address"),
            (("--url", "http://localhost:1"), "TRACECUP_WORKER_TOKEN"),
            (("--url", "ftp://localhost", "--token", "tcw_x"), "begins with http"),
            (("--url", "http://cup.example.org", "--token", "tcw_x"), "--insecure"),
            (("--url", "http://localhost:1", "--new-token", "far"), "give its folder"),
        ],
    )
    def test_wrong_use_says_what_to_do(self, arguments, said, monkeypatch, capsys):
        monkeypatch.delenv("TRACECUP_WORKER_TOKEN", raising=False)
        assert run(["worker", *arguments]) == 2
        assert said in " ".join(capsys.readouterr().err.split())

    def test_token_is_printed_once_and_names_are_unique(self, tmp_path):
        folder = str(tmp_path / "server")
        new, gone = (folder, "--new-token", "far"), (folder, "--revoke-token", "far")
        done = process(new, new, gone, gone)
        token, *codes = done.stdout.split()
        assert token.startswith("tcw_")
        assert codes == ["0", "2", "0", "2"]
        assert "already" in done.stderr
