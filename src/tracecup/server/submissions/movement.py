"""Pictures of a release for its own team: how far points moved, one user's trace.

Computed in a child process from the team's own files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _
from ninja import Schema

from tracecup.charts.figure import Figure
from tracecup.charts.tracemaps import trace_maps
from tracecup.facts.contest import CityFacts, Movement
from tracecup.server.jobs import sandbox
from tracecup.server.models import Round, Team
from tracecup.server.storage import store
from tracecup.server.submissions.checking import original_of

SECONDS = 60


class OneUser(Schema):
    """A user's trace: cells of 0-based regions at every event; `inferred` where somebody tried."""

    slots: list[str]
    original: list[list[int]]
    obfuscated: list[list[int]]
    inferred: list[list[int]] | None


def movement(round: Round, team: Team, challenge: str, path: Path) -> Movement | None:
    """How far the points of a readable release were moved; None where that cannot be told."""
    found = _run("moves.release", _payload(round, team, challenge, path))
    return None if found is None else Movement(**found)


def one_user(
    round: Round, team: Team, challenge: str, path: Path, user: int, inferred: Path | None
) -> OneUser | None:
    """The trace of a user (0-based position) before and after."""
    payload = _payload(round, team, challenge, path)
    payload |= {"user": user, "inferred": str(inferred) if inferred else None}
    found = _run("moves.one_user", payload)
    return None if found is None else OneUser(**found)


def user_chart(city: CityFacts, trace: OneUser, user: int) -> Figure:
    """The maps of a user's days (`user` is her id): before, after and, where tried, inferred."""
    kinds = [
        ("original", _("Original"), trace.original),
        ("obfuscated", _("Released"), trace.obfuscated),
    ]
    if trace.inferred is not None:
        kinds.append(("inferred", _("Best inferred"), trace.inferred))
    caption = _(
        "User {user}. A larger dot is a longer stay; the grey line repeats the original trace."
    ).format(user=user)
    return trace_maps(city, trace.slots, kinds, caption, _)


def _payload(round: Round, team: Team, challenge: str, path: Path) -> dict[str, Any]:
    blobs = store()
    return {
        "rules": round.contest.rules_text,
        "round": round.name,
        "city": str(blobs.checked(round.contest.city_sha256)),
        "original": str(blobs.checked(original_of(round, team, challenge).sha256)),
        "file": str(path),
    }


def _run(function: str, payload: dict[str, Any]) -> dict[str, Any] | None:
    try:
        return sandbox.run(function, payload, seconds=SECONDS)
    except sandbox.SandboxFailed:
        return None  # a picture less; the check has said what there is to say
