"""Workers on other machines: take a job, fetch its files, bring back what was computed.

They show a worker token; it opens nothing but the jobs that its worker holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Annotated, Any

from django.conf import settings
from django.http import FileResponse, HttpRequest, HttpResponse
from ninja import Router, Schema, Status
from ninja.security import HttpBearer
from pydantic import Field

from tracecup.server.jobs import queue
from tracecup.server.judging import workers
from tracecup.server.models import WorkerToken
from tracecup.server.storage import BLOCK, store

router = Router()
MAX_OUTPUT = 1 << 36
MOST = (1 << 31) - 1

Number = Annotated[int, Field(ge=0, le=MOST)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class WorkerAuth(HttpBearer):
    """`Authorization: Bearer tcw_...`."""

    def authenticate(self, request: HttpRequest, token: str) -> WorkerToken | None:
        """The worker of the token."""
        return workers.worker_of_token(token)


class LeaseRequest(Schema):
    """What a worker computes with; scores come from one version only."""

    scorer: str = Field(max_length=40)


class LeasedJob(Schema):
    """A job to do: the function, its payload, its files by SHA-256, and what it may cost."""

    job: int
    fence: int
    kind: str
    function: str
    payload: dict[str, Any]
    inputs: dict[str, str]
    inputs_sha256: str
    lease_seconds: int
    memory_mib: int
    seconds: int


class Holding(Schema):
    """The fence number that the job was leased with."""

    fence: Number


class Stored(Schema):
    """A file that was stored."""

    sha256: str
    size: int


class Finished(Schema):
    """What a job came to: its answer (a file of JSON, by SHA-256), files by name, seconds."""

    fence: Number
    result: Digest
    outputs: dict[str, Digest] = Field(max_length=1000)
    seconds: float = Field(ge=0, le=1e9)
    inputs_sha256: Digest


class Failed(Schema):
    """Why a job could not be done."""

    fence: Number
    error: str = Field(max_length=1000)


class Done(Schema):
    """It is written."""

    ok: bool = True


@router.post("/worker/lease", auth=WorkerAuth(), response={200: LeasedJob, 204: None})
def lease(request: HttpRequest, asked: LeaseRequest) -> Any:
    """Take a job; 204 if there is none."""
    found = workers.lease(request.auth, asked.scorer)
    if found is None:
        return Status(204, None)
    job, task = found
    config = settings.CONFIG
    return LeasedJob(
        job=job.pk,
        fence=job.fence,
        kind=job.kind,
        function=task.function,
        payload=dict(task.payload),
        inputs=dict(task.inputs),
        inputs_sha256=task.inputs_sha256,
        lease_seconds=config.lease_seconds,
        memory_mib=config.job_memory_mib,
        seconds=config.job_seconds * task.patience,
    )


@router.post("/worker/jobs/{job}/renew", auth=WorkerAuth(), response=Done)
def renew(request: HttpRequest, job: Number, holding: Holding) -> Done:
    """Keep a job for another while."""
    held = workers.held(request.auth, job, holding.fence)
    return Done(ok=queue.renew(held))


@router.get("/worker/jobs/{job}/files/{sha256}", auth=WorkerAuth())
def fetch(request: HttpRequest, job: Number, sha256: Digest, fence: Number) -> HttpResponse:
    """A file that a job needs."""
    held = workers.held(request.auth, job, fence)
    blob = workers.input_of(held, sha256)
    return FileResponse(
        store().path(blob.sha256).open("rb"), content_type="application/octet-stream"
    )


@router.put("/worker/jobs/{job}/files", auth=WorkerAuth(), response=Stored)
def send(request: HttpRequest, job: Number, fence: Number) -> Stored:
    """Store a file that a job made; the body is the file."""
    workers.held(request.auth, job, fence)
    blob = store().put_blocks(_blocks(request), min(MAX_OUTPUT, settings.CONFIG.upload_bytes))
    return Stored(sha256=blob.sha256, size=blob.size)


@router.post("/worker/jobs/{job}/finish", auth=WorkerAuth(), response=Done)
def finish(request: HttpRequest, job: Number, told: Finished) -> Done:
    """Write what a job came to; nothing is written if the job is somebody else's by now."""
    held = workers.held(request.auth, job, told.fence)
    workers.finish(held, told.result, told.outputs, told.seconds, told.inputs_sha256)
    return Done()


@router.post("/worker/jobs/{job}/fail", auth=WorkerAuth(), response=Done)
def fail(request: HttpRequest, job: Number, told: Failed) -> Done:
    """Say that a job could not be done; it is tried again later."""
    held = workers.held(request.auth, job, told.fence)
    workers.fail(held, told.error)
    return Done()


def _blocks(source: IO[bytes]) -> Iterator[bytes]:
    while block := source.read(BLOCK):
        yield block
