"""Waiting for other processes, never for ever: who does not come is named."""

from __future__ import annotations

import select
import subprocess

PATIENCE_S = 600.0  # a loaded machine is no reason to fail


def line_of(process: subprocess.Popen[str]) -> str:
    """The next line that a process prints; "" where it has ended."""
    ready, _, _ = select.select([process.stdout], [], [], PATIENCE_S)
    assert ready, f"nothing said in {PATIENCE_S:g} s: {process.args}"
    return process.stdout.readline()
