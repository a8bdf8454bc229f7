from __future__ import annotations

import hashlib
import socket

import pytest

from tracecup.client import Unreachable
from tracecup.client.downloads import RemoteFile, fetch, fetch_all, save_stream

CONTENT = bytes(range(256)) * 40


def remote(content: bytes = CONTENT, name: str = "a.csv") -> RemoteFile:
    told = {"name": name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    return RemoteFile.of(told, f"/files/{name}")


def ranged(content: bytes = CONTENT, stop_after: int | None = None, ignore: bool = False):
    """A server of ranges that may hang up after some bytes of an answer, or know no ranges."""

    def answer(handler, body):
        asked = handler.headers.get("Range", "")
        first = int(asked.removeprefix("bytes=").rstrip("-")) if asked and not ignore else 0
        handler.send_response(206 if first else 200)
        handler.send_header("Content-Length", str(len(content) - first))
        if first:
            handler.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        handler.end_headers()
        end = len(content) if stop_after is None else first + stop_after
        handler.wfile.write(content[first:end])
        if stop_after is not None:
            handler.wfile.flush()
            handler.connection.shutdown(socket.SHUT_RDWR)
            handler.close_connection = True

    return answer


def asked_ranges(server) -> list:
    return [asked[2].get("Range") for asked in server.asked]


class TestRemoteFile:
    @pytest.mark.parametrize(
        "name", ["../a.csv", "a/b", "", ".hidden", "CON", "nul.csv", "a\\b", "a:b", "a.", "x" * 130]
    )
    def test_a_name_that_could_do_harm_is_refused(self, name):
        with pytest.raises(Unreachable, match="proper name"):
            RemoteFile.of({"name": name, "size": 1, "sha256": "0" * 64}, "/files")

    @pytest.mark.parametrize("told", [{"size": -1}, {"size": "9"}, {"sha256": "0"}])
    def test_size_and_digest_have_to_be_there(self, told):
        with pytest.raises(Unreachable):
            RemoteFile.of({"name": "a.csv", "size": 1, "sha256": "0" * 64, **told}, "/files")


class TestFetch:
    def test_whole_file(self, server, connection, tmp_path):
        server.on("/files/a.csv", ranged())
        assert fetch(connection, remote(), tmp_path / "a.csv") is True
        assert (tmp_path / "a.csv").read_bytes() == CONTENT
        assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]

    def test_what_is_there_is_not_fetched_again(self, server, connection, tmp_path):
        (tmp_path / "a.csv").write_bytes(CONTENT)
        assert fetch(connection, remote(), tmp_path / "a.csv") is False
        assert server.asked == []

    def test_what_was_changed_is(self, server, connection, tmp_path):
        (tmp_path / "a.csv").write_bytes(CONTENT[:-1] + b"!")
        server.on("/files/a.csv", ranged())
        assert fetch(connection, remote(), tmp_path / "a.csv") is True

    def test_goes_on_where_it_broke_off(self, server, connection, tmp_path):
        server.on("/files/a.csv", ranged(stop_after=3000), ranged(stop_after=3000), ranged())
        fetch(connection, remote(), tmp_path / "a.csv")
        assert (tmp_path / "a.csv").read_bytes() == CONTENT
        assert asked_ranges(server) == [None, "bytes=3000-", "bytes=6000-"]

    def test_goes_on_after_a_restart_of_the_program(self, server, connection, tmp_path):
        server.on("/files/a.csv", ranged(stop_after=3000), ranged(stop_after=0))
        with pytest.raises(Unreachable, match="broke off a.csv"):
            fetch(connection, remote(), tmp_path / "a.csv")
        assert not (tmp_path / "a.csv").exists()
        server.asked.clear()
        server.on("/files/a.csv", ranged())
        fetch(connection, remote(), tmp_path / "a.csv")
        assert asked_ranges(server) == ["bytes=3000-"]
        assert (tmp_path / "a.csv").read_bytes() == CONTENT

    def test_slow_progress_is_progress(self, server, connection, tmp_path):
        server.on("/files/a.csv", ranged(stop_after=900))
        fetch(connection, remote(), tmp_path / "a.csv")
        assert len(server.asked) > 10
        assert (tmp_path / "a.csv").read_bytes() == CONTENT

    def test_a_server_without_ranges_begins_anew(self, server, connection, tmp_path):
        server.on("/files/a.csv", ranged(stop_after=3000), ranged(ignore=True))
        fetch(connection, remote(), tmp_path / "a.csv")
        assert (tmp_path / "a.csv").read_bytes() == CONTENT

    def test_a_part_with_wrong_bytes_is_thrown_away(self, server, connection, tmp_path):
        file = remote()
        part = tmp_path / f".a.csv.{file.sha256[:12]}.part"
        part.write_bytes(b"?" * 100)
        server.on("/files/a.csv", ranged())
        fetch(connection, file, tmp_path / "a.csv")
        assert (tmp_path / "a.csv").read_bytes() == CONTENT
        assert asked_ranges(server) == ["bytes=100-", None]

    def test_a_wrong_digest_is_never_kept(self, server, connection, tmp_path):
        server.on("/files/a.csv", ranged(CONTENT[::-1]))
        with pytest.raises(Unreachable, match="SHA-256"):
            fetch(connection, remote(), tmp_path / "a.csv")
        assert list(tmp_path.iterdir()) == []

    def test_a_longer_answer_than_promised_stops_early(self, server, connection, tmp_path):
        server.on("/files/a.csv", ranged(CONTENT + b"more"))
        with pytest.raises(Unreachable, match="SHA-256"):
            fetch(connection, remote(), tmp_path / "a.csv")

    def test_empty_file(self, server, connection, tmp_path):
        server.on("/files/a.csv", (200, b""))
        assert fetch(connection, remote(b""), tmp_path / "a.csv") is True
        assert (tmp_path / "a.csv").read_bytes() == b""


class TestFetchAll:
    def test_tells_how_far_it_is(self, server, connection, tmp_path):
        server.on("/files/a.csv", ranged())
        server.on("/files/b.csv", ranged(b"bb"))
        told = []
        got = fetch_all(
            connection,
            [remote(), remote(b"bb", "b.csv")],
            tmp_path / "new" / "folder",
            lambda done, total: told.append((done, total)),
        )
        assert [(file.name, new) for file, new in got] == [("a.csv", True), ("b.csv", True)]
        assert told[-1] == (len(CONTENT) + 2, len(CONTENT) + 2)
        assert told == sorted(told)


class TestSaveStream:
    def test_keeps_only_a_whole_answer(self, server, connection, tmp_path):
        server.on("/zip", ranged(stop_after=30))
        with pytest.raises(Unreachable, match="broke off"):
            save_stream(connection, "/zip", {}, tmp_path / "all.zip")
        assert list(tmp_path.iterdir()) == []
        server.on("/zip", ranged())
        assert save_stream(connection, "/zip", {}, tmp_path / "all.zip") == len(CONTENT)
