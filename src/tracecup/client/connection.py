"""Talking to a contest server over HTTP with nothing but the standard library.

Failures of the network are tried again with growing pauses where that can do no harm; what the
server refuses comes back as `Refusal` with its code and its sentence.
"""

from __future__ import annotations

import http.client
import json
import random
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from typing import IO, Any
from urllib.parse import quote, urlencode

from tracecup import __version__
from tracecup.client.account import Account
from tracecup.errors import TraceCupError, UnreadableFile

AGENT = f"tracecup-client/{__version__}"
API = "/api/v1"
MAX_JSON_BYTES = 64 << 20
BUSY = (429, 502, 503, 504)
LONGEST_PAUSE = 60.0
BROKEN_OFF = (http.client.HTTPException, ConnectionError, TimeoutError, ssl.SSLError)
"""How a connection ends in the middle of an answer; other errors of the system are the disk's."""


class Refusal(TraceCupError):
    """What the server refused: a code for programs, a sentence for people, the bad places."""

    def __init__(self, status: int, error: Mapping[str, Any]) -> None:
        self.status = status
        self.code = str(error.get("code", ""))
        self.message = str(error.get("message", ""))
        self.problems = [dict(one) for one in error.get("problems", ()) if isinstance(one, dict)]
        self.details = dict(error.get("details") or {})
        super().__init__("\n".join([self.message, *(_told(one) for one in self.problems)]))


class Unreachable(UnreadableFile):
    """A server that could not be asked, or that is no contest server."""


@dataclass(frozen=True)
class Body:
    """A body to send: made anew for every try, since a file can be read only once."""

    content_type: str
    length: int
    blocks: Callable[[], Iterator[bytes]]


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """A token is for one server: it does not follow wherever an answer points."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> None:
        """Never."""


class Connection:
    """One server, as one person.

    `tries` bounds how often a request is made; `sleep` is replaced by tests.
    """

    def __init__(
        self,
        account: Account,
        *,
        tries: int = 6,
        timeout: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.account, self._tries, self._timeout, self._sleep = account, tries, timeout, sleep
        self._opener = urllib.request.build_opener(NoRedirect())
        # Pauses of many clients after the same failure should differ.
        self._random = random.Random()

    def get(self, path: str, **query: str | None) -> Any:
        """The JSON at an address of the API."""
        return self._json("GET", path, query=query, again=True)[1]

    def text(self, path: str) -> bytes:
        """What stands at an address of the API, as it is."""
        return self._whole("GET", path, again=True)[1]

    def post(
        self,
        path: str,
        payload: Mapping[str, Any] | None = None,
        *,
        method: str = "POST",
        again: bool = False,
    ) -> Any:
        """Do something; `again` says that doing it twice is doing it once."""
        held = json.dumps(payload or {}).encode()
        body = Body("application/json", len(held), lambda: iter([held]))
        return self._json(method, path, body=body, again=again)[1]

    def send(self, path: str, body: Body, headers: Mapping[str, str]) -> tuple[int, Any]:
        """Hand in a body under an idempotency key, which makes it safe to try again."""
        return self._json("POST", path, body=body, headers=headers, again=True)

    @contextmanager
    def open(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | None] | None = None,
        body: Body | None = None,
        headers: Mapping[str, str] | None = None,
        again: bool = False,
    ) -> Iterator[http.client.HTTPResponse]:
        """The answer to a request, to be read by the caller."""
        response = self._asked(method, path, query or {}, body, headers or {}, again)
        try:
            yield response
        finally:
            response.close()

    def pause(self, attempt: int, asked: float | None = None) -> None:
        """Wait before the next try: twice as long each time, as long as the server asks for."""
        wait = min(LONGEST_PAUSE, asked if asked is not None else 0.5 * 2**attempt)
        self._sleep(wait * (1 + self._random.random() / 4))

    def _json(self, method: str, path: str, **more: Any) -> tuple[int, Any]:
        status, read = self._whole(method, path, **more)
        if not read:
            return status, None
        try:
            return status, json.loads(read)
        except ValueError:
            said = "answered with something that is not JSON"
            raise Unreachable(self.account.url, said) from None

    def _whole(self, method: str, path: str, *, again: bool, **more: Any) -> tuple[int, bytes]:
        """Status and body; an answer that breaks off is asked for again where that is safe."""
        for attempt in range(self._tries):
            with self.open(method, path, again=again, **more) as response:
                try:
                    read = response.read(MAX_JSON_BYTES)
                    if not response.length:  # a short read is no error of http.client
                        return response.status, read
                    if len(read) == MAX_JSON_BYTES:
                        raise Unreachable(self.account.url, "answered with too much")
                    broken: Exception = http.client.IncompleteRead(read, response.length)
                except BROKEN_OFF as error:
                    broken = error
            if not again:
                break
            self.pause(attempt)
        raise Unreachable(self.account.url, f"broke off its answer: {broken}") from broken

    def _asked(
        self,
        method: str,
        path: str,
        query: Mapping[str, str | None],
        body: Body | None,
        headers: Mapping[str, str],
        again: bool,
    ) -> http.client.HTTPResponse:
        safe = again or method == "GET"
        for attempt in range(self._tries):
            last = attempt + 1 == self._tries or not safe
            request = self._request(method, path, query, body, headers)
            try:
                response: http.client.HTTPResponse
                response = self._opener.open(request, timeout=self._timeout)
                if _has_no_end(response):
                    raise http.client.IncompleteRead(b"")
                return response
            except urllib.error.HTTPError as error:
                refused = _refused(error, self.account.url)
                if last or error.code not in BUSY:
                    raise refused from None
                self.pause(attempt, _seconds(error.headers))
            except (OSError, http.client.HTTPException) as error:
                reason = error.reason if isinstance(error, urllib.error.URLError) else error
                if isinstance(reason, UnreadableFile):  # our own file, not the network
                    raise reason from None
                hopeless = isinstance(reason, ssl.SSLCertVerificationError)
                if last or hopeless:
                    raise Unreachable(self.account.url, f"cannot be asked: {reason}") from error
                self.pause(attempt)
        raise AssertionError("the last try returns or raises")

    def _request(
        self,
        method: str,
        path: str,
        query: Mapping[str, str | None],
        body: Body | None,
        headers: Mapping[str, str],
    ) -> urllib.request.Request:
        given = {name: value for name, value in query.items() if value is not None}
        url = f"{self.account.url}{API}{quote(path)}" + (f"?{urlencode(given)}" if given else "")
        request = urllib.request.Request(url, method=method)
        request.add_header("User-Agent", AGENT)
        request.add_header("Accept", "application/json, */*")
        if self.account.token:
            request.add_header("Authorization", f"Bearer {self.account.token}")
        for name, value in headers.items():
            request.add_header(name, value)
        if body is not None:
            request.data = body.blocks()  # setting it forgets the length
            request.add_header("Content-Type", body.content_type)
            request.add_header("Content-Length", str(body.length))
        return request


def _refused(error: urllib.error.HTTPError, url: str) -> TraceCupError:
    try:
        held = json.loads(error.read(MAX_JSON_BYTES))["error"]
        return Refusal(error.code, {**held})
    except (ValueError, LookupError, TypeError, OSError, http.client.HTTPException):
        where = error.headers.get("Location")
        said = f"sends to {where}" if where else f"answered {error.code}"
        return Unreachable(url, f"{said}; is this the address of a contest server?")
    finally:
        error.close()


def _has_no_end(response: http.client.HTTPResponse) -> bool:
    """Whether an answer broke off within its headers, which http.client takes for all of them."""
    headers = response.headers
    known = "Content-Length" in headers or "Transfer-Encoding" in headers
    return not known and response.status not in (204, 304)


def _seconds(headers: Message) -> float | None:
    asked = headers.get("Retry-After", "")
    return float(asked) if asked.isdigit() and asked.isascii() else None


def _told(problem: Mapping[str, Any]) -> str:
    place = f"line {problem['line']}" if problem.get("line") else "file"
    column = problem.get("column") or problem.get("field")
    found = f"found {problem['found']}, " if problem.get("found") else ""
    return f"{place}{f', {column}' if column else ''}: {found}expected {problem.get('expected')}"


def multipart(
    fields: Mapping[str, str], name: str, file_name: str, body: Body, boundary: str
) -> Body:
    """A form with fields and one file, block by block.

    >>> part = Body("text/csv", 2, lambda: iter([b"hi"]))
    >>> form = multipart({"kind": "reid"}, "file", "a.csv", part, "xyz")
    >>> form.length == sum(len(block) for block in form.blocks())
    True
    """
    head = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
        for key, value in fields.items()
    )
    safe = file_name.replace("\\", "_").replace('"', "_").replace("\r", "_").replace("\n", "_")
    head += (
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{safe}"\r\n'
        f"Content-Type: {body.content_type}\r\n\r\n"
    )
    before, after = head.encode(), f"\r\n--{boundary}--\r\n".encode()

    def blocks() -> Iterator[bytes]:
        yield before
        yield from body.blocks()
        yield after

    length = len(before) + body.length + len(after)
    return Body(f"multipart/form-data; boundary={boundary}", length, blocks)
