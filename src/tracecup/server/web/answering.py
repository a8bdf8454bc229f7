"""How the web server answers: requests with the instant of their arrival, refusals in our format.

What it refuses itself, before Django sees it, looks like everything else that is refused.
"""

from __future__ import annotations

import json
from typing import Any

from waitress.task import ErrorTask, WSGITask

from tracecup.safeio import MIB
from tracecup.server.errors import Refused
from tracecup.server.web.formfiles import FORM_FILE, FormSpool

ARRIVAL = "tracecup.received"
BODY = "tracecup.body"
API_PREFIX = "/api/"
_DISK = "The server's disk is full; nothing was stored and no try was charged."


class StampedTask(WSGITask):
    """A request for the application; `environ["tracecup.received"]` is its arrival.

    That is `time.monotonic()` of the moment when the last byte of the body had been read. A body
    that lies on disk is there as `environ["tracecup.body"]`, with its SHA-256.
    """

    def get_environment(self) -> dict[str, Any]:
        """The environment of the application."""
        environ: dict[str, Any] = super().get_environment()
        environ[ARRIVAL] = self.request.received_at
        body = self.request.body_rcv
        environ[BODY] = body.getbuf().landed() if body is not None else None
        if body is not None and isinstance(body.getbuf(), FormSpool):
            environ[FORM_FILE] = body.getbuf().form_file()
            environ["CONTENT_LENGTH"] = str(len(body.getbuf()))
        if self._is_head:
            environ.pop("wsgi.file_wrapper", None)
        return environ

    @property
    def _is_head(self) -> bool:
        return bool(self.request.command == "HEAD")

    def write(self, data: bytes) -> None:
        """Send a part of the answer; nothing but headers where only those were asked for."""
        super().write(b"" if self._is_head else data)

    def finish(self) -> None:
        """End the answer."""
        if not self._is_head:
            super().finish()
        elif not self.wrote_header:
            self.write(b"")


class RefusalTask(ErrorTask):
    """What is refused before the application sees it, as JSON for the API, as text for people."""

    def execute(self) -> None:
        """Answer and close."""
        error = self.request.error
        refused = refusal_of(error.code, error.body)
        if getattr(self.request, "path", "").startswith(API_PREFIX):
            kind, text = "application/json", json.dumps(refused.as_dict())
        else:
            kind, text = "text/plain; charset=utf-8", refused.message + "\n"
        body = text.encode()
        self.status = f"{error.code} {error.reason}"
        self.response_headers += [
            ("Content-Type", kind),
            ("X-Content-Type-Options", "nosniff"),
            ("Cache-Control", "no-store"),
        ]
        if error.code == 401:
            self.response_headers.append(("WWW-Authenticate", "Bearer"))
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


def refusal_of(status: int, said: str) -> Refused:
    """A refusal for a status of the web server; `said` is the limit where something is too large.

    >>> refusal_of(413, "1048576").message
    'The body of this request is larger than 1 MiB.'
    """
    if status == 413 and said.isdigit():
        most = int(said)
        return Refused(
            "too-large", f"The body of this request is larger than {most // MIB} MiB.", most=most
        )
    if status == 401:
        return Refused("not-signed-in", "This token or session is unknown, revoked or has expired.")
    if status == 429:
        said = "Too many files of your team are waiting; send the next when one is answered."
        return Refused("throttled", said)
    if status == 507:
        return Refused("storage", _DISK)
    if status >= 500:
        return Refused("internal", "Something went wrong on the server.")
    return Refused("invalid", "This request cannot be read.")
