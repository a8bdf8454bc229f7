"""Files in requests: forms and raw bodies, read from disk, with plain words when they are wrong.

Also says in the API's document what such requests look like.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParserError
from django.utils.translation import gettext as _

from tracecup.errors import Problem
from tracecup.server.errors import Refused
from tracecup.server.storage import disk_full, too_large
from tracecup.server.web.answering import BODY
from tracecup.server.web.answers import broken_text, is_text
from tracecup.server.web.incoming import Incoming, Source, is_disk_full, require_space

FORM_TYPE = "multipart/form-data"
NO_FILES = ("application/json", "application/x-www-form-urlencoded", FORM_TYPE)
TRUE, FALSE = ("true", "1", "on", "yes"), ("", "false", "0", "off", "no")
PLACE_FIELDS = {
    "kind": "release, reid or trace; without it the name of the file says what it is",
    "challenge": "reid or trace: the data set",
    "target": "number of the attacked team, 0 for the benchmark; none for a release",
    "round": "name of the round; without it the current one",
}
WORDS_FIELDS = {
    "round": "name of the round; without it the current one",
    "method": "a short description of the method",
    "consent": "true: method and file may be published",
    "confirm_invalid": "true: hand in a release below the floor",
}
KEY_HEADER = {
    "in": "header",
    "name": "Idempotency-Key",
    "required": True,
    "description": "Made by you, a new one for every file; sent again, the file is taken once.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 80, "pattern": "^[!-~]+$"},
}


def fields_and_file(request: HttpRequest) -> tuple[dict[str, str], UploadedFile]:
    """The fields of a form and its one file."""
    if request.content_type != FORM_TYPE:
        raise Refused("wrong-type", _("Send the file as a form (multipart/form-data)."))
    _require_size(request)
    with _refusing():
        fields, files = request.POST, request.FILES
    file = files.get("file")
    if file is None or len(files) != 1:
        expected = Problem(0, "file", str(len(files)), "one file").as_dict()
        raise Refused("invalid", _("The form needs one file in the field `file`."), [expected])
    told = {name: str(fields.get(name, "")) for name in fields}
    if not all(is_text(one) for pair in told.items() for one in pair):
        raise broken_text()
    return told, file


def body(request: HttpRequest) -> Source:
    """The body of a request that is a file; forms and JSON are not.

    Where our web server has it on disk already it is that file, else it is still to be read.
    """
    if request.content_type in NO_FILES:
        raise Refused(
            "wrong-type", _("The body has to be the file itself, for example as text/csv.")
        )
    _require_size(request)
    landed: Incoming | None = request.META.get(BODY)
    return landed or request


def flag(fields: Mapping[str, str], name: str) -> bool:
    """A field that is true or false."""
    said = fields.get(name, "").strip().lower()
    if said not in TRUE and said not in FALSE:
        wrong = Problem(0, name, said[:40], "true or false").as_dict()
        raise Refused("invalid", _("Some fields are missing or wrong."), [wrong])
    return said in TRUE


def form(fields: Mapping[str, str], *, key: bool = True) -> dict[str, Any]:
    """How the document shows a form with a file."""
    texts = {name: {"type": "string", "description": told} for name, told in fields.items()}
    shape = {
        "type": "object",
        "required": ["file"],
        "properties": {"file": {"type": "string", "format": "binary"}, **texts},
    }
    shown: dict[str, Any] = {
        "requestBody": {"required": True, "content": {FORM_TYPE: {"schema": shape}}}
    }
    return shown | ({"parameters": [KEY_HEADER]} if key else {})


def raw() -> dict[str, Any]:
    """How the document shows a body that is a file."""
    shape = {"schema": {"type": "string", "format": "binary"}}
    content = dict.fromkeys(("text/csv", "application/octet-stream"), shape)
    return {
        "requestBody": {"required": True, "content": content},
        "parameters": [KEY_HEADER],
    }


def _require_size(request: HttpRequest) -> None:
    """For web servers that do not limit bodies themselves."""
    said = request.META.get("CONTENT_LENGTH") or "0"
    size = int(said) if said.isascii() and said.isdigit() else 0
    if size > settings.CONFIG.upload_bytes:
        raise too_large(settings.CONFIG.upload_bytes)
    require_space(size)


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except MultiPartParserError as error:
        raise Refused("invalid", _("The body of this request cannot be read.")) from error
    except OSError as error:
        if not is_disk_full(error):
            raise
        raise disk_full() from error
