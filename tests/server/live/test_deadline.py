"""The last second before a deadline: 21 teams, 200 posts, several processes, two web servers.

Exactly the allowed ones are accepted, each with a receipt; none that arrived after the deadline.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import time
from collections import defaultdict
from datetime import datetime
from pathlib import Path

import pytest

from waiting import line_of

TEAMS, POSTS, TRIES, PROCESSES = 21, 200, 3, 4
LEAD_SECONDS = 3.0
PATIENCE = 600

SET_UP = Path(__file__).with_name("small_contest.py").read_text()

POST = """
import http.client, json, sys, threading, time
told = json.loads(sys.stdin.readline())
said, lock = [], threading.Lock()

def post(one, deadline):
    connection = http.client.HTTPConnection("127.0.0.1", one["port"], timeout=600)
    connection.connect()
    # Everybody is connected; each posts at its own moment around the deadline.
    time.sleep(max(0.0, deadline + (one["after"] or 0.0) - time.time()))
    began = time.time()
    path = f"/api/v1/contests/small/uploads/anotraces_team{one['team']:03d}_data02_TRP.csv"
    headers = {"Authorization": f"Bearer {one['token']}", "Idempotency-Key": one["key"],
               "Content-Type": "text/csv"}
    connection.request("PUT", path, told["file"].encode(), headers)
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    with lock:
        said.append({**one, "began": began, "status": answer.status, "body": body})

def send(posts, deadline):
    crew = [threading.Thread(target=post, args=(one, deadline)) for one in posts]
    for one in crew:
        one.start()
    for one in crew:
        one.join()

send([one for one in told["posts"] if one["after"] is None], 0.0)
print("ready", flush=True)
send([one for one in told["posts"] if one["after"] is not None], float(sys.stdin.readline()))
json.dump(said, sys.stdout)
"""

COUNT = """
import json
from tracecup.server.models import *
from tracecup.server import auditlog as log
print(json.dumps({
    "rows": list(Submission.objects.values_list("team__number", "ref", "charged", "chosen")),
    "chain": list(log.check_chain())}))
"""


@pytest.fixture
def servers(new_server, database_url):
    """Two web servers on one folder and one database; gives the first and both ports."""
    first = new_server(database_url).start("--workers", "0")
    second = new_server(database_url)
    second.folder, second.env = first.folder, first.env
    second.start("--workers", "0")
    return first, [first.port, second.port]


def answers(served, told, ports) -> list[dict]:
    """Send all posts at their times, from several processes; all answers.

    The deadline comes when everybody is ready: the server's clock is moved there.
    """
    posts = [
        {
            "team": k % TEAMS + 1,
            "token": told["tokens"][k % TEAMS],
            "key": f"post-{k}",
            "port": ports[k % len(ports)],
            # Each team once in good time, however slow all of this is; nearly all others in the
            # last second; the last ones surely too late.
            "after": None if k < TEAMS else -1.0 + 1.1 * k / POSTS,
        }
        for k in range(POSTS)
    ]
    crew = [
        subprocess.Popen(
            [sys.executable, "-c", POST], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(PROCESSES)
    ]
    for k, one in enumerate(crew):
        mine = {"file": told["file"], "posts": posts[k::PROCESSES]}
        print(json.dumps(mine), file=one.stdin, flush=True)
    for one in crew:
        assert line_of(one) == "ready\n"
    at = time.time() + LEAD_SECONDS
    served.move_clock(told["deadline"] - at)
    for one in crew:
        print(at, file=one.stdin, flush=True)
    found = [answer for one in crew for answer in json.loads(one.communicate(timeout=PATIENCE)[0])]
    assert [one.returncode for one in crew] == [0] * PROCESSES
    return [{**one, "is_late": one["began"] >= at} for one in found]


def ask(port, method, path, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    told = json.loads(answer.read())
    connection.close()
    return answer.status, told


def test_exactly_the_allowed_ones_are_accepted(servers):
    served, ports = servers
    told = json.dumps({"teams": TEAMS, "tries": TRIES, "seconds": 3600})
    told = json.loads(served.python(SET_UP, TOLD=told))
    found = answers(served, told, ports)
    deadline = told["deadline"]
    assert len(found) == POSTS
    in_time = defaultdict(list)
    accepted = defaultdict(list)
    for one in found:
        if one["status"] == 201:
            arrived = datetime.fromisoformat(one["body"]["received_at"]).timestamp()
            assert arrived < deadline
            accepted[one["team"]].append(one)
            in_time[one["team"]].append(one)
        else:
            error = one["body"]["error"]
            assert error["code"] in ("quota", "closed"), error
            if error["code"] == "closed":
                arrived = datetime.fromisoformat(error["details"]["arrived"]).timestamp()
                assert arrived >= deadline
            else:
                in_time[one["team"]].append(one)
        if one["is_late"]:
            assert one["status"] == 409
    for team in range(1, TEAMS + 1):
        assert len(accepted[team]) == min(TRIES, len(in_time[team]))
    assert sum(map(len, accepted.values())) >= TEAMS
    held = json.loads(served.python(COUNT))
    refs = {answer["body"]["ref"] for one in accepted.values() for answer in one}
    assert {ref for _, ref, charged, _ in held["rows"] if charged} == refs
    assert len(held["rows"]) == len(refs)
    chosen = [team for team, _, _, is_chosen in held["rows"] if is_chosen]
    assert len(chosen) == len(set(chosen)) == sum(1 for one in accepted.values() if one)
    assert held["chain"] == []
    for answer in (one[0] for one in accepted.values() if one):
        secret = answer["body"]["receipt"].removeprefix("/receipt/")
        status, shown = ask(ports[0], "GET", f"/api/v1/receipts/{secret.rstrip('/')}")
        assert (status, shown["ref"]) == (200, answer["body"]["ref"])
    again = next(one[0] for one in accepted.values() if one)
    path = f"/api/v1/contests/small/uploads/anotraces_team{again['team']:03d}_data02_TRP.csv"
    status, shown = ask(
        ports[1],
        "PUT",
        path,
        told["file"].encode(),
        **{
            "Authorization": f"Bearer {again['token']}",
            "Idempotency-Key": again["key"],
            "Content-Type": "text/csv",
        },
    )
    assert (status, shown["ref"]) == (200, again["body"]["ref"])
