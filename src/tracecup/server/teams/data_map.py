"""One of a team's own people on the map: her days before and after the team's release.

Typed; a page renders it and the API returns it. Nobody but the team has these originals.
"""

from __future__ import annotations

from typing import Literal

from ninja import Schema

from tracecup.contest.entries import Entry
from tracecup.server.access import Role
from tracecup.server.errors import Refused
from tracecup.server.models import Round
from tracecup.server.people import throttle
from tracecup.server.people.accounts import label
from tracecup.server.results import downloads
from tracecup.server.storage import store
from tracecup.server.submissions.choices import counting
from tracecup.server.submissions.data_handed import WindowInfo, window_info
from tracecup.server.submissions.movement import OneUser, one_user

LIMIT = throttle.Limit("map", 1000, 1000, 60)
"""By team and by person: both files are read anew for every user who is looked at."""

Show = Literal["both", "before", "after"]


class MapPage(Schema):
    """Where were our people? `trace` is None before the data are out.

    `attempt` is the number of the release that is shown beside the originals, None without one.
    """

    contest: str
    round: str
    window: WindowInfo
    challenges: list[str]
    challenge: str
    users: int
    user: int
    show: Show
    attempt: int | None
    trace: OneUser | None


def map_page(
    role: Role, round: Round, user: int = 1, show: Show = "both", challenge: str = ""
) -> MapPage:
    """A user (from 1) of the team's data set of a challenge, with the release that counts."""
    team, rules = role.require_team(), role.contest.rules
    played = rules.challenges_played
    chosen = next((kind for kind in played if kind == challenge), played[0])
    user = min(max(user, 1), rules.users)
    page = MapPage(
        contest=role.contest.slug,
        round=round.name,
        window=window_info(round, "data", team),
        challenges=list(played),
        challenge=chosen,
        users=rules.users,
        user=user,
        show=show,
        attempt=None,
        trace=None,
    )
    try:
        downloads.open_file(role, round, Entry(team.number, chosen).file("orgtraces"))
    except Refused:
        return page  # not out yet: whoever may not download a file sees nothing of it here
    throttle.spend(
        LIMIT, f"team:{team.pk}", label(role.person) if role.person else f"team:{team.pk}"
    )
    release = None if show == "before" else counting(round, team, chosen)
    page.attempt = release.attempt if release else None
    path = store().checked(release.sha256) if release else None
    page.trace = one_user(round, team, chosen, path, user - 1, None)
    return page
