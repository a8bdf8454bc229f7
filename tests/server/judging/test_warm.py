"""The tiny contest that the fork server plays before it makes children."""

from __future__ import annotations

from tracecup.server.jobs.sandbox import PRELOAD
from tracecup.server.judging.compute import warm


class TestWarm:
    def test_it_plays_to_the_end(self):
        # On import a failure is swallowed: the server would only be slower, and nobody would know.
        warm.warm()

    def test_the_fork_server_imports_it(self):
        assert warm.__name__ in PRELOAD
