"""Requests that say odd things about their encoding: refused in words, never an error of ours.

Django believes what `Content-Type` says, also about addresses, and Python knows encodings that are
none of texts (`base64`, `idna`).
"""

from __future__ import annotations

from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.http import parse_header_parameters
from django.utils.translation import gettext as _

from tracecup.server.errors import Refused
from tracecup.server.web.answering import API_PREFIX

TEXT_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data", "application/json")
UTF_8 = ("utf-8", "utf8", "us-ascii", "ascii")


class PlainRequest(WSGIRequest):
    """A request whose `Content-Type` may be anything: one that cannot be read is no type at all.

    Django reads it, and tries the encoding, where nobody catches errors yet. Here all is UTF-8.
    """

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        try:
            found = parse_header_parameters(meta.get("CONTENT_TYPE", ""))
        except (ValueError, LookupError):
            found = "", {}
        self.content_type, self.content_params = found


def odd_charset(request: HttpRequest) -> HttpResponse | None:
    """The answer to texts in another encoding than UTF-8; None where there are none.

    The bytes of a file are no text: they go through whatever is said of them.
    """
    said = (request.content_params or {}).get("charset", "utf-8")
    if said.lower().replace("_", "-") in UTF_8 or request.content_type not in TEXT_TYPES:
        return None
    refused = Refused("wrong-type", _("Texts have to be sent in UTF-8."))
    if request.path.startswith(API_PREFIX):
        return JsonResponse(refused.as_dict(), status=refused.status)
    return HttpResponse(refused.message, "text/plain; charset=utf-8", refused.status)
