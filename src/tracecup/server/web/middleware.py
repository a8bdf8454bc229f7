"""What wraps every request: security headers, errors as pages or JSON, the visitor's zone.

Refusals of services become answers here, once, for pages and API alike.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.defaults import page_not_found

from tracecup.server import clockwatch
from tracecup.server.errors import Refused, not_found
from tracecup.server.storage import disk_full
from tracecup.server.web.charsets import odd_charset
from tracecup.server.web.incoming import is_disk_full

Answer = Callable[[HttpRequest], HttpResponse]
API_PREFIX = "/api/"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'"
)

log = logging.getLogger(__name__)


class Boundary:
    """Headers on every answer; a `Refused` as JSON for the API and as a page for people."""

    def __init__(self, get_response: Answer) -> None:
        self._next = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer, with headers."""
        clockwatch.follow()
        response = odd_charset(request) or self._next(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        response.headers.setdefault(
            "Permissions-Policy", "camera=(), geolocation=(), microphone=()"
        )
        if getattr(request, "user", None) is not None and request.user.is_authenticated:
            response.headers.setdefault("Cache-Control", "private, no-store")
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """What a view refused, and what a full disk refused it."""
        if is_disk_full(error):
            log.error("the disk is full", exc_info=error)
            return refusal(request, disk_full())
        return refusal(request, error) if isinstance(error, Refused) else None


class Visitor:
    """The visitor's time zone, from her account or a cookie that her browser sets."""

    def __init__(self, get_response: Answer) -> None:
        self._next = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer with times in her zone; an address with a NUL in it leads nowhere."""
        asked = request.path + request.META.get("QUERY_STRING", "").replace("%00", "\0")
        if "\0" in asked and not request.path.startswith(API_PREFIX):
            return refusal(request, not_found("page"))  # PostgreSQL would not even look for it
        name = getattr(request.user, "zone", "") or request.COOKIES.get("zone", "")
        try:
            timezone.activate(ZoneInfo(name[:60] or "UTC"))
        except (ZoneInfoNotFoundError, ValueError, OSError):
            timezone.deactivate()
        return self._next(request)


def no_address(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The answer where no address fits at all, such as one with a line break in it."""
    if request.path.startswith(API_PREFIX):
        return refusal(request, not_found("address"))
    return page_not_found(request, exception)


def refusal(request: HttpRequest, error: Refused) -> HttpResponse:
    """The answer to a refused request."""
    if request.path.startswith(API_PREFIX):
        return JsonResponse(error.as_dict(), status=error.status)
    if error.code == "not-signed-in":
        goal = f"{reverse('login')}?{urlencode({'next': request.get_full_path()})}"
        if "HX-Request" in request.headers:  # the whole page has to go there, not a part of it
            return HttpResponse(headers={"HX-Redirect": goal})
        return redirect(goal)
    return render(request, "web/refused.html", {"error": error}, status=error.status)
