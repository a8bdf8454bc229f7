"""The web server by itself: arrival, limits, slow and broken clients, lanes."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import socket
import subprocess
import threading
import time
from itertools import count

import pytest

from tracecup.server.storage import BlobStore
from tracecup.server.web import arrivals, receiving, turns
from tracecup.server.web.receiving import make_server

KIB = 1024
PATIENCE = 240
CSV = {"Content-Type": "text/csv", "Authorization": "Bearer x"}


class App:
    """Answers with what it was asked; `/wait` stays until it is let go."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.started = threading.Semaphore(0)
        self.arrivals: list[tuple[float, float]] = []

    def __call__(self, environ, start_response):
        body = environ["wsgi.input"].read()
        self.landed = environ["tracecup.body"]
        if self.landed is not None:
            self.same = self.landed.path.read_bytes() == body
        self.arrivals.append((environ["tracecup.received"], time.monotonic()))
        if environ["PATH_INFO"] == "/wait":
            self.started.release()
            self.go.wait(PATIENCE)
        told = {"method": environ["REQUEST_METHOD"], "size": len(body)}
        content = json.dumps(told).encode()
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(content)))]
        start_response("200 OK", headers)
        return [content]


@pytest.fixture
def app():
    return App()


class Porter:
    """Knows one token; answers when it is let."""

    def __init__(self) -> None:
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.asked: list[tuple[str, str]] = []
        self.is_ill = False

    def __call__(self, authorization: str, cookie: str) -> bool:
        self.asked.append((authorization, cookie))
        assert self.may_answer.wait(PATIENCE)
        if self.is_ill:
            raise RuntimeError("no database")
        return authorization == CSV["Authorization"]


@pytest.fixture
def porter():
    return Porter()


@pytest.fixture
def server(app, porter, tmp_path, monkeypatch):
    """A running server with two workers for pages and bodies up to 3 MiB.

    A cookie says whose a file is; without one everybody is somebody else.
    """
    # A client on a loaded machine may take long to send what is thrown away.
    monkeypatch.setattr(receiving, "DRAIN_SECONDS", PATIENCE)
    folder = tmp_path / "bodies"
    folder.mkdir()
    others = count()
    server = make_server(
        app,
        "127.0.0.1",
        0,
        2,
        3 * 1024 * KIB,
        folder=folder,
        proxied=False,
        arrived=tmp_path / "arrived",
        known=porter,
        whose=lambda _token, cookie, _path: cookie or str(next(others)),
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    yield server
    app.go.set()
    porter.may_answer.set()
    server.stop()
    thread.join(PATIENCE)
    assert not thread.is_alive()


@pytest.fixture
def port(server):
    """The port of a running server."""
    return server.port


def ask(port, method="GET", path="/", body=None, headers=None, **more):
    """Status, headers and body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request(method, path, body, headers or {}, **more)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def raw(port, *parts: bytes, wait: float = 0.0) -> bytes:
    """What comes back for these bytes."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
        for part in parts:
            client.sendall(part)
            time.sleep(wait)
        got = b""
        while block := client.recv(65536):
            got += block
        return got


def wait_for_notes(folder, many: int) -> None:
    """Wait until so many files are noted as arrived."""
    until = time.monotonic() + PATIENCE
    while len(list(folder.glob("*"))) != many:
        assert time.monotonic() < until
        time.sleep(0.02)  # between two looks


class TestEnd:
    def test_stopping_what_ends_already_writes_to_no_closed_pipe(self, app, tmp_path):
        # `run` may see the wish to stop, and close everything, before `stop` wakes it.
        server = make_server(app, "127.0.0.1", 0, 1, folder=tmp_path, proxied=False)
        ends = server.listeners()
        server.close()
        for one in ends:
            one.pull_trigger()
        server.stop()
        server.run()

    def test_the_pipe_of_a_closed_listener_is_left_alone_when_its_number_is_used_again(
        self, app, tmp_path
    ):
        server = make_server(app, "127.0.0.1", 0, 1, folder=tmp_path, proxied=False)
        (listener,) = server.listeners()
        number = listener.trigger.trigger
        server.close()
        with (tmp_path / "other").open("w+b") as other:
            os.dup2(other.fileno(), number)
            try:
                listener.pull_trigger()
            finally:
                os.close(number)
            assert (tmp_path / "other").read_bytes() == b""


class TestArrival:
    def test_it_is_the_moment_of_the_last_byte(self, port, app):
        head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nConnection: close\r\n\r\n"
        begin = time.monotonic()
        raw(port, head + b"ab", b"cd", wait=0.3)
        stamp, _ = app.arrivals[0]
        assert stamp >= begin + 0.3

    def test_waiting_for_a_worker_does_not_move_it(self, port, app, tmp_path):
        crew = [
            threading.Thread(target=ask, args=(port, "POST", "/wait", b"x", CSV))
            for _ in range(receiving.UPLOAD_THREADS)
        ]
        for one in crew:
            one.start()
        for _ in crew:
            assert app.started.acquire(timeout=PATIENCE)
        last = threading.Thread(target=ask, args=(port, "POST", "/", b"y", CSV))
        last.start()
        wait_for_notes(tmp_path / "arrived", receiving.UPLOAD_THREADS + 1)
        time.sleep(0.3)  # how long the last body waits for a worker at least, as asserted below
        app.go.set()
        for one in (*crew, last):
            one.join(PATIENCE)
        stamp, worked = app.arrivals[-1]
        assert worked - stamp >= 0.3

    def test_it_is_noted_until_the_answer(self, port, app, tmp_path):
        more = receiving.UPLOAD_THREADS + 2
        crew = [
            threading.Thread(target=ask, args=(port, "POST", "/wait", b"x", CSV))
            for _ in range(more)
        ]
        for one in crew:
            one.start()
        wait_for_notes(tmp_path / "arrived", more)
        ask(port, "POST", "/", b"{}", {"Content-Type": "application/json"})
        assert len(list((tmp_path / "arrived").glob("*"))) == more
        assert arrivals.is_awaited(tmp_path / "arrived", 0)
        assert not arrivals.is_awaited(tmp_path / "arrived", 600)
        app.go.set()
        for one in crew:
            one.join(PATIENCE)
        wait_for_notes(tmp_path / "arrived", 0)
        assert not arrivals.is_awaited(tmp_path / "arrived", 0)

    def test_notes_of_the_dead_count_no_more(self, tmp_path):
        folder = tmp_path / "arrived"
        found = arrivals.note(folder)
        assert found is not None
        os.utime(found, (time.time() - 100, time.time() - 100))
        assert arrivals.is_awaited(folder, 60)
        # However slow checks are: what a living server has is waited for.
        os.utime(found, (1, 1))
        assert arrivals.is_awaited(folder, 60)
        found.rename(folder / "1-x@elsewhere")
        assert not arrivals.is_awaited(folder, 60)
        dead = subprocess.Popen(["true"])
        dead.wait(PATIENCE)
        (folder / f"{dead.pid}-x@{os.uname().nodename}").touch()
        assert not arrivals.is_awaited(folder, -1)
        assert not list(folder.iterdir())

    def test_no_header_of_a_client_can_set_it(self, port, app):
        ask(port, headers={"tracecup.received": "1", "Tracecup-Received": "1"})
        assert app.arrivals[0][0] > 1


class TestLanded:
    @pytest.mark.parametrize("chunked", [False, True])
    def test_a_body_on_disk_is_hashed_while_it_arrives(self, port, app, tmp_path, chunked):
        body = bytes(range(256)) * 1024
        sent = iter([body[:1000], body[1000:]]) if chunked else body
        assert ask(port, "PUT", "/", sent, CSV, encode_chunked=chunked)[0] == 200
        assert app.same
        assert app.landed.sha256 == hashlib.sha256(body).hexdigest()
        assert app.landed.size == len(body)

    def test_it_is_gone_after_the_answer(self, port, app, tmp_path):
        ask(port, "PUT", "/", b"x" * 100_000, CSV)
        ask(port)
        assert list((tmp_path / "bodies").iterdir()) == []

    def test_small_bodies_stay_in_memory(self, port, app):
        ask(port, "PUT", "/", b"x" * 1000, CSV)
        assert app.landed is None


class TestLanes:
    def test_pages_answer_while_all_uploads_wait(self, port, app):
        crew = [
            threading.Thread(target=ask, args=(port, "POST", "/wait", b"x", CSV)) for _ in range(8)
        ]
        for one in crew:
            one.start()
        for _ in range(receiving.UPLOAD_THREADS):
            assert app.started.acquire(timeout=PATIENCE)
        assert ask(port)[0] == 200
        assert ask(port, "POST", "/", b"{}", {"Content-Type": "application/json"})[0] == 200
        app.go.set()
        for one in crew:
            one.join(PATIENCE)


class TestTurns:
    OWN = CSV | {"Cookie": "a hostile team"}

    def test_nobody_waits_for_the_files_of_another_team(self, port, app, tmp_path):
        """Seven files of one team held all workers, and others waited for them."""
        crew = [
            threading.Thread(target=ask, args=(port, "POST", "/wait", b"x", self.OWN))
            for _ in range(7)
        ]
        for one in crew:
            one.start()
        assert app.started.acquire(timeout=PATIENCE)
        wait_for_notes(tmp_path / "arrived", 7)
        for _ in range(3):
            assert ask(port, "POST", "/", b"y", CSV | {"Cookie": "another team"})[0] == 200
        assert not app.started.acquire(blocking=False)  # one at a time
        app.go.set()
        for one in crew:
            one.join(PATIENCE)
        assert len(app.arrivals) == 10

    def test_a_line_has_an_end(self, server, port, app, monkeypatch):
        monkeypatch.setattr(turns, "MOST_WAITING", 1)
        crew = [
            threading.Thread(target=ask, args=(port, "POST", "/wait", b"x", self.OWN))
            for _ in range(2)
        ]
        crew[0].start()
        assert app.started.acquire(timeout=PATIENCE)
        crew[1].start()
        until = time.monotonic() + PATIENCE
        while not any(server.task_dispatcher.uploads._lines.values()):
            assert time.monotonic() < until
            time.sleep(0.02)  # between two looks
        status, _, said = ask(port, "POST", "/api/v1/x", b"x", self.OWN)
        assert (status, json.loads(said)["error"]["code"]) == (429, "throttled")
        app.go.set()
        for one in crew:
            one.join(PATIENCE)


class TestLimits:
    def test_a_body_at_the_limit_passes(self, port):
        status, _, body = ask(port, "POST", "/", b"x" * (3 * 1024 * KIB), CSV)
        assert (status, json.loads(body)["size"]) == (200, 3 * 1024 * KIB)

    def test_a_body_above_it_is_refused_in_our_format(self, port, app):
        status, headers, body = ask(port, "POST", "/api/v1/x", b"x" * (3 * 1024 * KIB + 1), CSV)
        assert status == 413
        assert headers["Content-Type"] == "application/json"
        assert json.loads(body)["error"]["code"] == "too-large"
        assert not app.arrivals

    def test_people_read_a_sentence(self, port):
        status, headers, body = ask(port, "POST", "/x", b"x" * (4 * 1024 * KIB), CSV)
        assert status == 413
        assert headers["Content-Type"].startswith("text/plain")
        assert b"larger than 3 MiB" in body

    def test_it_is_refused_before_the_body_comes(self, port):
        head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2147483648\r\n\r\n"
        assert raw(port, head).startswith(b"HTTP/1.1 413")

    def test_who_waits_for_a_word_gets_the_refusal(self, port):
        head = b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
        got = raw(port, head + b"Content-Length: 2147483648\r\n\r\n")
        assert got.startswith(b"HTTP/1.1 413")

    def test_a_client_that_never_stops_sending_still_reads_the_answer(self, port):
        status, _, _ = ask(port, "POST", "/", b"x" * (24 * 1024 * KIB), CSV)
        assert status == 413

    def test_chunks_are_limited_too(self, port, app):
        blocks = (b"x" * (256 * KIB) for _ in range(20))
        status, _, _ = ask(port, "POST", "/", blocks, CSV, encode_chunked=True)
        assert status == 413
        assert not app.arrivals

    def test_chunks_below_the_limit_pass(self, port):
        blocks = (b"x" * (256 * KIB) for _ in range(4))
        status, _, body = ask(port, "POST", "/", blocks, CSV, encode_chunked=True)
        assert (status, json.loads(body)["size"]) == (200, 1024 * KIB)

    def test_an_endless_line_between_chunks_is_stopped(self, port):
        head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        assert raw(port, head + b"0" * 9000).startswith(b"HTTP/1.1 400")

    @pytest.mark.parametrize(
        "headers",
        [
            {"Content-Type": "application/json", "Authorization": "Bearer x"},
            {"Content-Type": "application/x-www-form-urlencoded", "Cookie": "sessionid=x"},
            {"Content-Type": "text/csv"},
        ],
    )
    def test_forms_and_strangers_have_less(self, port, headers):
        assert ask(port, "POST", "/", b"x" * (2 * 1024 * KIB + 1), headers)[0] == 413

    def test_large_headers_are_refused(self, port):
        assert ask(port, headers={"X-Large": "x" * (70 * KIB)})[0] == 431

    @pytest.mark.parametrize(
        "head",
        [
            b"nonsense\r\n\r\n",
            b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
            b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        ],
    )
    def test_nonsense_is_refused(self, port, head):
        assert raw(port, head).startswith((b"HTTP/1.0 400", b"HTTP/1.1 400"))

    def test_a_full_disk_is_told(self, port, monkeypatch):
        monkeypatch.setattr(BlobStore, "free", lambda self: 0)
        status, _, body = ask(port, "POST", "/api/v1/x", b"x" * (1024 * KIB), CSV)
        assert status == 507
        assert json.loads(body)["error"]["code"] == "storage"

    def test_small_bodies_do_not_touch_the_disk(self, port, monkeypatch):
        monkeypatch.setattr(BlobStore, "free", lambda self: 0)
        assert ask(port, "POST", "/", b"x" * KIB, CSV)[0] == 200

    def test_the_rest_of_a_refused_body_is_no_request(self, port, app):
        head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n"
        got = raw(port, head + b"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n")
        assert got.count(b"HTTP/1.1 ") == 1
        assert not app.arrivals


class TestStrangers:
    LARGE = 3 * 1024 * KIB

    @pytest.mark.parametrize(
        "shown", [{"Authorization": "Bearer made-up"}, {"Cookie": "sessionid=made-up"}]
    )
    @pytest.mark.parametrize("chunked", [False, True])
    def test_made_up_credentials_bring_in_no_large_body(self, port, app, shown, chunked):
        body = iter([b"x" * 1024 * KIB] * 3) if chunked else b"x" * self.LARGE
        headers = {"Content-Type": "text/csv", **shown}
        more = {"encode_chunked": True} if chunked else {}
        status, told, said = ask(port, "POST", "/api/v1/x", body, headers, **more)
        assert (status, told["WWW-Authenticate"]) == (401, "Bearer")
        assert json.loads(said)["error"]["code"] == "not-signed-in"
        assert not app.arrivals

    def test_nothing_large_is_read_before_it_is_known_who_sends(self, server, porter, app):
        porter.may_answer.clear()
        found = []
        sender = threading.Thread(
            target=lambda: found.append(ask(server.port, "POST", "/", b"x" * self.LARGE, CSV))
        )
        sender.start()

        def read() -> list[int]:
            channels = list(server.listeners()[0].active_channels.values())
            requests = [one.request for one in channels if one.request is not None]
            return [one.body_bytes_received for one in requests if one.is_waiting]

        until = time.monotonic() + PATIENCE
        while not read() and time.monotonic() < until:
            time.sleep(0.01)  # between two looks
        for _ in range(3):  # others are served meanwhile, so the loop went round
            assert ask(server.port)[0] == 200
        (got,) = read()
        assert got < receiving.SMALL_BODY + receiving.RECEIVE_BLOCK
        porter.may_answer.set()
        sender.join(PATIENCE)
        assert found[0][0] == 200
        assert json.loads(found[0][2])["size"] == self.LARGE

    def test_small_bodies_are_not_asked_about(self, port, porter):
        assert ask(port, "POST", "/", b"x" * KIB, CSV)[0] == 200
        assert ask(port, "POST", "/", b"x" * receiving.SMALL_BODY, CSV)[0] == 200
        assert porter.asked == []

    def test_where_nobody_can_be_asked_it_is_our_fault(self, port, porter, app):
        porter.is_ill = True
        status, _, said = ask(port, "POST", "/api/v1/x", b"x" * self.LARGE, CSV)
        assert status == 503
        assert json.loads(said)["error"]["code"] == "internal"
        assert not app.arrivals


class TestSlowClients:
    def test_they_hold_no_worker(self, port):
        head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nab"
        waiting = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
        for client in waiting:
            client.sendall(head)
        assert ask(port)[0] == 200
        for client in waiting:
            client.close()

    @pytest.mark.parametrize("head", [b"GET / HT", b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n"])
    def test_those_that_trickle_are_closed(self, port, monkeypatch, head):
        monkeypatch.setattr(receiving, "HEADER_SECONDS", 0.2)
        monkeypatch.setattr(receiving, "BODY_SECONDS", 0.2)
        monkeypatch.setattr(receiving._Listener, "next_channel_cleanup", property(lambda _: 0))
        monkeypatch.setattr(
            receiving._Listener, "readable", lambda self: self.maintenance(time.time()) or True
        )
        assert raw(port, head) == b""

    def test_those_that_say_nothing_are_hung_up(self, port, monkeypatch):
        monkeypatch.setattr(receiving, "SILENT_SECONDS", 0.0)
        monkeypatch.setattr(
            receiving._Listener, "readable", lambda self: self.maintenance(time.time()) or True
        )
        assert raw(port) == b""

    def test_one_address_has_so_many_connections(self, server, port, monkeypatch):
        server.adj.per_address = 3
        first = [socket.create_connection(("127.0.0.1", port), PATIENCE) for _ in range(3)]
        assert ask(port)[0] == 200  # the oldest that said nothing gave way
        assert first[0].recv(1) == b""
        for client in first:
            client.close()


class TestHead:
    def test_no_body(self, port):
        got = raw(port, b"HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert b"Content-Length" in got
        assert got.endswith(b"\r\n\r\n")

    def test_the_connection_can_be_used_again(self, port):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        for method in ("HEAD", "GET", "HEAD", "GET"):
            connection.request(method, "/")
            answer = connection.getresponse()
            assert answer.status == 200
            answer.read()
        connection.close()
