"""Where a request is: contest, round, role, time. Every page of a contest starts here.

What is not visible for the visitor is not found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest

from tracecup.server import clock, windows
from tracecup.server.access import Actor, Role, role_in
from tracecup.server.errors import not_found
from tracecup.server.models import Contest, Round, Team

LONGEST_NUMBER = 9


def site(request: HttpRequest) -> dict[str, Any]:
    """Facts of the site for every page: none so far; a page says itself what it shows."""
    return {}


@dataclass(frozen=True)
class Place:
    """A contest, a round of it, and who looks at it when."""

    role: Role
    round: Round | None
    now: datetime

    @property
    def contest(self) -> Contest:
        return self.role.contest

    @property
    def actor(self) -> Actor:
        """Who acts on this page."""
        return Actor(self.role.person, "page")

    def require_round(self) -> Round:
        """The round; a contest without rounds has none to show."""
        if self.round is None:
            raise not_found("round")
        return self.round

    def require_team(self) -> Team:
        """The visitor's team."""
        return self.role.require_team()

    def context(self, **more: Any) -> dict[str, Any]:
        """What templates of contest pages need: role, contest, round, rounds, now."""
        return {
            "role": self.role,
            "contest": self.contest,
            "team": self.role.team,
            "round": self.round,
            "rounds": list(self.contest.rounds.all()),
            "now": self.now,
            **more,
        }


def person_of(request: HttpRequest) -> Any:
    """The person who is logged in, or None."""
    user = getattr(request, "user", None)
    return user if user is not None and user.is_authenticated else None


def place(request: HttpRequest, slug: str) -> Place:
    """The place of a request; `?round=NAME` chooses a round, else the current one."""
    role = role_in(slug, person_of(request))
    now = clock.contest_now(role.contest)
    return Place(role, round_named(role.contest, request.GET.get("round", ""), now), now)


def round_named(contest: Contest, name: str, now: datetime) -> Round | None:
    """The round of a name; without one the round that people mean now."""
    if not name:
        return windows.current_round(contest, now)
    found = contest.rounds.filter(name=name).first()
    if found is None:
        raise not_found("round")
    return found


def number_in(said: Mapping[str, Any], name: str) -> int | None:
    """A whole number that somebody typed into a field or an address; None for anything else."""
    text = str(said.get(name, ""))
    return int(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER else None
