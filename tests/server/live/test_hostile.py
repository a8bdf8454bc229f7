"""Hostile and unlucky clients against a running server: nothing breaks, nothing is charged.

Two gigabytes, endless and slow bodies, wrong types, bombs, a full disk, a clock that steps.
"""

from __future__ import annotations

import hashlib
import http.client
import io
import json
import select
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import pytest
from tally import tally

SET_UP = Path(__file__).with_name("small_contest.py").read_text()
MIB = 1 << 20
PATIENCE = 600
NAME = "anotraces_team001_data02_TRP.csv"
UPLOAD = f"/api/v1/contests/small/uploads/{NAME}"
# Starts the server with a disk whose free bytes stand in a file.
WITH_DISK = """
import os, sys
from pathlib import Path
from tracecup.server import storage
storage.BlobStore.free = lambda self: int(Path(os.environ["FREE_BYTES"]).read_text())
from tracecup.cli.main import main
sys.argv[1:] = ["serve", *sys.argv[1:]]
main()
"""


@pytest.fixture
def free_bytes(tmp_path):
    """The file that says how much room the disk has."""
    path = tmp_path / "free"
    path.write_text(str(1 << 40))
    return path


@pytest.fixture
def served(new_server, free_bytes, database_url):
    """A server with limits of 64 MiB whose disk can be filled; its one team's token and file."""
    made = new_server(database_url, TRACECUP_UPLOAD_MIB="64", FREE_BYTES=str(free_bytes))
    command = [sys.executable, "-c", WITH_DISK, str(made.folder), "--port", str(made.port)]
    made.process = made.run([*command, "--workers", "0"])
    wait_for(made)
    told = json.dumps({"teams": 1, "tries": 99, "seconds": 3600})
    made.told = json.loads(made.python(SET_UP, TOLD=told))
    made.token, made.seen = made.told["tokens"][0], set()
    return made


def wait_for(served) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        assert served.process.poll() is None, served.log.read_text()[-3000:]
        try:
            urllib.request.urlopen(f"{served.url}/health/", timeout=30).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server does not answer")


def headers(served, key="k", **more) -> dict[str, str]:
    return {
        "Authorization": f"Bearer {served.token}",
        "Idempotency-Key": key,
        "Content-Type": "text/csv",
        **more,
    }


def ask(served, method, path, body=None, said=None, **more):
    """Status and JSON of an answer; a body may be made for its connection."""
    tally("requests among hostile ones", database=served.env["DATABASE_URL"])
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
    body = body(connection) if callable(body) else body
    try:
        connection.request(method, path, body, said or {}, **more)
        answer = connection.getresponse()
        text = answer.read()
    finally:
        connection.close()
    return answer.status, json.loads(text) if text[:1] in (b"{", b"[") else text


def submit(served, body, key="k", **more):
    return ask(served, "PUT", UPLOAD, body, headers(served, key), **more)


def rows(served) -> list[tuple[str, bool]]:
    """State and cost of what came in since this was asked last, the oldest first."""
    status, told = ask(served, "GET", "/api/v1/contests/small/submissions", said=headers(served))
    assert status == 200
    new = [one for one in reversed(told) if one["ref"] not in served.seen]
    served.seen |= {one["ref"] for one in new}
    return [(one["state"], one["charged"]) for one in new]


def peak_mib(served) -> int:
    """The largest memory that the web server's process has had."""
    status = Path(f"/proc/{served.process.pid}/status").read_text()
    line = next(one for one in status.splitlines() if one.startswith("VmHWM"))
    return int(line.split()[1]) // 1024


def still_well(served) -> None:
    """A proper file is accepted as ever."""
    status, told = submit(served, served.told["file"].encode(), key=f"well-{time.monotonic()}")
    assert (status, told["state"]) == (201, "scored")


def check_bodies(served):
    """Too large, endless, of wrong types: refused in words, without memory and without a row."""
    still_well(served)
    before = peak_mib(served)
    said = headers(served) | {"Content-Length": str(2 << 30)}

    def endless(connection):
        """Two gigabytes, or what is sent until the server says something."""
        for _ in range((2 << 30) // MIB):
            yield b"x" * MIB
            if select.select([connection.sock], [], [], 0)[0]:
                return

    status, told = ask(served, "PUT", UPLOAD, endless, said)
    assert (status, told["error"]["code"]) == (413, "too-large")
    status, told = submit(served, endless, encode_chunked=True)
    assert (status, told["error"]["code"]) == (413, "too-large")
    made_up = headers(served) | {"Authorization": "Bearer tct_made-up"}
    status, told = ask(served, "PUT", UPLOAD, b"x" * (3 * MIB), made_up)
    assert (status, told["error"]["code"]) == (401, "not-signed-in")
    for kind in ("application/json", "application/x-www-form-urlencoded", "multipart/form-data"):
        status, _ = ask(served, "PUT", UPLOAD, b"x", headers(served) | {"Content-Type": kind})
        assert status == 415
    path = "/api/v1/contests/small/submissions"
    assert ask(served, "POST", path, b"x", headers(served))[0] == 415
    assert rows(served) == [("scored", True)]
    assert peak_mib(served) - before < 64
    still_well(served)


def check_many_large_files_at_once(served):
    """Eight files of 16 MiB that are no traces: all rejected, with little memory."""
    still_well(served)
    before = peak_mib(served)
    said: list[tuple[int, str]] = []

    def send(k: int) -> None:
        status, told = submit(served, b"reg_id\n" + b"1\n" * (8 * MIB), key=f"large-{k}")
        said.append((status, told["error"]["code"]))

    crew = [threading.Thread(target=send, args=(k,)) for k in range(8)]
    for one in crew:
        one.start()
    for one in crew:
        one.join(PATIENCE)
    assert said == [(422, "rejected")] * 8
    assert peak_mib(served) - before < 128
    assert sorted(rows(served)) == [("rejected", False)] * 8 + [("scored", True)]


def check_slow_clients_hold_nobody_up(served):
    """Forty bodies that never end; others are served meanwhile."""
    head = f"PUT {UPLOAD} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\n"
    head += f"Authorization: Bearer {served.token}\r\nContent-Length: 1000\r\n\r\nreg_id\n"
    waiting = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(40)]
    for one in waiting:
        one.sendall(head.encode())
    still_well(served)
    for one in waiting:
        one.close()
    still_well(served)
    assert all(state == "scored" for state, _ in rows(served))


def check_archives(served):
    """A bomb, a slip and a flood: refused, and nothing is written anywhere."""
    path, boundary = "/api/v1/contests/small/archives", "x7f"
    form = headers(served) | {"Content-Type": f"multipart/form-data; boundary={boundary}"}

    def send(content: bytes, key: str):
        body = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n'
            "Content-Type: application/zip\r\n\r\n"
        ).encode()
        body += content + f"\r\n--{boundary}--\r\n".encode()
        return ask(served, "POST", path, body, form | {"Idempotency-Key": key})

    def packed(files):
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name, content in files:
                archive.writestr(name, content)
        return made.getvalue()

    bomb = packed((f"{k}/{NAME}", b"0" * (20 * MIB)) for k in range(5))
    status, told = send(bomb, "bomb")
    assert (status, told["error"]["code"]) == (413, "too-large")
    status, told = send(packed([("../../" + NAME, b"reg_id\n")]), "slip")
    assert (status, told["accepted"], told["items"][0]["error"]["code"]) == (200, 0, "invalid")
    status, told = send(packed((f"{k}.csv", b"") for k in range(5000)), "flood")
    assert (status, told["error"]["code"]) == (413, "too-large")
    status, told = send(packed([(NAME, served.told["file"])]), "good")
    assert (status, told["accepted"]) == (200, 1)
    assert rows(served) == [("scored", True)]
    assert not list((served.folder / "incoming").iterdir())


def check_a_full_disk(served):
    """Refused with the code of its own; afterwards the same key works as if nothing had been."""
    free_bytes = Path(served.env["FREE_BYTES"])
    free_bytes.write_text("1000")
    for body in (served.told["file"].encode(), b"x" * (4 * MIB)):
        status, told = submit(served, body, "full")
        assert (status, told["error"]["code"]) == (507, "storage")
    assert rows(served) == []
    free_bytes.write_text(str(1 << 40))
    assert submit(served, served.told["file"].encode(), "full")[0] == 201


def check_a_clock_that_steps(served):
    """What counts is the clock at the moment of the last byte."""
    body = served.told["file"].encode()
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as client:
        head = "".join(f"{k}: {v}\r\n" for k, v in headers(served, "late").items())
        begin = f"PUT {UPLOAD} HTTP/1.1\r\nHost: localhost\r\n{head}"
        client.sendall(f"{begin}Content-Length: {len(body)}\r\n\r\n".encode() + body[:-5])
        served.move_clock(4000)
        time.sleep(0.2)
        client.sendall(body[-5:])
        assert client.recv(64).startswith(b"HTTP/1.1 409")
    assert submit(served, body, "step")[1]["error"]["code"] == "closed"
    served.move_clock(-4000)
    assert submit(served, body, "step")[1]["error"]["code"] == "closed"  # the phase has not begun
    served.move_clock(0)
    assert submit(served, body, "step")[0] == 201
    served.move_clock(4000)
    assert submit(served, body, "step")[0] == 200
    served.move_clock(0)
    assert rows(served) == [("scored", True)]


def check_downloads(served):
    """Ranges and the archive over one connection that is used again and again."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)

    def get(path, method="GET", **more):
        connection.request(method, f"/api/v1/contests/small{path}", headers={**said, **more})
        answer = connection.getresponse()
        return answer, answer.read()

    said = {"Authorization": f"Bearer {served.token}"}
    (told,) = json.loads(get("/files")[1])["files"]
    whole = get(f"/files/{told['name']}")[1]
    assert hashlib.sha256(whole).hexdigest() == told["sha256"]
    head, nothing = get(f"/files/{told['name']}", "HEAD")
    assert (head.headers["Content-Length"], nothing) == (str(len(whole)), b"")
    answer, part = get(f"/files/{told['name']}", Range="bytes=10-19")
    assert (answer.status, part) == (206, whole[10:20])
    answer, archive = get("/archive")
    etag = answer.headers["ETag"]
    answer, rest = get("/archive", **{"Range": "bytes=200-", "If-Range": etag})
    assert (answer.status, archive[:200] + rest) == (206, archive)
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        assert packed.testzip() is None
        assert packed.read(f"small-final/{told['name']}") == whole
    assert get("/files/nothing.csv")[0].status == 404
    connection.close()


def test_a_server_survives_them_all(served):
    """One after the other on one server, since starting one takes longer than all of it."""
    for check in (
        check_bodies,
        check_many_large_files_at_once,
        check_slow_clients_hold_nobody_up,
        check_archives,
        check_downloads,
        check_a_full_disk,
        check_a_clock_that_steps,
    ):
        rows(served)
        check(served)
        still_well(served)
