"""A small web server in a thread that answers as it is told, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tracecup.client import Account, Connection


@dataclass
class Scripted:
    """Answers in order for each path; the last one stays. An answer may be a function."""

    url: str = ""
    answers: dict = field(default_factory=dict)
    asked: list = field(default_factory=list)

    def on(self, path: str, *answers) -> None:
        self.answers[f"/api/v1{path}"] = list(answers)

    def next(self, path: str):
        held = self.answers.get(path) or [(404, {"error": {"code": "not-found", "message": "no"}})]
        return held.pop(0) if len(held) > 1 else held[0]


@pytest.fixture
def server():
    """The scripted server."""
    script = Scripted()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self):
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            path = self.path.partition("?")[0]
            script.asked.append((self.command, self.path, dict(self.headers), body))
            found = script.next(path)
            if callable(found):
                found(self, body)
                return
            status, payload, *more = found
            held = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(held)))
            for name, value in (more[0] if more else {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(held)

        def __getattr__(self, name):
            if name.startswith("do_"):
                return self._answer
            raise AttributeError(name)

        def log_message(self, *args):
            pass

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, request, client_address):
            """Clients that hang up are part of the tests."""

    made = Quiet(("127.0.0.1", 0), Handler)
    made.daemon_threads = True
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    script.url = f"http://127.0.0.1:{made.server_port}"
    yield script
    made.shutdown()
    thread.join(600)
    assert not thread.is_alive(), "a scripted server does not end"
    made.server_close()


@pytest.fixture
def pauses():
    """How long the connection waited, instead of waiting."""
    return []


@pytest.fixture
def connection(server, pauses):
    """A connection to the scripted server that never sleeps."""
    return Connection(Account(server.url, "tct_secret"), tries=4, timeout=120, sleep=pauses.append)
