"""Many workers at one queue, in processes of their own: every job is taken and done once."""

from __future__ import annotations

import json

WORKERS, JOBS = 4, 40

FILL = f"""
import os
from pathlib import Path
from tracecup.server.start import set_up
set_up(Path(os.environ["TRACECUP_SERVER_DIR"]))
from tracecup.server.jobs.queue import enqueue
for k in range({JOBS}):
    enqueue("mail", f"race:{{k}}", {{}})
"""
# Forked from one process that has everything loaded; each opens its own connection.
TAKE = f"""
import json, multiprocessing
from django.db import connections
from tracecup.server.jobs import queue
from tracecup.server.models import Person

def take(name, gate, said):
    gate.wait(600)
    done = []
    while (job := queue.lease(name)) is not None:
        queue.finish(job, {{}}, lambda row: Person.objects.create(username=row.key))
        done.append([job.key, job.attempts])
    said.send(done)

connections.close_all()
forked = multiprocessing.get_context("fork")
gate = forked.Barrier({WORKERS})
crew = []
for k in range({WORKERS}):
    here, there = forked.Pipe(duplex=False)
    one = forked.Process(target=take, args=(f"worker-{{k}}", gate, there))
    one.start()
    crew.append((one, here))
done = []
for one, here in crew:
    assert here.poll(600), f"{{one.name}} does not end"
    done += here.recv()
    one.join(600)
    assert one.exitcode == 0
print(json.dumps(done))
"""
COUNT = """
import json
from tracecup.server.models import Job, Person
print(json.dumps([Person.objects.count(), Job.objects.filter(state="done").count()]))
"""


def test_every_job_is_done_once(new_server, database_url):
    # Nobody dies here: a job is taken again only where two take it at once.
    served = new_server(database_url, TRACECUP_LEASE_SECONDS="600")
    served.python(FILL)
    done = [tuple(pair) for pair in json.loads(served.python(TAKE))]
    assert sorted(done) == sorted((f"race:{k}", 1) for k in range(JOBS))
    assert json.loads(served.python(COUNT)) == [JOBS, JOBS]
