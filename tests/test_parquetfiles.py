"""Parquet files that end their decoder, ask for all memory or lie: always our own error."""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tracecup import InvalidFile, parquetfiles
from tracecup.cli.main import run
from tracecup.errors import InvalidParameter, UnreadableFile
from tracecup.safeio import Limits

ABORTS = Path(__file__).parent / "hostile" / "aborts_pyarrow.parquet"
"""Found by changing bytes: pyarrow 26 calls `terminate` when it is opened."""
TABLE = {"reg_id": [k % 7 + 1 for k in range(200)]}


@pytest.fixture
def path(tmp_path):
    pq.write_table(pa.table(TABLE), tmp_path / "t.parquet", compression="none")
    return tmp_path / "t.parquet"


@pytest.fixture
def own_forks(monkeypatch):
    """This process is copied for every file, with what the test changed in it."""
    monkeypatch.setattr(parquetfiles, "_may_fork", lambda: True)
    monkeypatch.setattr(parquetfiles, "OWN_FORKS", sys.maxsize)


@pytest.fixture(params=["copy", "nursery", "new process"])
def way(request, monkeypatch):
    """Each way to get a decoder."""
    monkeypatch.setattr(parquetfiles, "_may_fork", lambda: request.param == "copy")
    monkeypatch.setattr(parquetfiles, "OWN_FORKS", sys.maxsize)
    if request.param == "new process":
        monkeypatch.delattr(os, "fork")


def numbers(file: parquetfiles.Batches) -> list[int]:
    return [value for batch in file for value in batch.column(0).to_pylist()]


class TestDecoded:
    def test_the_batches_come_back(self, path, way):
        assert parquetfiles.decoded(path, Limits(), numbers) == TABLE["reg_id"]

    def test_who_reads_many_files_is_copied_for_the_first_alone(self, path, monkeypatch):
        asked = []
        monkeypatch.setattr(parquetfiles, "_may_fork", lambda: True)
        monkeypatch.setattr(parquetfiles, "_own_forks", itertools.count())
        child = parquetfiles._nursery.child
        monkeypatch.setattr(
            parquetfiles._nursery, "child", lambda text: asked.append(text) or child(text)
        )
        for k in range(4):
            assert parquetfiles.decoded(path, Limits(), numbers) == TABLE["reg_id"]
            assert len(asked) == max(0, k + 1 - parquetfiles.OWN_FORKS)

    def test_a_path_counts_from_the_folder_of_today(self, path, monkeypatch):
        monkeypatch.setattr(parquetfiles, "_may_fork", lambda: False)
        for folder in (path.parent, Path("/")):
            monkeypatch.chdir(folder)
            name = os.path.relpath(path)
            assert parquetfiles.decoded(name, Limits(), numbers) == TABLE["reg_id"]

    def test_several_files_at_once(self, path):
        def first(file: parquetfiles.Batches) -> list[int]:
            return parquetfiles.decoded(path, Limits(), numbers) + numbers(file)

        assert parquetfiles.decoded(path, Limits(), first) == 2 * TABLE["reg_id"]

    def test_schema_and_rows_are_told(self, path):
        found = parquetfiles.decoded(
            path, Limits(), lambda file: (file.schema.names, file.rows), whole=False
        )
        assert found == (["reg_id"], 200)

    def test_some_columns(self, tmp_path):
        pq.write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "t.parquet")
        assert parquetfiles.decoded(tmp_path / "t.parquet", Limits(), numbers, columns=["b"]) == [2]

    def test_what_the_reader_refuses_is_told_as_it_is(self, path):
        def refuse(_):
            raise InvalidParameter("no")

        with pytest.raises(InvalidParameter, match="no"):
            parquetfiles.decoded(path, Limits(), refuse)

    def test_a_missing_file(self, tmp_path):
        with pytest.raises(UnreadableFile):
            parquetfiles.decoded(tmp_path / "none.parquet", Limits(), numbers)

    def test_too_many_columns(self, tmp_path):
        pq.write_table(pa.table({f"c{k}": [1] for k in range(17)}), tmp_path / "t.parquet")
        with pytest.raises(InvalidFile, match="17 columns"):
            parquetfiles.decoded(tmp_path / "t.parquet", Limits(), numbers)


class TestHostile:
    def test_a_file_that_aborts_the_decoder_is_invalid(self, way):
        with pytest.raises(InvalidFile, match="a Parquet file"):
            parquetfiles.decoded(ABORTS, Limits(), numbers)

    def test_the_command_line_says_no(self, capsys):
        assert run(["validate", "obfuscated", str(ABORTS), "--json"]) == 1
        told = json.loads(capsys.readouterr().out)
        assert told["valid"] is False
        assert told["problems"][0]["expected"] == "a Parquet file"

    @pytest.mark.parametrize(("deaths", "whole"), [(1, True), (2, False)])
    def test_a_decoder_that_dies_is_asked_once_more(
        self, path, tmp_path, monkeypatch, own_forks, deaths, whole
    ):
        write, died = parquetfiles._write_batches, tmp_path / "died"

        def die(asked):
            if not died.exists() or died.stat().st_size < deaths:
                with died.open("ab") as file:
                    file.write(b"x")
                os.kill(os.getpid(), signal.SIGKILL)
            write(asked)

        monkeypatch.setattr(parquetfiles, "_write_batches", die)
        if whole:
            assert parquetfiles.decoded(path, Limits(), numbers) == TABLE["reg_id"]
        else:
            with pytest.raises(InvalidFile, match="SIGKILL"):
                parquetfiles.decoded(path, Limits(), numbers)
        assert died.stat().st_size == deaths

    def test_memory_has_a_limit(self, path, monkeypatch, own_forks):
        monkeypatch.setattr(parquetfiles, "_write_batches", lambda _: bytearray(1 << 30))
        with pytest.raises(InvalidFile, match="MiB of work"):
            parquetfiles.decoded(path, Limits(max_bytes=1 << 20), numbers)

    def test_a_footer_that_lies_about_its_rows(self, path):
        held = path.read_bytes()
        at = held.index(b"\x16\x90\x03", held.index(b"schema"))  # thrift: field 3, 200
        path.write_bytes(held[: at + 1] + b"\x92" + held[at + 2 :])
        assert run(["validate", "obfuscated", str(path), "--users", "201", "--times", "1"]) == 1
        assert parquetfiles.decoded(path, Limits(), lambda file: file.rows, whole=False) == 201

    def test_half_a_file(self, path):
        path.write_bytes(path.read_bytes()[:-40])
        with pytest.raises(InvalidFile, match="what Parquet calls"):
            parquetfiles.decoded(path, Limits(), numbers)


class TestMayFork:
    def test_only_where_no_thread_can_hold_a_lock(self):
        done = threading.Event()
        for name, may in ((parquetfiles.WAITS_ONLY, True), ("works", False)):
            before = parquetfiles._may_fork()
            thread = threading.Thread(target=done.wait, name=name)
            thread.start()
            found = parquetfiles._may_fork()
            done.set()
            thread.join()
            done.clear()
            assert found == (before and may)
