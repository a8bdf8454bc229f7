"""Every address of the site, asked by everybody; what comes back is kept.

Nothing of a request stays: each one runs in a transaction that is rolled back.
"""

from __future__ import annotations

import copy
import itertools
import json
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.test.client import MULTIPART_CONTENT
from django.urls import URLPattern, URLResolver, get_resolver
from roles_world import NOON, PHASES, World

from fixedclock import FixedClock
from tracecup.server import clock
from tracecup.server.logs import JsonLines

ROLES = ("nobody", "other", "own", "organiser", "elsewhere", "staff")
"""`own` is in team 1, whose things the addresses name; `other` in team 2; `elsewhere` organises
another contest; `staff` may create contests and see the site's health."""
API = "/api/v1"


@dataclass(frozen=True)
class Address:
    """One thing that can be asked: a method and a path with its parameters open."""

    method: str
    path: str
    body: dict[str, Any] | None = None

    @property
    def is_api(self) -> bool:
        return self.path.startswith(API)

    @property
    def roles(self) -> tuple[str, ...]:
        """Who asks: in a contest `staff` is as much a stranger as `elsewhere`, and costs time."""
        return ROLES[:-1] if "{slug}" in self.path else ROLES

    @property
    def phases(self) -> tuple[str, ...]:
        """When it is asked: what is not about a contest knows no phases and is asked once."""
        if "{slug}" in self.path and self.method == "GET":
            return PHASES
        if self.path == "/" or any(one in self.path for one in ("{slug}", "receipt", "contests")):
            return tuple(phase for phase in PHASES if phase not in ("hidden", "frozen"))
        return PHASES[2:3]


@dataclass(frozen=True)
class Heard:
    """What one request brought: everything that left the server because of it."""

    address: Address
    label: str
    filled: str
    role: str
    phase: str
    status: int
    head: str
    body: bytes
    logged: str

    @property
    def shown(self) -> str:
        """What the table of roles says: 302 to the log-in page is not any 302."""
        location = re.search(r"^Location: (.*)$", self.head, re.MULTILINE)
        if location is None:
            return str(self.status)
        return "login" if location[1].startswith("/login/") else str(self.status)


@dataclass(frozen=True)
class Secret:
    """Something that may be in no answer but those to `seen_by`; `needles` are how it may look."""

    name: str
    phase: str
    needles: tuple[bytes, ...]
    seen_by: tuple[str, ...] = ()


@dataclass
class Played:
    """Everything that was heard, and the secrets that must not be in it."""

    heard: list[Heard] = field(default_factory=list)
    secrets: list[Secret] = field(default_factory=list)


def addresses() -> list[Address]:
    """Every page (GET and POST) and every operation of the API, from the resolver itself."""
    found = []
    for one in get_resolver().url_patterns:
        if getattr(one, "namespace", None) == "api":
            found += _operations()
        else:
            found += [
                Address(method, path) for path in _pages(one, "/") for method in ("GET", "POST")
            ]
    return found


def _pages(one: URLPattern | URLResolver, prefix: str) -> list[str]:
    here = prefix + str(one.pattern).removeprefix("^").removesuffix("$").removesuffix("\\Z")
    if isinstance(one, URLResolver):
        return [path for inner in one.url_patterns for path in _pages(inner, here)]
    return [re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", here)]


def _operations() -> list[Address]:
    from tracecup.server.api import (
        document_text,
    )

    document = json.loads(document_text())
    found = [Address("GET", f"{API}/openapi.json"), Address("GET", f"{API}/")]
    for path, held in document["paths"].items():
        for method, operation in held.items():
            body = operation.get("requestBody", {}).get("content")
            found.append(Address(method.upper(), path, _body(body, document) if body else None))
    return found


def _body(content: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    kind, held = next(iter(content.items()))
    return {"kind": kind, "example": example(held.get("schema", {}), document)}


def example(schema: dict[str, Any], document: dict[str, Any]) -> Any:  # noqa: PLR0911 - one for each kind of schema
    """A plain value that a schema allows: required fields only, the first of each choice."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return example(document["components"]["schemas"][name], document)
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return example(schema[several][0], document)
    if "default" in schema and schema["default"] is not None:
        return schema["default"]
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    kind = schema.get("type")
    if kind == "object":
        required = schema.get("required", [])
        return {name: example(schema["properties"][name], document) for name in required}
    if kind == "array":
        return []
    if kind in ("integer", "number"):
        return schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1)
    if kind == "boolean":
        return False
    if schema.get("format") == "binary":
        return "FILE"
    if schema.get("format") in ("date-time", "duration"):
        return "PT1H" if schema["format"] == "duration" else "2030-04-04T12:00:00Z"
    return "x" * max(1, schema.get("minLength", 1))


class _Lines(logging.Handler):
    """Log lines as the server would write them, all at the same moment and done in no time.

    At 12:00:40.732 each would hold the score 0.732.
    """

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.setFormatter(JsonLines())
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        shown = copy.copy(record)
        shown.created = 0.0
        if hasattr(shown, "seconds"):
            shown.seconds = 0.0
        self.lines.append(self.format(shown))


def filled(world: World, path: str) -> list[tuple[str, str]]:
    """A path with its parameters in place, and how the table calls it.

    Where a parameter has several values the table tells them apart, those of chance by number.
    """
    names = re.findall(r"{(\w+)}", path)
    choices = [list(enumerate(world.values(path, name), start=1)) for name in names]
    made = []
    for values in itertools.product(*choices):
        label = one = path
        for name, (number, value), held in zip(names, values, choices, strict=True):
            one = one.replace(f"{{{name}}}", value)
            if len(held) > 1 or name == "ref":
                shown = f"ref{number}" if name == "ref" else value
                label = label.replace(f"{{{name}}}", f"{{{shown}}}")
        made.append((label, one))
    return made


_client = Client(raise_request_exception=False)  # one for all: it builds the middleware once


def ask(world: World, address: Address, label: str, where: str, role: str, phase: str) -> Heard:
    """Ask once; what the request changed is undone."""
    client = _client
    client.cookies.clear()
    if role in world.sessions:
        client.cookies[settings.SESSION_COOKIE_NAME] = world.sessions[role]
    lines = _Lines()
    logging.getLogger().addHandler(lines)
    try:
        with transaction.atomic():
            # From elsewhere: some pages are for programs on the server's own machine.
            sent = {"REMOTE_ADDR": "192.0.2.7", **_sent(world, address, where, role, phase)}
            response = client.generic(address.method, where, **sent)
            body = response.getvalue()
            transaction.set_rollback(True)
    finally:
        logging.getLogger().removeHandler(lines)
    head = "".join(f"{name}: {value}\n" for name, value in response.headers.items())
    head += response.cookies.output()
    status = response.status_code
    return Heard(address, label, where, role, phase, status, head, body, "\n".join(lines.lines))


def _sent(world: World, address: Address, where: str, role: str, phase: str) -> dict[str, Any]:
    """The body of a request: a plain one that fits, as far as the document tells."""
    if address.method in ("GET", "HEAD"):
        return {}
    late = phase in ("attack", "hidden", "results", "frozen")
    # Not the one that was handed in before: that gives its old receipt at any time.
    content = world.content("own", "new reid" if late or "etable" in where else "release")
    if address.body and address.body["kind"] == "application/json":
        text = json.dumps(address.body["example"])
        return {"data": text, "content_type": "application/json"}
    if address.method == "PUT":
        headers = {"Idempotency-Key": "matrix"}
        return {"data": content, "content_type": "text/csv", "headers": headers}
    fields: dict[str, Any] = {"kind": "release", "challenge": "trace", "key": "matrix"}
    if late:
        fields |= {"kind": "reid", "target": "2" if role == "own" else "1"}
    if address.body or not address.is_api:
        fields["file"] = SimpleUploadedFile("file.csv", content, "text/csv")
    encoded = _client._encode_data(fields, MULTIPART_CONTENT)
    return {"data": encoded, "content_type": MULTIPART_CONTENT}


def play(world: World, secrets: Callable[[World, str], list[Secret]]) -> Played:
    """Play the contest; in every phase everybody asks everything."""
    played, known = Played(), addresses()
    for phase in PHASES:
        clock.use(FixedClock(NOON[phase]))
        world.enter(phase)
        with transaction.atomic():
            world.pretend(phase)
            played.secrets += secrets(world, phase)
            for address in (one for one in known if phase in one.phases):
                for label, where in filled(world, address.path):
                    played.heard += [
                        ask(world, address, label, where, role, phase) for role in address.roles
                    ]
            transaction.set_rollback(True)
    return played
