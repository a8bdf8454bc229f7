"""The starter kits: what they write passes its own test and the contract."""

from __future__ import annotations

import sys

import pytest

from tracecup.checks import check_method
from tracecup.cli.main import run
from tracecup.errors import InvalidParameter, UnreadableFile
from tracecup.front.plugins import load_plugin
from tracecup.front.starter import KITS, write_kit


class TestWriteKit:
    @pytest.mark.parametrize("sort", list(KITS))
    def test_passes_its_own_test(self, tmp_path, monkeypatch, sort):
        monkeypatch.setattr(sys, "path", list(sys.path))
        name = f"kit_{sort.replace('-', '_')}"
        method, test = write_kit(sort, name, tmp_path)
        (cls,) = load_plugin(method)
        assert [result for result in check_method(cls) if not result.passed] == []
        space = {"__name__": test.stem}
        exec(compile(test.read_text(), str(test), "exec"), space)
        for key, value in list(space.items()):
            if key.startswith("test_"):
                value()
        assert len(method.read_text().splitlines()) + len(test.read_text().splitlines()) <= 45

    def test_what_is_there_stays(self, tmp_path):
        write_kit("attack", "mine_once", str(tmp_path))
        with pytest.raises(UnreadableFile, match="not overwritten"):
            write_kit("attack", "mine_once", tmp_path)

    @pytest.mark.parametrize("name", ["My", "class", "1st", "a-b", "test_x", "", "../up"])
    def test_nonsense_names(self, tmp_path, name):
        with pytest.raises(InvalidParameter, match="a name has small letters"):
            write_kit("attack", name, tmp_path)

    def test_names_that_are_taken(self, tmp_path):
        with pytest.raises(InvalidParameter, match=r"is the name of RR"):
            write_kit("obfuscator", "rr", tmp_path)


class TestCommand:
    def test_writes_and_says_what_next(self, tmp_path, capsys, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert run(["new", "attack", "mine_told", "--trace"]) == 0
        assert "--trace +mine_told" in capsys.readouterr().out
        assert (tmp_path / "test_mine_told.py").is_file()
