"""Everything that can go wrong in the API, in one format: `{"error": {code, message, ...}}`.

What nobody foresaw is logged and answered with the code `internal` and no details.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from functools import wraps
from typing import Any

from django.core.exceptions import (
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.http.request import RawPostDataException, UnreadablePostError
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, Throttled, ValidationError
from ninja.parser import Parser

from tracecup.errors import Problem
from tracecup.server.errors import Refused, not_found
from tracecup.server.storage import disk_full
from tracecup.server.web.incoming import is_disk_full

MAX_PROBLEMS = 10
log = logging.getLogger(__name__)


def answer(error: Refused) -> HttpResponse:
    """A refusal as JSON."""
    response = JsonResponse(error.as_dict(), status=error.status)
    if error.code == "not-signed-in":
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def refusal_of(error: Exception) -> Refused:  # noqa: PLR0911 - one line for each kind of error
    """What an error of Django or Ninja means to whom asked."""
    if isinstance(error, Refused):
        return error
    if isinstance(error.__cause__, Refused):  # Ninja wraps what a parser raises
        return error.__cause__
    if isinstance(error, ValidationError):
        return invalid(error)
    if isinstance(error, AuthenticationError):
        told = error.message if error.message != "Unauthorized" else _("Please log in first.")
        return Refused("not-signed-in", told)
    if isinstance(error, Throttled):
        return Refused("throttled", _("Too many requests; please wait a little."))
    if isinstance(error, Http404):
        return not_found("thing")
    if isinstance(error, RequestDataTooBig):
        return Refused("too-large", _("The body of this request is too large."))
    if isinstance(error, (HttpError, TooManyFieldsSent, TooManyFilesSent, MultiPartParserError)):
        return Refused("invalid", _("The body of this request cannot be read."))
    if isinstance(error, (SuspiciousOperation, RawPostDataException, UnreadablePostError)):
        return Refused("invalid", _("This request cannot be read."))
    if is_disk_full(error):
        return disk_full()
    return Refused("internal", _("Something went wrong on the server; the organisers can see it."))


def invalid(error: ValidationError) -> Refused:
    """Fields that are missing or wrong; what was sent is not repeated."""
    problems = [
        Problem(
            0,
            ".".join(str(part) for part in found["loc"][1:]) or str(found["loc"][0]),
            "",
            str(found["msg"]),
        ).as_dict()
        for found in error.errors[:MAX_PROBLEMS]
    ]
    return Refused("invalid", _("Some fields are missing or wrong."), problems)


def install(api: NinjaAPI) -> None:
    """Have every error of the API answered in the one format."""

    def handle(request: HttpRequest, error: Any) -> HttpResponse:
        refused = refusal_of(error)
        if refused.code == "internal":
            log.error("unexpected error in the API", exc_info=error, extra={"status": 500})
        return answer(refused)

    for kind in (Exception, Http404, HttpError, ValidationError):
        api.add_exception_handler(kind, handle)


def in_our_format(view: Any) -> Any:
    """A view of the API whose 405 has the one format, and whose path is proper text."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **parts: Any) -> HttpResponse:
        if not is_text(request.path):
            return answer(not_found("thing"))
        response = view(request, *args, **parts)
        if response.status_code != 405:
            return response
        refused = answer(Refused("wrong-method", _("This address does not support this method.")))
        refused.headers["Allow"] = ", ".join(sorted(response.headers["Allow"].split(", ")))
        return refused

    return wrapped


class StrictParser(Parser):
    """JSON that says it is JSON, without NaN, NUL and broken characters."""

    def parse_body(self, request: HttpRequest) -> Any:
        """The body of a request."""
        if request.content_type != "application/json":
            raise Refused(
                "wrong-type", _("The body has to be JSON, with Content-Type: application/json.")
            )
        read = json.loads(request.body, parse_constant=_no_constant)
        if not all(is_text(one) for one in _texts(read)):
            raise broken_text()
        return read

    def parse_querydict(
        self, data: MultiValueDict, list_fields: list[str], request: HttpRequest
    ) -> dict[str, Any]:
        """The fields of a query or a form."""
        if not all(is_text(one) for values in data.lists() for one in (values[0], *values[1])):
            raise broken_text()
        return super().parse_querydict(data, list_fields, request)


def is_text(value: str) -> bool:
    """Whether a text can be stored and shown: no NUL, no half of a surrogate pair."""
    return "\0" not in value and not any("\ud800" <= one <= "\udfff" for one in value)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            yield name
            yield from _texts(one)


def _no_constant(name: str) -> float:
    raise Refused("invalid", _("JSON knows no {name}.").format(name=name))


def broken_text() -> Refused:
    """The refusal for a text that `is_text` does not take."""
    return Refused("invalid", _("A text of this request holds a NUL or a broken character."))
