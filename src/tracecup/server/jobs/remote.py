"""A worker on another machine: fetches a job and its files over HTTP, computes, brings it back.

It needs a worker token and nothing else: no database, no shared disk. Nor does it trust the server
more than it has to: names of files are hashes, no redirect is followed, what comes is measured.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import IO, Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, build_opener

from tracecup.client.connection import NoRedirect
from tracecup.contest.judging.commitment import SCORER
from tracecup.errors import InvalidParameter, UnreadableFile
from tracecup.safeio import MIB
from tracecup.server.jobs import sandbox
from tracecup.server.jobs.sandbox import SandboxFailed

IDLE_SECONDS = 2.0
TROUBLE_SECONDS = 5.0
REQUEST_SECONDS = 120
RENEWALS_PER_LEASE = 3
GONE = (401, 403, 409)
MAX_ANSWER = 64 * MIB
MAX_INPUT = 64 << 30
BLOCK = MIB
# A machine talking to itself needs no encryption.
LOCAL = ("localhost", "127.0.0.1", "::1")
_SHA256 = re.compile(r"[0-9a-f]{64}")


_open = build_opener(NoRedirect()).open


@dataclass(frozen=True)
class Leased:
    """A job as the server tells it, every part of the form that it has to have."""

    job: int
    fence: int
    function: str
    payload: dict[str, Any]
    inputs: dict[str, str]
    inputs_sha256: str
    lease_seconds: float
    memory_mib: int
    seconds: float

    @classmethod
    def of_dict(cls, held: Any) -> Leased:
        """From JSON; `UnreadableFile` for anything else, above all names of files that are none.

        >>> Leased.of_dict({"inputs": {"answer": "../../.ssh/authorized_keys"}})
        Traceback (most recent call last):
        tracecup.errors.UnreadableFile: the server's answer: is no job
        """
        try:
            made = cls(**{field.name: held[field.name] for field in fields(cls)})
            numbers = (made.job, made.fence, made.lease_seconds, made.memory_mib, made.seconds)
            digests = [*made.inputs.values(), made.inputs_sha256]
            right = (
                all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in numbers)
                and made.lease_seconds > 0
                and isinstance(made.function, str)
                and isinstance(made.payload, dict)
                and all(isinstance(d, str) and _SHA256.fullmatch(d) for d in digests)
            )
        except (KeyError, TypeError, AttributeError):
            right = False
        if not right:
            raise UnreadableFile("the server's answer", "is no job")
        return made


class RemoteWorker:
    """Works for the server at `url` with a worker token.

    Over plain http the token and all secrets of the contest can be read on the way; `insecure`
    allows it all the same. A server on this machine may always be plain.
    """

    def __init__(
        self, url: str, token: str, *, threads: int | None = None, insecure: bool = False
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise InvalidParameter(f"the server's address begins with http, got {url[:60]!r}")
        at = urlsplit(url)
        if at.scheme != "https" and at.hostname not in LOCAL and not insecure:
            raise InvalidParameter(
                f"the address {url[:60]!r} is not encrypted: the token and the contest's secrets "
                "could be read on the way. Give one with https, or --insecure"
            )
        self._base = f"{url.rstrip('/')}/api/v1/worker"
        self._token, self._threads = token, threads
        self._stop = Event()

    def run_forever(self, stop: Event) -> None:
        """Work until `stop` is set; a server that is away is asked again."""
        self._stop = stop
        while not stop.is_set():
            try:
                busy = self.run_one()
            except OSError as error:  # also what urllib and `UnreadableFile` are
                if isinstance(error, HTTPError) and error.code == 401:
                    raise InvalidParameter("the server does not know this worker token") from error
                stop.wait(TROUBLE_SECONDS)
                continue
            if not busy:
                stop.wait(IDLE_SECONDS)

    def run_one(self) -> bool:
        """Take and do one job; False if there is none."""
        told = self._json("POST", "/lease", {"scorer": SCORER})
        if told is None:
            return False
        job = Leased.of_dict(told)
        address = f"/jobs/{job.job}"
        with TemporaryDirectory(prefix="tracecup-") as name, self._heartbeat(job) as halt:
            try:
                finished = self._compute(job, address, Path(name), halt)
            except (SandboxFailed, UnreadableFile) as failed:
                if not halt.is_set():
                    self._tell(f"{address}/fail", {"fence": job.fence, "error": failed.reason})
                return True
            if not halt.is_set():
                self._tell(f"{address}/finish", finished)
        return True

    def _compute(self, job: Leased, address: str, work: Path, halt: Event) -> Any:
        out, kept = work / "out", work / "in"
        out.mkdir()
        kept.mkdir()
        where = f"{address}/files"
        files = {}
        for name, sha256 in job.inputs.items():
            files[name] = str(kept / sha256)
            if not (kept / sha256).exists():
                self._fetch(f"{where}/{sha256}?fence={job.fence}", kept / sha256, sha256)
        begun = time.perf_counter()
        answer = sandbox.run(
            job.function,
            {**job.payload, "files": files, "out": str(out)},
            memory_mib=job.memory_mib,
            seconds=job.seconds,
            threads=self._threads,
            stop=halt,
        )
        seconds = round(time.perf_counter() - begun, 3)
        told = work / "result.json"
        told.write_text(json.dumps(answer))
        place = f"{where}?fence={job.fence}"
        outputs = {path.name: self._send(place, path) for path in sorted(out.iterdir())}
        return {
            "fence": job.fence,
            "result": self._send(place, told),
            "outputs": outputs,
            "seconds": seconds,
            "inputs_sha256": job.inputs_sha256,
        }

    @contextmanager
    def _heartbeat(self, job: Leased) -> Iterator[Event]:
        """Renew the lease; the event is set when it is lost or all is to stop."""
        halt, done = Event(), Event()

        def beat() -> None:
            every = job.lease_seconds / RENEWALS_PER_LEASE
            due = time.monotonic() + every
            while not done.wait(0.2):
                if self._stop.is_set():
                    break
                if time.monotonic() < due:
                    continue
                due = time.monotonic() + every
                try:
                    self._json("POST", f"/jobs/{job.job}/renew", {"fence": job.fence})
                except HTTPError as error:
                    if error.code in GONE:
                        break
                except OSError:
                    continue  # the lease has more chances before it runs out
            if not done.is_set():
                halt.set()

        thread = Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield halt
        finally:
            done.set()
            thread.join()

    def _tell(self, address: str, told: dict[str, Any]) -> None:
        """Say how a job ended; a job that is somebody else's by now needs no answer."""
        try:
            self._json("POST", address, told)
        except HTTPError as error:
            if error.code != 409:
                raise

    def _json(self, method: str, address: str, body: dict[str, Any]) -> Any:
        request = self._request(method, address, json.dumps(body).encode())
        request.add_header("Content-Type", "application/json")
        with _open(request, timeout=REQUEST_SECONDS) as answer:
            return _read_json(answer) if answer.status == 200 else None

    def _fetch(self, address: str, path: Path, sha256: str) -> None:
        """A file of the job; its bytes are those of its name, or it is none."""
        digest, size = hashlib.sha256(), 0
        try:
            with (
                _open(self._request("GET", address), timeout=REQUEST_SECONDS) as answer,
                path.open("xb") as file,
            ):
                while (block := answer.read(BLOCK)) and size <= MAX_INPUT:
                    digest.update(block)
                    size += file.write(block)
        except HTTPError as error:
            raise UnreadableFile(sha256, f"could not be fetched ({error.code})") from error
        if digest.hexdigest() != sha256:
            raise UnreadableFile(sha256, "did not arrive as it was sent")

    def _send(self, address: str, path: Path) -> str:
        with path.open("rb") as file:
            request = self._request("PUT", address, file)
            request.add_header("Content-Length", str(path.stat().st_size))
            request.add_header("Content-Type", "application/octet-stream")
            with _open(request, timeout=REQUEST_SECONDS) as answer:
                return _stored_name(_read_json(answer))

    def _request(self, method: str, address: str, body: Any = None) -> Request:
        request = Request(f"{self._base}{address}", data=body, method=method)
        request.add_header("Authorization", f"Bearer {self._token}")
        return request


def _read_json(answer: IO[bytes]) -> Any:
    """An answer of the server; `UnreadableFile` if it is no JSON or has no end."""
    text = answer.read(MAX_ANSWER + 1)
    try:
        if len(text) > MAX_ANSWER:
            raise ValueError("too long")
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableFile("the server's answer", f"is no JSON ({error})") from error


def _stored_name(held: Any) -> str:
    sha256 = held.get("sha256") if isinstance(held, dict) else None
    if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):
        raise UnreadableFile("the server's answer", "names no file")
    return sha256
