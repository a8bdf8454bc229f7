"""Workers on other machines: who they are, what they may fetch, what they bring back.

A worker token opens jobs that compute, and the files of the job that it holds, nothing else.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from tracecup.contest.judging.commitment import SCORER
from tracecup.server import auditlog as log
from tracecup.server import clock
from tracecup.server.access import Actor
from tracecup.server.errors import Refused, not_found
from tracecup.server.jobs import queue
from tracecup.server.jobs.kinds import computations, kind_of
from tracecup.server.jobs.queue import LostLease, NotNow
from tracecup.server.jobs.task import Task
from tracecup.server.models import Job, WorkerToken
from tracecup.server.storage import Blob, Damaged, store

PREFIX = "tcw_"
LONGEST_NAME = 60
# Names become paths when an archive is laid out, and names in archives that teams unpack.
_OUTPUT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,109}")


def new_worker_token(name: str, actor: Actor) -> str:
    """A token for a worker of that name; the secret is shown this once."""
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise Refused(
            "invalid",
            _("A worker's name has 1 to {most} characters.").format(most=LONGEST_NAME),
        )
    secret = PREFIX + secrets.token_urlsafe(32)
    with transaction.atomic():
        if WorkerToken.objects.filter(name=name).exists():
            raise Refused("conflict", _("There is a worker of that name already."))
        WorkerToken.objects.create(name=name, token_hash=_hash(secret), created_at=clock.now())
        log.record(actor, "worker.token", subject=f"worker:{name}")
    return secret


def revoke_worker_token(name: str, actor: Actor) -> None:
    """Let a token be good for nothing."""
    with transaction.atomic():
        changed = WorkerToken.objects.filter(name=name, revoked_at=None).update(
            revoked_at=clock.now()
        )
        if not changed:
            raise not_found("worker")
        log.record(actor, "worker.revoked", subject=f"worker:{name}")


def worker_of_token(secret: str) -> WorkerToken | None:
    """Whose token it is; None for an unknown or revoked one."""
    found = live_worker(secret)
    if found is not None:
        WorkerToken.objects.filter(pk=found.pk).update(last_used_at=clock.now())
    return found


def live_worker(secret: str) -> WorkerToken | None:
    """The worker's token with this secret, if it works."""
    if not secret.startswith(PREFIX):
        return None
    return WorkerToken.objects.filter(token_hash=_hash(secret), revoked_at=None).first()


def lease(worker: WorkerToken, scorer: str) -> tuple[Job, Task] | None:
    """A job for a worker elsewhere, with its task; None if there is none."""
    if scorer != SCORER:
        raise Refused(
            "conflict",
            _("This server computes with {scorer}; install the same version.").format(
                scorer=SCORER
            ),
        )
    while True:
        job = queue.lease(f"{worker.name} (remote)", computations())
        if job is None:
            return None
        prepare = kind_of(job.kind).prepare
        assert prepare is not None
        try:
            task: Task | None = prepare(job)
            if task is None:
                queue.finish_idle(job, prepare)
                continue
        except NotNow as later:
            queue.put_back(job, later.reason, later.seconds)
            continue
        except LookupError as error:
            queue.fail(job, type(error).__name__)
            continue
        # What its worker may fetch, and what it has to have computed with; the row is the
        # worker's alone while it holds the fence.
        job.result = {
            "inputs": sorted({*task.inputs.values()}),
            "inputs_sha256": task.inputs_sha256,
        }
        Job.objects.filter(pk=job.pk, fence=job.fence).update(result=job.result)
        return job, task


def held(worker: WorkerToken, number: int, fence: int) -> Job:
    """A job that this worker holds, with the fence it was given."""
    job: Job | None = Job.objects.filter(
        pk=number, fence=fence, state="running", worker=f"{worker.name} (remote)"
    ).first()
    if job is None:
        raise _lost()
    return job


def input_of(job: Job, sha256: str) -> Blob:
    """A file that a job needs; others do not exist for its worker.

    One that has rotted ends the attempt: nobody else gets better bytes.
    """
    if sha256 not in job.result.get("inputs", []):
        raise not_found("file")
    try:
        return Blob(sha256, store().checked(sha256).stat().st_size)
    except Damaged as error:
        fail(job, error.message)
        raise


def finish(
    job: Job, result: str, outputs: dict[str, str], seconds: float, inputs_sha256: str
) -> None:
    """Write what a worker elsewhere computed.

    Its files, and `result` (the SHA-256 of a file of JSON), have been stored before.
    """
    if inputs_sha256 != job.result.get("inputs_sha256"):
        raise Refused("invalid", _("This was computed from something else."))
    if not all(_OUTPUT.fullmatch(name) for name in outputs):
        raise _no_result()
    blobs = {}
    for name, sha256 in {**outputs, "": result}.items():
        if not store().has(sha256):
            raise Refused("invalid", _("A file of the result was not sent."))
        blobs[name] = Blob(sha256, store().checked(sha256).stat().st_size)
    answer = _answer(blobs.pop(""))
    told = {**answer, "seconds": seconds, "inputs_sha256": inputs_sha256}
    apply = kind_of(job.kind).apply
    assert apply is not None
    kept = {"seconds": seconds, "inputs_sha256": inputs_sha256}
    try:
        queue.finish(job, kept, lambda row: apply(row, told, blobs), seconds)
    except LostLease as error:
        raise _lost() from error
    except (KeyError, TypeError, ValueError) as error:
        raise _no_result() from error


def fail(job: Job, reason: str) -> None:
    """Note that a worker elsewhere could not do it."""
    try:
        queue.fail(job, reason)
    except LostLease as error:
        raise _lost() from error


def _lost() -> Refused:
    return Refused("conflict", _("This job is somebody else's by now."))


def _no_result() -> Refused:
    return Refused("invalid", _("This is not what such a job results in."))


def _answer(blob: Blob) -> dict[str, Any]:
    """The answer of a computation: an object of JSON, in which every number is one."""
    wrong = _no_result()
    try:
        read = json.loads(store().path(blob.sha256).read_bytes(), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise wrong from error
    if not isinstance(read, dict):
        raise wrong
    return read


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
