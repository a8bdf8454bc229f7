"""Where a request of the API is: who asks, in which contest, about which round.

The twin of `web.context` for pages.
"""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest
from ninja import Query

from tracecup.server import clock, windows
from tracecup.server.access import Role, role_in
from tracecup.server.errors import not_found
from tracecup.server.models import Round
from tracecup.server.people.auth import person_of

RoundName = Annotated[str | None, Query(description="A round; without it the current one.")]


def at_round(request: HttpRequest, slug: str, name: str | None) -> tuple[Role, Round]:
    """Who asks, and about which round."""
    role = role_in(slug, person_of(request))
    return role, require_round(role, name)


def organiser_of(request: HttpRequest, slug: str) -> Role:
    """The role of an organiser; others are refused."""
    role = role_in(slug, person_of(request))
    role.require_organiser()
    return role


def require_round(role: Role, name: str | None) -> Round:
    """The round of a name, or the one that people mean now; a contest without rounds has none."""
    found = round_in(role, name)
    if found is None:
        raise not_found("round")
    return found


def round_in(role: Role, name: str | None) -> Round | None:
    """The round of a name, or the one that people mean now; None where there is none."""
    if name is None:
        return windows.current_round(role.contest, clock.contest_now(role.contest))
    found: Round | None = role.contest.rounds.filter(name=name).first()
    if found is None:
        raise not_found("round")
    return found
