"""The last second before a deadline: 21 teams, 200 posts, several processes, two web servers.

Exactly the allowed ones are accepted, each with a receipt; none that arrived after the deadline.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections import defaultdict
from datetime import datetime

import pytest

TEAMS, POSTS, TRIES, PROCESSES = 21, 200, 3, 4
LEAD_SECONDS = 6.0

SET_UP = """
import json, os, sys, tempfile
from datetime import datetime, timedelta, UTC
from pathlib import Path
import numpy as np
from tracecup import City, Grid, SetTraces, Traces
from tracecup.city.files import write_city
from tracecup.contest.rulefile import parse_rules
from tracecup.server.access import SYSTEM
from tracecup.server.models import *
from tracecup.server.services import people
from tracecup.server.storage import store
from tracecup.traces.files import write_obfuscated, write_traces

told = json.loads(os.environ["TOLD"])
now = datetime.now(UTC)
deadline = now + timedelta(seconds=told["seconds"])
at = [now - timedelta(hours=2), now - timedelta(hours=1), deadline,
      deadline + timedelta(days=1), deadline + timedelta(days=2)]
names = ("announce", "anonymize", "judge", "attack", "results")
phases = "\\n".join(f"{n} = {t.isoformat()}" for n, t in zip(names, at))
rules = f'''
name = "Last second"
users = 24
[clock]
days = 2
slots = 4
[limits]
release_tries = {told["tries"]}
[[rounds]]
name = "final"
[rounds.phases]
{phases}
'''
parse_rules(rules)
folder = Path(tempfile.mkdtemp())
write_city(folder / "city.csv", City(Grid.from_metres(4, 4, width_m=1000, height_m=1000)))
contest = Contest.objects.create(
    slug="last", name="Last second", rules_text=rules, created_at=now, is_public=True,
    city_sha256=store().put_file(folder / "city.csv").sha256)
round = Round.objects.create(contest=contest, name="final", position=0)
clock = contest.rules.clock_of("final").original
walk = np.random.default_rng(1).integers(0, 16, (24, clock.times)).astype(np.int32)
original = Traces(walk, np.arange(1, 25), clock)
write_traces(folder / "org.csv", original)
write_obfuscated(folder / "ano.csv", SetTraces.of_traces(original))
blob = store().put_file(folder / "org.csv")
tokens = []
for number in range(1, told["teams"] + 1):
    person = Person.objects.create(username=f"p{number}")
    team = Team.objects.create(contest=contest, number=number, name=f"T{number}", created_at=now)
    Member.objects.create(team=team, contest=contest, person=person, since=now)
    StoredFile.objects.create(
        contest=contest, round=round, team=team, challenge="trace", kind="orgtraces",
        name=f"orgtraces_team{number:03d}_data02_TRP.csv", sha256=blob.sha256, size=blob.size,
        audience="team", visible_from=at[0], created_at=now)
    tokens.append(people.new_token(person, "t", 1, SYSTEM)[1])
print(json.dumps({"deadline": deadline.timestamp(), "tokens": tokens,
                  "file": (folder / "ano.csv").read_text()}))
"""

POST = """
import http.client, json, sys, threading, time
told = json.load(sys.stdin)
said, lock = [], threading.Lock()

def post(one):
    connection = http.client.HTTPConnection("127.0.0.1", one["port"], timeout=120)
    connection.connect()
    time.sleep(max(0.0, one["at"] - time.time()))
    began = time.time()
    path = f"/api/v1/contests/last/uploads/anotraces_team{one['team']:03d}_data02_TRP.csv"
    headers = {"Authorization": f"Bearer {one['token']}", "Idempotency-Key": one["key"],
               "Content-Type": "text/csv"}
    connection.request("PUT", path, told["file"].encode(), headers)
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    with lock:
        said.append({**one, "began": began, "status": answer.status, "body": body})

crew = [threading.Thread(target=post, args=(one,)) for one in told["posts"]]
for one in crew:
    one.start()
for one in crew:
    one.join()
json.dump(said, sys.stdout)
"""

COUNT = """
import json
from tracecup.server.models import *
from tracecup.server.services import log
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


def answers(told, ports) -> list[dict]:
    """Send all posts at their times, from several processes; all answers."""
    deadline = told["deadline"]
    posts = [
        {
            "team": k % TEAMS + 1,
            "token": told["tokens"][k % TEAMS],
            "key": f"post-{k}",
            "port": ports[k % len(ports)],
            # Nearly all in the last second; the last ones surely too late.
            "at": deadline - 1.0 + 1.1 * k / POSTS,
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
        json.dump({"file": told["file"], "posts": posts[k::PROCESSES]}, one.stdin)
        one.stdin.close()
    found = [answer for one in crew for answer in json.load(one.stdout)]
    for one in crew:
        one.stdout.close()
        assert one.wait(60) == 0
    return found


def ask(port, method, path, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    told = json.loads(answer.read())
    connection.close()
    return answer.status, told


def test_exactly_the_allowed_ones_are_accepted(servers):
    served, ports = servers
    # The first check starts the fork server; that is not what is tried here.
    told = json.dumps({"teams": TEAMS, "tries": TRIES, "seconds": LEAD_SECONDS})
    told = json.loads(served.python(SET_UP, TOLD=told))
    found = answers(told, ports)
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
        if one["began"] >= deadline:
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
    path = f"/api/v1/contests/last/uploads/anotraces_team{again['team']:03d}_data02_TRP.csv"
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
