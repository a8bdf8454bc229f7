"""Many workers at one queue, in processes of their own: every job is taken and done once."""

from __future__ import annotations

import json
import subprocess
import sys

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
TAKE = """
import django; django.setup()
import json, sys
from tracecup.server.jobs import queue
from tracecup.server.models import Person
print("ready", flush=True)
sys.stdin.readline()
done = []
while (job := queue.lease(sys.argv[1])) is not None:
    queue.finish(job, {}, lambda row: Person.objects.create(username=row.key))
    done.append([job.key, job.attempts])
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
    crew = [
        subprocess.Popen(
            [sys.executable, "-c", TAKE, f"worker-{k}"],
            env=served.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for k in range(WORKERS)
    ]
    for one in crew:
        assert one.stdout.readline() == "ready\n"
    for one in crew:
        one.stdin.write("go\n")
        one.stdin.flush()
    said = [one.communicate(timeout=600)[0] for one in crew]
    done = [tuple(pair) for text in said for pair in json.loads(text)]
    assert sorted(done) == sorted((f"race:{k}", 1) for k in range(JOBS))
    assert json.loads(served.python(COUNT)) == [JOBS, JOBS]
