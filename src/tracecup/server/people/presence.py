"""Keeps the list of sessions: who is logged in where, and when she was last here.

One small question to the database for requests of logged-in people, a write every few minutes.
"""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from tracecup.server.people.visits import seen


class Presence:
    """Notes that a logged-in person is here."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._next = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Note it, and answer."""
        if request.session.session_key and request.user.is_authenticated:
            seen(request)
        return self._next(request)
