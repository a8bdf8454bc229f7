"""A server whose port is taken says so, before it prints a link that would lead elsewhere."""

from __future__ import annotations

import os
import socket
import subprocess
import sys


def test_a_taken_port_is_named(tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        words = [
            sys.executable,
            "-m",
            "tracecup",
            "serve",
            str(tmp_path / "s"),
            "--port",
            str(port),
        ]
        env = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
        ended = subprocess.run(
            words, capture_output=True, text=True, timeout=600, check=False, env=env
        )
    assert ended.returncode == 2
    assert f"port {port}" in ended.stderr
    assert "/link/" not in ended.stderr
