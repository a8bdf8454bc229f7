"""Compiled kernels: two processes that fill the cache at once do not mix their code."""

from __future__ import annotations

import threading
from contextlib import suppress
from importlib.util import module_from_spec, spec_from_file_location

import pytest

SOURCE = """
from tracecup.kernels import kernel

@kernel
def twice(x):
    return x + x
"""


@pytest.fixture
def files(tmp_path):
    """The files of one kernel's cache as two processes see them."""
    path = tmp_path / "twice.py"
    path.write_text(SOURCE)
    (tmp_path / "__pycache__").mkdir()
    seen = []
    for _ in range(2):
        spec = spec_from_file_location("twice", path)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        seen.append(module.twice._cache._cache_file)
    return seen


class TestCache:
    def test_two_that_save_at_once_take_different_files(self, files, monkeypatch):
        # Both have read which files there are before either writes, unless one has to wait.
        both_read = threading.Barrier(2)
        for one in files:

            def read(really=one._load_index):
                found = really()
                with suppress(threading.BrokenBarrierError):
                    both_read.wait(0.5)
                return found

            monkeypatch.setattr(one, "_load_index", read)
        crew = [
            threading.Thread(target=one.save, args=(key, key.encode()))
            for one, key in zip(files, ("int", "float"), strict=True)
        ]
        for one in crew:
            one.start()
        for one in crew:
            one.join(600)
            assert not one.is_alive(), "a lock of the cache is never given back"
        assert [files[0].load(key) for key in ("int", "float")] == [b"int", b"float"]

    def test_what_was_saved_is_used(self, files):
        files[0].save("int", b"1")
        assert files[1].load("int") == b"1"
        assert files[1].load("float") is None
