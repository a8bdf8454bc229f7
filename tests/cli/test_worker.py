"""`tracecup worker`: wrong use, and a token for a worker elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tracecup.cli.main import run


def process(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: the server's settings are read once per process."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TRACECUP_", "DATABASE_"))}
    return subprocess.run(
        [sys.executable, "-m", "tracecup", "worker", *arguments],
        env={**kept, **env},
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
            (("--url", "http://localhost:1", "--new-token", "far"), "give its folder"),
        ],
    )
    def test_wrong_use_says_what_to_do(self, arguments, said, monkeypatch, capsys):
        monkeypatch.delenv("TRACECUP_WORKER_TOKEN", raising=False)
        assert run(["worker", *arguments]) == 2
        assert said in " ".join(capsys.readouterr().err.split())

    def test_token_is_printed_once_and_names_are_unique(self, tmp_path):
        folder = str(tmp_path / "server")
        done = process(folder, "--new-token", "far")
        assert done.returncode == 0
        assert done.stdout.startswith("tcw_")
        assert len(done.stdout.split()) == 1
        again = process(folder, "--new-token", "far")
        assert again.returncode == 2
        assert "already" in again.stderr
        gone = process(folder, "--revoke-token", "far")
        assert gone.returncode == 0
        assert process(folder, "--revoke-token", "far").returncode == 2
