"""Many at once: tries are never exceeded and keys never doubled, whatever the threads do."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter

import pytest
from django.db import close_old_connections, connection, connections

from tracecup.server import auditlog as log
from tracecup.server.errors import Refused
from tracecup.server.models import LogEntry, Submission
from tracecup.server.submissions import quotas

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def file_database(desk, tmp_path):
    """The test's database as a file with SQLite's real locks; in memory there are other ones."""
    if connection.vendor != "sqlite":
        yield
        return
    path = tmp_path / "race.sqlite3"
    with sqlite3.connect(path) as target:
        connection.connection.backup(target)
    target.close()
    kept, name = connections["default"], connection.settings_dict["NAME"]
    del connections["default"]
    kept.settings_dict["NAME"] = str(path)
    yield
    connections["default"].close()
    kept.settings_dict["NAME"] = name
    connections["default"] = kept


def together(jobs) -> list[str]:
    """Run all at the same time; what became of each: a state or a code."""
    gate, told = threading.Barrier(len(jobs)), []

    def run(job):
        gate.wait(600)
        try:
            receipt = job()
            told.append("repeated" if receipt.repeated else receipt.submission.state)
        except Refused as refused:
            told.append(refused.code)
        finally:
            close_old_connections()
            connections["default"].close()

    crew = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for one in crew:
        one.start()
    for one in crew:
        one.join(600)
    return told


def test_tries_are_never_exceeded(desk, team, file_database):
    files = [desk.release(team, moved) for moved in range(6)]
    said = together(
        [
            lambda path=path, k=k: desk.hand_in(team, path, key=f"r-{k}")
            for k, path in enumerate(files)
        ]
    )
    assert Counter(said) == {"scored": 3, "quota": 3}
    assert quotas.quota(desk.round, team, "release", "trace").left == 0
    assert sorted(Submission.objects.values_list("attempt", flat=True)) == [1, 2, 3]
    assert Submission.objects.filter(chosen=True).count() == 1


def test_one_key_is_one_submission(desk, team, file_database):
    path = desk.release(team)
    said = together([lambda: desk.hand_in(team, path, key="same") for _ in range(6)])
    assert Counter(said) == {"scored": 1, "repeated": 5}


def test_one_key_for_different_files_is_a_conflict_for_all_but_one(desk, team, file_database):
    files = [desk.release(team, moved) for moved in range(4)]
    said = together([lambda path=path: desk.hand_in(team, path, key="same") for path in files])
    assert Counter(said) == {"scored": 1, "conflict": 3}


def test_the_log_has_no_gap(desk, team, file_database):
    files = [desk.release(team, moved) for moved in range(3)]
    together([lambda path=path: desk.hand_in(team, path) for path in files])
    assert LogEntry.objects.count() == 3
    assert list(log.check_chain()) == []
