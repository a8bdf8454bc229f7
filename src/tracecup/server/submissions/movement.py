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
from tracecup.server.web.words import gap

SECONDS = 60


class OneUser(Schema):
    """A user's trace: cells of 0-based regions at every event.

    `obfuscated` where there is a release, `inferred` where somebody tried.
    """

    slots: list[str]
    original: list[list[int]]
    obfuscated: list[list[int]] | None
    inferred: list[list[int]] | None


def movement(round: Round, team: Team, challenge: str, path: Path) -> Movement | None:
    """How far the points of a readable release were moved; None where that cannot be told."""
    found = _run("moves.release", _payload(round, team, challenge, path))
    return None if found is None else Movement(**found)


def one_user(
    round: Round, team: Team, challenge: str, path: Path | None, user: int, inferred: Path | None
) -> OneUser | None:
    """The trace of a user (0-based position) before and, where there is a release, after."""
    payload = _payload(round, team, challenge, path)
    payload |= {"user": user, "inferred": str(inferred) if inferred else None}
    found = _run("moves.one_user", payload)
    return None if found is None else OneUser(**found)


def user_chart(city: CityFacts, trace: OneUser, user: int, *, before: bool = True) -> Figure:
    """The maps of a user's days (`user` is her id): before, after, inferred; what there is.

    Without `before` the original is left out, where there is something else to show.
    """
    forms = (
        ("original", _("Original"), trace.original),
        ("obfuscated", _("Released"), trace.obfuscated),
        ("inferred", _("Best inferred"), trace.inferred),
    )
    kinds = [(key, heading, cells) for key, heading, cells in forms if cells is not None]
    if not before:
        kinds = kinds[1:] or kinds
    caption = _("User {user}. A larger dot is a longer stay.")
    if len(kinds) > 1:
        caption = _(
            "User {user}. A larger dot is a longer stay; the grey line repeats the original trace."
        )
    said = [caption.format(user=user)]
    # Without this, a map of deleted events looks as if something had gone wrong.
    if deleted := sum(not cell for cell in trace.obfuscated or []):
        events = len(trace.original)
        text = _("Deleted in the release: {deleted} of {events} events.")
        said.append(text.format(deleted=deleted, events=events))
    if city.hospitals:
        said.append(_("Red crosses are hospital regions."))
    return trace_maps(city, trace.slots, kinds, gap().join(said), _)


def _payload(round: Round, team: Team, challenge: str, path: Path | None) -> dict[str, Any]:
    blobs = store()
    return {
        "rules": round.contest.rules_text,
        "round": round.name,
        "city": str(blobs.checked(round.contest.city_sha256)),
        "original": str(blobs.checked(original_of(round, team, challenge).sha256)),
        "file": str(path) if path else None,
    }


def _run(function: str, payload: dict[str, Any]) -> dict[str, Any] | None:
    try:
        return sandbox.run(function, payload, seconds=SECONDS)
    except sandbox.SandboxFailed:
        return None  # a picture less; the check has said what there is to say
