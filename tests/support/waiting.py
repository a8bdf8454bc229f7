"""Waiting for other processes, never for ever: who does not come is named."""

from __future__ import annotations

import os
import select
import subprocess

from seedbed import Sprout

PATIENCE_S = 600.0  # a loaded machine is no reason to fail
Process = subprocess.Popen[str] | Sprout


def line_of(process: Process) -> str:
    """The next line that a process prints; "" where it has ended."""
    _wait(process, PATIENCE_S)
    return process.stdout.readline()


def all_of(process: Process, patience_s: float = PATIENCE_S) -> str:
    """All that a process prints until it closes its output."""
    said = bytearray()
    while True:
        _wait(process, patience_s)
        part = os.read(process.stdout.fileno(), 65_536)
        if not part:
            return said.decode()
        said += part


def _wait(process: Process, patience_s: float) -> None:
    ready, _, _ = select.select([process.stdout], [], [], patience_s)
    assert ready, f"nothing said in {patience_s:g} s: {process.args}"
