"""Plays a small contest on a real database; `disturbed` kills workers (-9) at every state of a job.

Prints everything that must be the same whatever was killed.
"""

from __future__ import annotations

import io
import json
import multiprocessing.forkserver
import os
import signal
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

POINTS = ("leased", "prepared", "computing", "computed", "applying", "done")
ACT_POINTS = ("leased", "applying", "done")
TEAMS, USERS = 4, 24
START = datetime(2030, 4, 1, tzinfo=UTC)
"""The same in every run: the rules, with the instants in them, are part of what is hashed."""


def main(folder: Path, clock_file: Path, disturbed: bool) -> None:
    from tracecup.server.start import set_up

    set_up(folder)
    stage = Stage(clock_file, disturbed)
    stage.begin()
    stage.go(0.5, ("data", "announce"))
    stage.hand_in()
    stage.go(2, ("judge", "shuffle", "sample"))
    stage.go(3, ("publish",))
    stage.attack()
    stage.go(3, ("score",))
    stage.go(4, ("close", "results", "archive"))
    print(json.dumps(stage.told(), sort_keys=True))


class Stage:
    def __init__(self, clock_file: Path, disturbed: bool) -> None:
        self.clock_file, self.disturbed = clock_file, disturbed
        self.moved, self.kills = 0.0, {}
        self.base = (START - datetime.now(UTC)).total_seconds()

    def begin(self) -> None:
        """In hours: announcement at 0, releases until 1.5, attacks 2.5 to 3.5."""
        from tracecup.server.judging.service import ensure_data
        from tracecup.server.models import Contest, Round, Team

        now = START
        self.clock(0)
        hours = {"announce": 0, "anonymize": 0.25, "judge": 1.5, "attack": 2.5, "results": 3.5}
        rules = f"users = {USERS}\n[clock]\ndays = 2\nslots = 4\n[[rounds]]\nname = 'final'\n"
        rules += "[rounds.phases]\n" + "".join(
            f"{name} = {(now + timedelta(hours=at)).isoformat()}\n" for name, at in hours.items()
        )
        self.contest = Contest.objects.create(
            slug="c", name="C", rules_text=rules, seed="0" * 31 + "7", created_at=now
        )
        self.round = Round.objects.create(contest=self.contest, name="final", position=0)
        self.teams = {
            k: Team.objects.create(contest=self.contest, number=k, name=f"T{k}", created_at=now)
            for k in range(1, TEAMS + 1)
        }
        ensure_data(self.contest)

    def go(self, hours: float, kinds: tuple[str, ...]) -> None:
        """Set the clock and work; if disturbed, first with every kind of kill there is."""
        from tracecup.server.jobs.kinds import acts

        self.clock(hours * 3600)
        if self.disturbed:
            for kind in kinds:
                for point in ACT_POINTS if kind in acts() else POINTS:
                    self.kill(kind, point)
                self.work([kind])
        self.work()

    def clock(self, seconds: float) -> None:
        from tracecup.server import clock

        self.moved = max(seconds, self.moved)
        part = self.clock_file.with_suffix(".new")
        part.write_text(str(self.base + self.moved))
        part.replace(self.clock_file)
        assert clock.now() > START + timedelta(seconds=self.moved - 5)

    def kill(self, kind: str, point: str) -> None:
        """Fork a worker that dies at a point of the next job of a kind; then let leases run out."""
        from django.db import connections

        connections.close_all()
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            _doomed(kind, point)
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        self.kills[f"{kind} {point}"] = killed
        self.clock(self.moved + 10)

    def work(self, kinds: list[str] | None = None) -> None:
        """Work until nothing (of some kinds) is left."""
        from tracecup.server.jobs import schedule
        from tracecup.server.jobs.worker import Worker
        from tracecup.server.models import Job

        worker, left = Worker("calm", kinds=kinds), Job.objects.exclude(state__in=("done", "dead"))
        left = left.filter(kind__in=kinds) if kinds else left
        for _ in range(1000):
            schedule.due()
            if not worker.run_one():
                if not left.exists():
                    return
                self.clock(self.moved + 5)
        raise AssertionError("there is no end")

    def hand_in(self) -> None:
        from tracecup.contest.entries import Entry
        from tracecup.server.models import StoredFile
        from tracecup.server.storage import store
        from tracecup.traces import SetTraces
        from tracecup.traces.files import read_traces, write_obfuscated

        for number, deleted in ((1, 0), (2, 6), (3, 12)):
            name = Entry(number).file("orgtraces")
            path = store().path(StoredFile.objects.get(round=self.round, name=name).sha256)
            times = self.contest.rules.clock_of("final").original
            original = read_traces(path, clock=times, users=USERS)
            cells = [[[int(region)] for region in row] for row in original.regions]
            cells[:deleted] = [[[] for _ in row] for row in cells[:deleted]]
            with tempfile.TemporaryDirectory() as folder:
                made = Path(folder) / "release.csv"
                write_obfuscated(made, SetTraces.of_cells(cells, original.clock))
                self.receive(number, made.read_bytes(), "release", None)

    def attack(self) -> None:
        times = self.contest.rules.clock_of("final").original.times
        for number in self.teams:
            for target in (0, 1, 2):
                if target != number:
                    users = [(k * 5 + number) % USERS + 1 for k in range(USERS)]
                    table = "user_id\n" + "".join(f"{user}\n" for user in users)
                    self.receive(number, table.encode(), "reid", target)
                    guess = f"{number * 100 + target}\n" * (USERS * times)
                    self.receive(number, f"reg_id\n{guess}".encode(), "trace", target)

    def receive(self, number: int, content: bytes, kind: str, target: int | None) -> None:
        from tracecup.server import clock
        from tracecup.server.access import SYSTEM
        from tracecup.server.submissions.service import receive

        self.round.refresh_from_db()
        receive(
            self.round,
            self.teams[number],
            kind=kind,
            challenge="reid" if target == 0 else "trace",
            target=target,
            source=io.BytesIO(content),
            file_name="file.csv",
            key=f"{number}-{kind}-{target}",
            received_at=clock.contest_now(self.contest),
            actor=SYSTEM,
            confirm_invalid=True,
        )

    def told(self) -> dict:
        """All that counts in the end."""
        sys.path.insert(0, str(Path(__file__).parents[2] / "support"))
        from archived import archive_folder
        from tracecup.contest.archive.verify import verify
        from tracecup.server import auditlog as log
        from tracecup.server.jobs.queue import dead_jobs
        from tracecup.server.models import Job, LogEntry, Release, StoredFile, Submission
        from tracecup.server.resultsets import (
            published,
        )
        from tracecup.server.submissions.quotas import quota

        found = published(self.round)
        with tempfile.TemporaryDirectory() as folder:
            differences = verify(archive_folder(self.round, Path(folder) / "a"))
        acts = LogEntry.objects.filter(actor="system").values_list("action", flat=True)
        return {
            "kills": self.kills,
            "same": {
                "tables": found.tables,
                "summary": found.summary,
                "files": {name: held[0] for name, held in found.files.items()},
                "sets": self.round.result_sets.count(),
                "scores": list(
                    Submission.objects.order_by("idempotency_key").values_list(
                        "idempotency_key", "state", "charged", "score", "inputs_sha256"
                    )
                ),
                "releases": [
                    (one.label, one.valid, one.utility, one.commitment, one.reason)
                    for one in Release.objects.order_by("label")
                ],
                "used": {
                    k: quota(self.round, team, "reid", "trace", 2).used
                    for k, team in self.teams.items()
                },
                "names": dict(
                    StoredFile.objects.exclude(kind="report").values_list("name", "sha256")
                ),
                # Doomed workers compute in their own process, where nobody asks for a report.
                "jobs": sorted(Job.objects.exclude(kind="report").values_list("kind", "state")),
                "acts": sorted(act for act in acts if act.startswith(("round.", "results."))),
            },
            "differences": differences,
            "dead": list(dead_jobs().values_list("key", "error")),
            "chain": list(log.check_chain()),
        }


def _doomed(kind: str, point: str) -> None:
    """A worker whose next job of a kind ends in kill -9 at a point."""
    from django.conf import settings

    from tracecup.server.jobs import kinds, queue, sandbox, schedule, worker
    from tracecup.server.models import Job

    # Forked: the fork server of the parent is not ours.
    multiprocessing.forkserver._forkserver.__init__()
    settings.TRACECUP_INLINE = point != "computing"
    Job.objects.update(max_attempts=99)

    def die(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)

    def before(function):
        return lambda *args, **more: die()

    def after(function):
        def called(*args, **more):
            function(*args, **more)
            die()

        return called

    module = kinds.kind_of(kind) if kind in kinds.computations() else None
    if point == "leased":
        worker.Worker._work = before(None)
    elif point == "prepared":
        module.prepare = after(module.prepare)
    elif point == "computing":
        sandbox._answer = before(None)
    elif point == "computed":
        worker.finish = before(None)
    elif point == "applying" and module is not None:
        module.apply = after(module.apply)
    elif point == "applying":
        worker.act = after(worker.act)
    elif point == "done":
        queue.finish = after(queue.finish)
    doomed = worker.Worker("doomed", kinds=[kind])
    for _ in range(100):
        schedule.due()
        doomed.run_one()
        time.sleep(0.02)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "disturbed")
