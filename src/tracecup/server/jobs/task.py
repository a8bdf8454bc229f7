"""A task: what a job computes, by whom ever: a function, a payload, files by SHA-256.

Nothing in it needs the database, so that a worker on another machine can do it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tracecup.server.storage import Blob

Outputs = Mapping[str, Blob]
"""Files that a task wrote, by name."""


@dataclass(frozen=True)
class Task:
    """`function` of the room `compute` on `payload`; `inputs` maps names of files to SHA-256.

    The worker adds `files` (name -> path) and `out` (a folder) to the payload. `patience` is how
    many times longer than other tasks it may take.
    """

    function: str
    payload: Mapping[str, Any]
    inputs: Mapping[str, str] = field(default_factory=dict)
    patience: int = 1

    @property
    def inputs_sha256(self) -> str:
        """One hash over everything that goes in."""
        held = [self.function, sorted(self.inputs.items()), dict(self.payload)]
        return hashlib.sha256(json.dumps(held, sort_keys=True).encode()).hexdigest()
