"""kill -9 of workers and servers at any moment: nothing accepted is lost, nothing counts twice.

On SQLite and on PostgreSQL; the end is the same as if nobody had been killed.
"""

from __future__ import annotations

import http.client
import json
import socket
import sqlite3
import sys
import threading
import time
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest
from tally import tally

DRIVER = Path(__file__).with_name("kill_driver.py")
PATIENCE = 600
# How long a worker has been at a job when its server is killed; once less than the attempts that a
# job has, so that none dies of it.
KILLED_AFTER = (0.0, 0.1, 0.3, 0.6)
SMALL = Path(__file__).with_name("small_contest.py").read_text()
ROWS = """
import json
from tracecup.server.models import Submission
from tracecup.server import auditlog as log
rows = Submission.objects.order_by("id").values_list(
    "idempotency_key", "ref", "state", "charged", "attempt", "chosen")
print(json.dumps({"rows": list(rows), "chain": list(log.check_chain())}))
"""
SET_UP = """
from pathlib import Path
from tracecup.server.start import set_up
set_up(Path({folder!r}))
"""
BEGIN = """
import sys
sys.path.insert(0, {here!r})
from pathlib import Path
from kill_driver import Stage
Stage(Path({clock!r}), False).begin()
"""
DATA = """
import json
from tracecup.server.models import Job, StoredFile
print(json.dumps({
    "left": Job.objects.exclude(state="done").filter(kind="data").count(),
    "dead": Job.objects.filter(state="dead").count(),
    "files": dict(StoredFile.objects.values_list("name", "sha256"))}))
"""


def drive(served, how: str) -> dict:
    """Play the driver's contest on a server's folder and database."""
    command = [sys.executable, str(DRIVER), str(served.folder), str(served.clock), how]
    said = served.printed(command, TRACECUP_SHUFFLE_SEED="5", TRACECUP_LEASE_SECONDS="5")
    return json.loads(said.splitlines()[-1])


@pytest.fixture(scope="module")
def calm():
    """What an undisturbed contest comes to, once found."""
    return {}


class TestWorkerKilled:
    def test_at_every_state_of_every_job(self, new_server, database_url, calm):
        if not calm:
            calm.update(drive(new_server(), "calm"))
        found = drive(new_server(database_url), "disturbed")
        assert [name for name, killed in found["kills"].items() if not killed] == []
        assert len(found["kills"]) == 48
        tally("workers killed (-9) at a state of a job", len(found["kills"]), database_url)
        for what, value in calm["same"].items():
            assert found["same"][what] == value, what
        assert found["differences"] == calm["differences"] == []
        assert found["dead"] == []
        assert found["chain"] == []


class TestServerKilled:
    def test_in_the_middle_of_an_upload(self, new_server, database_url):
        served = new_server(database_url).start("--workers", "0")
        told = small(served)
        body = told["file"].encode()
        head = "".join(f"{name}: {value}\r\n" for name, value in headers(told, "half").items())
        with socket.create_connection(("127.0.0.1", served.port)) as line:
            length = f"Host: 127.0.0.1\r\nContent-Length: {len(body)}\r\n"
            line.sendall(f"PUT {PATH} HTTP/1.1\r\n{length}{head}\r\n".encode())
            line.sendall(body[: len(body) // 2])
            time.sleep(0.5)
            served.kill()
        assert json.loads(served.python(ROWS))["rows"] == []
        served.start("--workers", "0")
        assert [one for one in (served.folder / "incoming").iterdir() if one.is_file()] == []
        assert put(served, told, "half")[0] == 201
        [row] = json.loads(served.python(ROWS))["rows"]
        assert (row[0], row[3], row[4]) == ("half", True, 1)

    def test_while_files_are_accepted(self, new_server, database_url):
        """What was promised is there; what is sent again with its key counts once."""
        served = new_server(database_url)
        promised: dict[str, str] = {}
        told: dict = {}
        for k, seconds in enumerate((0.02, 0.3, 0.8, 1.5)):
            served.start("--workers", "0")
            told = told or small(served)
            sender = threading.Thread(target=send, args=(served, told, f"key-{k}", promised))
            sender.start()
            time.sleep(seconds)
            served.kill()
            sender.join(PATIENCE)
            assert not sender.is_alive(), "the sender of a killed server still waits"
        served.start("--workers", "0")
        held = json.loads(served.python(ROWS))
        for key, ref in promised.items():
            assert (key, ref) in {(row[0], row[1]) for row in held["rows"]}
        for k in range(4):
            status, answer = put(served, told, f"key-{k}")
            assert status in (200, 201), answer
            assert answer["ref"] == promised.get(f"key-{k}", answer["ref"])
        held = json.loads(served.python(ROWS))
        assert sorted(row[0] for row in held["rows"]) == [f"key-{k}" for k in range(4)]
        assert all(row[2] == "scored" and row[3] for row in held["rows"])
        assert sorted(row[4] for row in held["rows"]) == [1, 2, 3, 4]
        assert sum(row[5] for row in held["rows"]) == 1
        assert held["chain"] == []

    def test_with_its_worker_at_work(self, new_server, database_url, calm):
        """The data of a contest, made by a server that is killed again and again."""
        if not calm:
            calm.update(drive(new_server(), "calm"))
        served = new_server(database_url, TRACECUP_LEASE_SECONDS="2")
        here = str(Path(__file__).parent)
        served.python(SET_UP.format(folder=str(served.folder)))
        served.python(BEGIN.format(here=here, clock=str(served.clock)))
        with data_jobs(served) as look:
            for seconds in KILLED_AFTER:
                before = look()[1]
                served.start("--workers", "1")
                until(lambda before=before: look()[0] == 0 or look()[1] > before, "a job begins")
                time.sleep(seconds)  # another moment of the work for each kill; all must do
                served.kill()
            served.start("--workers", "1")
            until(lambda: look()[0] == 0, "all data are made")
        served.kill()
        found = json.loads(served.python(DATA))
        assert (found["left"], found["dead"]) == (0, 0)
        known = calm["same"]["names"]
        assert len(found["files"]) == 20
        assert {name: known[name] for name in found["files"]} == found["files"]


@contextmanager
def data_jobs(served):
    """A function: how many jobs that make data are open, and how often such have been begun."""
    url = served.env["DATABASE_URL"]
    if url:
        line = psycopg.connect(url, autocommit=True)
    else:
        line = sqlite3.connect(served.folder / "tracecup.sqlite3", timeout=PATIENCE)
    asked = "select state, attempts from server_job where kind = 'data'"

    def look() -> tuple[int, int]:
        rows = line.execute(asked).fetchall()
        return sum(row[0] not in ("done", "dead") for row in rows), sum(row[1] for row in rows)

    with closing(line):
        yield look


def until(what, why: str) -> None:
    end = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < end, f"never: {why}"
        time.sleep(0.02)  # between two looks


PATH = "/api/v1/contests/small/uploads/anotraces_team001_data02_TRP.csv"


def small(served) -> dict:
    """A contest whose releases are due in an hour; tokens and a valid release."""
    said = json.dumps({"teams": 1, "tries": 5, "seconds": 3600})
    return json.loads(served.python(SMALL, TOLD=said))


def headers(told: dict, key: str) -> dict[str, str]:
    return {
        "Authorization": f"Bearer {told['tokens'][0]}",
        "Idempotency-Key": key,
        "Content-Type": "text/csv",
    }


def put(served, told: dict, key: str) -> tuple[int, dict]:
    line = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
    line.request("PUT", PATH, told["file"].encode(), headers(told, key))
    answer = line.getresponse()
    said = json.loads(answer.read())
    line.close()
    return answer.status, said


def send(served, told: dict, key: str, promised: dict[str, str]) -> None:
    """Send a file to a server that may die; note what it promised."""
    try:
        status, said = put(served, told, key)
    except (OSError, http.client.HTTPException, ValueError):
        return
    assert status == 201
    promised[key] = said["ref"]
