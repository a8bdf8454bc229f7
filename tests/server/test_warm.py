"""The tiny contest that the fork server plays before it makes children."""

from __future__ import annotations

from tracecup.server.compute import warm
from tracecup.server.jobs.sandbox import PRELOAD


class TestWarm:
    def test_it_plays_to_the_end(self):
        # On import a failure is swallowed: the server would only be slower, and nobody would know.
        warm.warm()

    def test_the_fork_server_imports_it(self):
        assert warm.__name__ in PRELOAD

    def test_it_leaves_no_files_behind(self, tmp_path, monkeypatch):
        monkeypatch.setattr(warm.TemporaryDirectory, "__init__", _in(tmp_path))
        warm.warm()
        assert list(tmp_path.iterdir()) == []


def _in(folder):
    first = warm.TemporaryDirectory.__init__

    def init(self, *, prefix):
        first(self, prefix=prefix, dir=folder)

    return init
