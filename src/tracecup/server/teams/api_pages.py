"""A team's pages as JSON: what to do now, releases, attacks, data, defence.

Each answer is the object that its page renders.
"""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest
from ninja import Query, Router

from tracecup.server.people.asking import RoundName, at_round
from tracecup.server.results import data_defence as defence
from tracecup.server.submissions.data import AttackPage, ReleasePage, attack_page, release_page
from tracecup.server.teams import data, data_files, data_map

router = Router()


@router.get("/contests/{slug}/team", response=data.TeamPage)
def team_now(request: HttpRequest, slug: str, round: RoundName = None) -> data.TeamPage:
    """What my team should do now: next step, windows, tries, announcements."""
    return data.team_page(*at_round(request, slug, round))


@router.get("/contests/{slug}/team/release", response=ReleasePage)
def team_releases(request: HttpRequest, slug: str, round: RoundName = None) -> ReleasePage:
    """My team's releases: tries, history, which one counts."""
    return release_page(*at_round(request, slug, round))


@router.get("/contests/{slug}/team/attack", response=AttackPage)
def team_attacks(request: HttpRequest, slug: str, round: RoundName = None) -> AttackPage:
    """Whom my team may attack, and its answers so far."""
    return attack_page(*at_round(request, slug, round))


@router.get("/contests/{slug}/team/data", response=data_files.DataPage)
def team_data(request: HttpRequest, slug: str, round: RoundName = None) -> data_files.DataPage:
    """The files that my team may fetch, in groups."""
    return data_files.data_page(*at_round(request, slug, round))


@router.get("/contests/{slug}/team/map", response=data_map.MapPage)
def team_map(
    request: HttpRequest,
    slug: str,
    round: RoundName = None,
    user: Annotated[int, Query(description="Whose days, from 1.")] = 1,
    show: Annotated[data_map.Show, Query(description="Before, after, or both.")] = "both",
    challenge: Annotated[str, Query(description="Which data set: reid, trace.")] = "",
) -> data_map.MapPage:
    """One of my team's people on the map, before and after our release."""
    return data_map.map_page(*at_round(request, slug, round), user, show, challenge)


@router.get("/contests/{slug}/team/defence", response=defence.DefencePage)
def team_defence(
    request: HttpRequest,
    slug: str,
    round: RoundName = None,
    user: Annotated[int | None, Query(description="Whose trace is shown, from 1.")] = None,
) -> defence.DefencePage:
    """Which attack hurts my team, as far as policy and phase allow."""
    return defence.defence_page(*at_round(request, slug, round), user)
