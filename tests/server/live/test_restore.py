"""Backup, destroy, restore on the other database: boards and matrix are equal to the byte."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

PLAY = """
import time
from tracecup.server.access import Actor
from tracecup.server.jobs.worker import drain
from tracecup.server.models import Contest, Job, Person
from tracecup.server.organising.contests import create_contest
from tracecup.server.organising.rehearsal import rehearse
olga = Person.objects.create_user("olga", "olga@example.org", "correct horse battery")
olga.is_staff = True
olga.save()
actor = Actor(olga, "system")
contest = create_contest(actor, name="Autumn", slug="autumn", is_public=True)
made = rehearse(contest, actor, teams=3, users=20)
job = Job.objects.get(kind="rehearse")
for _ in range(200):
    drain()
    job.refresh_from_db()
    if job.state not in ("waiting", "running"):
        break
    time.sleep(0.3)  # the job waits until the contest it plays goes on
assert job.state == "done", (job.state, job.error)
assert made.rounds.get().released_at is not None
print(made.slug)
"""
LOOK = """
import re
from django.test import Client
from tracecup.server.models import Person
from tracecup.server.auditlog import check_chain
client = Client()
client.force_login(Person.objects.get(username="olga"))
slug = {slug!r}
paths = [f"/api/v1/contests/{{slug}}/results"]
paths += [f"/c/{{slug}}/results/{{name}}.csv" for name in ("cells", "releases", "awards", "sums")]
for path in paths:
    answer = client.get(path, headers={{"host": "localhost"}})
    assert answer.status_code == 200, (path, answer.status_code)
    body = b"".join(answer) if answer.streaming else answer.content
    # The page tells when it was asked for; nothing else in it may differ.
    print(path, re.sub('"now": "[^"]+"', '"now": ""', body.decode(), count=1))
assert list(check_chain()) == []
"""


def tracecup(served, *arguments: str) -> None:
    served.printed([sys.executable, "-m", "tracecup", *arguments])


def destroy(served) -> None:
    shutil.rmtree(served.folder)


@pytest.fixture
def played(new_server):
    """A finished contest on SQLite: the server and the contest's slug."""
    served = new_server()
    served.python("from tracecup.server.start import set_up\n" + _set_up(served.folder))
    return served, served.python(PLAY).strip().splitlines()[-1]


def test_there_and_back(played, new_server, postgres, tmp_path):
    first, slug = played
    look = LOOK.format(slug=slug)
    before = first.python(look)
    assert '"matrices"' in before
    tracecup(first, "backup", str(first.folder), "--out", str(tmp_path / "one.tar.zst"))
    destroy(first)
    other = new_server(postgres("restored"))
    tracecup(other, "restore", str(tmp_path / "one.tar.zst"), str(other.folder))
    assert other.python(look) == before
    tracecup(other, "backup", str(other.folder), "--out", str(tmp_path / "two.tar.zst"))
    back = new_server()
    tracecup(back, "restore", str(tmp_path / "two.tar.zst"), str(back.folder))
    assert back.python(look) == before


def _set_up(folder: Path) -> str:
    return f"from pathlib import Path\nset_up(Path({str(folder)!r}))\n"
