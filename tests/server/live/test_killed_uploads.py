"""kill -9 of the web server while files come in: nothing accepted is lost, nothing taken twice.

A client that sends again under the same key gets every file in exactly once.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import socket
import threading
import time
from pathlib import Path

import numpy as np
from tally import tally

SET_UP = Path(__file__).with_name("small_contest.py").read_text()
PATH = "/api/v1/contests/small/uploads/anotraces_team001_data02_TRP.csv"
FILES, KILLS = 12, 2
ROWS = """
import json
from tracecup.server.models import Submission
from tracecup.server import auditlog as log
from tracecup.server.storage import store
import hashlib
rows = list(Submission.objects.values_list("idempotency_key", "ref", "charged", "sha256"))
whole = all(hashlib.sha256(store().path(r[3]).read_bytes()).hexdigest() == r[3] for r in rows)
chosen = Submission.objects.filter(chosen=True).count()
chain = list(log.check_chain())
print(json.dumps({"rows": rows, "whole": whole, "chosen": chosen, "chain": chain}))
"""


def headers(token: str, key: str) -> dict[str, str]:
    return {
        "Authorization": f"Bearer {token}",
        "Idempotency-Key": key,
        "Content-Type": "text/csv",
    }


def send_until_taken(served, told, key: str) -> dict:
    """As a client does: again and again under the same key until there is an answer."""
    until = time.monotonic() + 600
    while time.monotonic() < until:
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=120)
        try:
            said = headers(told["tokens"][0], key)
            connection.request("PUT", PATH, told["file"].encode(), said)
            answer = connection.getresponse()
            body = json.loads(answer.read())
            assert answer.status in (200, 201), body
            return body
        except (OSError, http.client.HTTPException):
            time.sleep(0.05)
        finally:
            connection.close()
    raise AssertionError("never taken")


def test_every_file_gets_in_exactly_once(running_server):
    served = running_server
    told = json.dumps({"teams": 1, "tries": FILES, "seconds": 3600})
    told = json.loads(served.python(SET_UP, TOLD=told))
    half = socket.create_connection(("127.0.0.1", served.port))
    said = "".join(f"{k}: {v}\r\n" for k, v in headers(told["tokens"][0], "file-0").items())
    half.sendall(f"PUT {PATH} HTTP/1.1\r\nHost: localhost\r\n{said}".encode())
    half.sendall(b"Content-Length: 5000000\r\n\r\n" + b"x" * 2_000_000)
    receipts: dict[str, dict] = {}

    def client(keys: list[str]) -> None:
        for key in keys:
            receipts[key] = send_until_taken(served, told, key)

    keys = [f"file-{k}" for k in range(FILES)]
    crew = [threading.Thread(target=client, args=(keys[k::2],)) for k in range(2)]
    for one in crew:
        one.start()
    pauses = np.random.default_rng(7).uniform(0.05, 1.5, KILLS)
    for pause in pauses:
        time.sleep(pause)
        served.kill()
        served.start()
    for one in crew:
        one.join(600)
        assert not one.is_alive()
    half.close()
    found = json.loads(served.python(ROWS))
    assert {key: ref for key, ref, _, _ in found["rows"]} == {
        key: receipt["ref"] for key, receipt in receipts.items()
    }
    assert len(found["rows"]) == FILES
    tally("files sent to dying servers, each in once", FILES, served.env["DATABASE_URL"])
    assert all(charged for _, _, charged, _ in found["rows"])
    digest = hashlib.sha256(told["file"].encode()).hexdigest()
    assert {sha256 for _, _, _, sha256 in found["rows"]} == {digest}
    assert found["whole"]
    assert found["chosen"] == 1
    assert found["chain"] == []
    assert not list((served.folder / "incoming").iterdir())
