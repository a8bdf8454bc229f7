"""Who asks: an API token, or a browser's session with its CSRF token.

A router uses `signed_in` by default, `auth=anyone` where visitors are welcome; what it then asks
is `person_of(request)` and `actor_of(request)`.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from ninja.errors import AuthenticationError
from ninja.security import APIKeyCookie, HttpBearer
from ninja.security.base import AuthBase

from tracecup.server.access import Actor, Via
from tracecup.server.errors import Refused
from tracecup.server.models import Person
from tracecup.server.people.tokens import person_of_token

CLIENT_AGENT = "tracecup-client/"


class Token(HttpBearer):
    """`Authorization: Bearer tct_...`: the person whose token it is."""

    def __call__(self, request: HttpRequest) -> Person | None:
        """The person; a header that names nobody is an error, even where visitors are welcome."""
        if "Authorization" not in request.headers:
            return None
        person: Person | None = super().__call__(request)
        if person is None:
            raise AuthenticationError(message="This token is unknown, revoked or has expired.")
        request.user = person
        return person

    def authenticate(self, request: HttpRequest, token: str) -> Person | None:
        """Whose token it is."""
        return person_of_token(token)


class Session(APIKeyCookie):
    """The session of a browser; what changes something needs `X-CSRFToken` as well."""

    param_name = "sessionid"

    def __call__(self, request: HttpRequest) -> Person | None:
        """The person who is logged in."""
        return self.authenticate(request, None)

    def authenticate(self, request: HttpRequest, key: str | None) -> Person | None:
        """The person who is logged in; a visitor needs no CSRF token, she has nothing to lose."""
        if not request.user.is_authenticated:
            return None
        if not _has_csrf_token(request):
            raise Refused(
                "forbidden",
                "A request of a browser's session needs its CSRF token in the header X-CSRFToken; "
                "programs use an API token.",
            )
        return request.user


class Nobody(AuthBase):
    """Lets visitors in."""

    openapi_type = "none"

    def __init__(self) -> None:
        super().__init__()
        # Not a way to log in: the document shows it as "no security".
        del self.openapi_security_schema

    def __call__(self, request: HttpRequest) -> Any:
        """The anonymous user."""
        return request.user


signed_in = (Token(), Session())
anyone = (*signed_in, Nobody())


def person_of(request: HttpRequest) -> Person | None:
    """Who asks; None for a visitor."""
    return request.user if request.user.is_authenticated else None


def actor_of(request: HttpRequest) -> Actor:
    """Who acts, for services and the audit log."""
    agent = request.headers.get("User-Agent", "")
    via: Via = "client" if agent.startswith(CLIENT_AGENT) else "api"
    return Actor(person_of(request), via)


class _Check(CsrfViewMiddleware):
    """Django's check without its page for people."""

    def _reject(self, request: HttpRequest, reason: str) -> str:
        return reason


def _has_csrf_token(request: HttpRequest) -> bool:
    check = _Check(lambda request: HttpResponse())
    request.csrf_processing_done = False
    check.process_request(request)
    return check.process_view(request, None, (), {}) is None
