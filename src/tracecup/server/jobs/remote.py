"""A worker on another machine: fetches a job and its files over HTTP, computes, brings it back.

It needs a worker token and nothing else: no database, no shared disk.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from tracecup.contest.judging.commitment import SCORER
from tracecup.errors import InvalidParameter, UnreadableFile
from tracecup.server.jobs import sandbox
from tracecup.server.jobs.sandbox import SandboxFailed

IDLE_SECONDS = 2.0
TROUBLE_SECONDS = 5.0
REQUEST_SECONDS = 120
RENEWALS_PER_LEASE = 3
GONE = (401, 403, 409)


class RemoteWorker:
    """Works for the server at `url` with a worker token."""

    def __init__(self, url: str, token: str, *, threads: int | None = None) -> None:
        if not url.startswith(("http://", "https://")):
            raise InvalidParameter(f"the server's address begins with http, got {url[:60]!r}")
        self._base = f"{url.rstrip('/')}/api/v1/worker"
        self._token, self._threads = token, threads
        self._stop = Event()

    def run_forever(self, stop: Event) -> None:
        """Work until `stop` is set; a server that is away is asked again."""
        self._stop = stop
        while not stop.is_set():
            try:
                busy = self.run_one()
            except (HTTPError, URLError, OSError) as error:
                if isinstance(error, HTTPError) and error.code == 401:
                    raise InvalidParameter("the server does not know this worker token") from error
                stop.wait(TROUBLE_SECONDS)
                continue
            if not busy:
                stop.wait(IDLE_SECONDS)

    def run_one(self) -> bool:
        """Take and do one job; False if there is none."""
        job = self._json("POST", "/lease", {"scorer": SCORER})
        if job is None:
            return False
        address = f"/jobs/{job['job']}"
        with TemporaryDirectory(prefix="tracecup-") as name, self._heartbeat(job) as halt:
            try:
                finished = self._compute(job, address, Path(name), halt)
            except (SandboxFailed, UnreadableFile) as failed:
                if not halt.is_set():
                    told = {"fence": job["fence"], "error": failed.reason}
                    self._tell(f"{address}/fail", told)
                return True
            if not halt.is_set():
                self._tell(f"{address}/finish", finished)
        return True

    def _compute(self, job: dict[str, Any], address: str, work: Path, halt: Event) -> Any:
        out, kept = work / "out", work / "in"
        out.mkdir()
        kept.mkdir()
        where = f"{address}/files"
        files = {}
        for name, sha256 in job["inputs"].items():
            files[name] = str(kept / sha256)
            if not (kept / sha256).exists():
                self._fetch(f"{where}/{sha256}?fence={job['fence']}", kept / sha256, sha256)
        begun = time.perf_counter()
        answer = sandbox.run(
            job["function"],
            {**job["payload"], "files": files, "out": str(out)},
            memory_mib=job["memory_mib"],
            seconds=job["seconds"],
            threads=self._threads,
            stop=halt,
        )
        seconds = round(time.perf_counter() - begun, 3)
        told = work / "result.json"
        told.write_text(json.dumps(answer))
        place = f"{where}?fence={job['fence']}"
        outputs = {path.name: self._send(place, path) for path in sorted(out.iterdir())}
        return {
            "fence": job["fence"],
            "result": self._send(place, told),
            "outputs": outputs,
            "seconds": seconds,
            "inputs_sha256": job["inputs_sha256"],
        }

    @contextmanager
    def _heartbeat(self, job: dict[str, Any]) -> Iterator[Event]:
        """Renew the lease; the event is set when it is lost or all is to stop."""
        halt, done = Event(), Event()

        def beat() -> None:
            every = job["lease_seconds"] / RENEWALS_PER_LEASE
            due = time.monotonic() + every
            while not done.wait(0.2):
                if self._stop.is_set():
                    break
                if time.monotonic() < due:
                    continue
                due = time.monotonic() + every
                try:
                    self._json("POST", f"/jobs/{job['job']}/renew", {"fence": job["fence"]})
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
        with urlopen(request, timeout=REQUEST_SECONDS) as answer:
            return json.loads(answer.read()) if answer.status == 200 else None

    def _fetch(self, address: str, path: Path, sha256: str) -> None:
        with (
            urlopen(self._request("GET", address), timeout=REQUEST_SECONDS) as answer,
            path.open("wb") as file,
        ):
            shutil.copyfileobj(answer, file, 1 << 20)
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                raise UnreadableFile(path, "did not arrive as it was sent")

    def _send(self, address: str, path: Path) -> str:
        with path.open("rb") as file:
            request = self._request("PUT", address, file)
            request.add_header("Content-Length", str(path.stat().st_size))
            request.add_header("Content-Type", "application/octet-stream")
            with urlopen(request, timeout=REQUEST_SECONDS) as answer:
                sha256: str = json.loads(answer.read())["sha256"]
                return sha256

    def _request(self, method: str, address: str, body: Any = None) -> Request:
        request = Request(f"{self._base}{address}", data=body, method=method)
        request.add_header("Authorization", f"Bearer {self._token}")
        return request
