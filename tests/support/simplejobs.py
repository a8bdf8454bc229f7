"""Jobs for the tests of engines: they answer, refuse, or end the process that runs them."""

from __future__ import annotations

import os
import pickle
import signal
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

from tracecup.cluster import Jobs
from tracecup.errors import InvalidParameter


class Elsewhere(Jobs):
    """A worker on a machine without a folder of ours: it is gone while a job is done.

    A job reaches it as bytes, as it would another process, and is done at once.
    """

    workers = 1

    def __init__(self, folder: Path | None = None) -> None:
        self.folder, self.calls = folder, 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        packed, outcome = pickle.dumps(partial(fn, *args, **kwargs)), Future[Any]()
        hidden = None if self.folder is None else self.folder.rename(f"{self.folder}.hidden")
        try:
            outcome.set_result(pickle.loads(pickle.dumps(pickle.loads(packed)())))
        finally:
            if hidden is not None and self.folder is not None:
                hidden.rename(self.folder)
        self.calls += 1
        return outcome

    def stop(self) -> None:
        """Nothing is under way."""


def dies_once(marker: str) -> int:
    """Ends its process the first time."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return os.getpid()
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def always_dies() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def refuses(what: str) -> None:
    raise InvalidParameter(what)
