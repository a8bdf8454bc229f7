"""Contests as JSON: the twins of the pages for everybody and for teams.

Each answer is the object that its page renders.
"""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from tracecup.server import clock, windows
from tracecup.server.access import Role, role_in
from tracecup.server.errors import not_found
from tracecup.server.models import Round
from tracecup.server.results import data as results
from tracecup.server.results import data_defence as defence
from tracecup.server.site import data as public
from tracecup.server.submissions import data as team
from tracecup.server.teams import data_files as teamdata
from tracecup.server.web.auth import anyone, person_of

router = Router()
RoundName = Annotated[str | None, Query(description="A round; without it the current one.")]


@router.get("/contests", auth=anyone, response=public.Home)
def home(request: HttpRequest) -> public.Home:
    """The contests that you may see: public ones and your own."""
    return public.home(person_of(request))


@router.get("/contests/{slug}", auth=anyone, response=public.ContestPage)
def contest(request: HttpRequest, slug: str, round: RoundName = None) -> public.ContestPage:
    """One contest: phases, rules, city, teams."""
    role = role_in(slug, person_of(request))
    return public.contest_page(role, round_in(role, round))


@router.get(
    "/contests/{slug}/rules",
    auth=anyone,
    openapi_extra={"responses": {200: {"content": {"application/toml": {}}}}},
)
def rules(request: HttpRequest, slug: str) -> HttpResponse:
    """The rules as the file `contest.toml`, which `tracecup` reads."""
    role = role_in(slug, person_of(request))
    return HttpResponse(role.contest.rules_text, content_type="application/toml; charset=utf-8")


@router.get("/contests/{slug}/results", auth=anyone, response=results.ResultsPage)
def results_of(request: HttpRequest, slug: str, round: RoundName = None) -> results.ResultsPage:
    """Awards, boards, matrices, commitments; `board` is null until they are published."""
    return results.results_page(*_at(request, slug, round))


@router.get("/contests/{slug}/results/{name}", auth=anyone, response=list[dict[str, Any]])
def result_table(
    request: HttpRequest, slug: str, name: str, round: RoundName = None
) -> list[dict[str, Any]]:
    """The rows of a published table; the results list the tables that there are."""
    return results.table(*_at(request, slug, round), name).rows()


@router.get("/contests/{slug}/team", response=team.TeamPage)
def team_now(request: HttpRequest, slug: str, round: RoundName = None) -> team.TeamPage:
    """What my team should do now: next step, windows, tries, announcements."""
    return team.team_page(*_at(request, slug, round))


@router.get("/contests/{slug}/team/release", response=team.ReleasePage)
def team_releases(request: HttpRequest, slug: str, round: RoundName = None) -> team.ReleasePage:
    """My team's releases: tries, history, which one counts."""
    return team.release_page(*_at(request, slug, round))


@router.get("/contests/{slug}/team/attack", response=team.AttackPage)
def team_attacks(request: HttpRequest, slug: str, round: RoundName = None) -> team.AttackPage:
    """Whom my team may attack, and its answers so far."""
    return team.attack_page(*_at(request, slug, round))


@router.get("/contests/{slug}/team/data", response=teamdata.DataPage)
def team_data(request: HttpRequest, slug: str, round: RoundName = None) -> teamdata.DataPage:
    """The files that my team may fetch, in groups."""
    return teamdata.data_page(*_at(request, slug, round))


@router.get("/contests/{slug}/team/defence", response=defence.DefencePage)
def team_defence(
    request: HttpRequest,
    slug: str,
    round: RoundName = None,
    user: Annotated[int | None, Query(description="Whose trace is shown, from 1.")] = None,
) -> defence.DefencePage:
    """Which attack hurts my team, as far as policy and phase allow."""
    return defence.defence_page(*_at(request, slug, round), user)


def _at(request: HttpRequest, slug: str, name: str | None) -> tuple[Role, Round]:
    """Who asks, and about which round."""
    role = role_in(slug, person_of(request))
    found = round_in(role, name)
    if found is None:
        raise not_found("round")
    return role, found


def round_in(role: Role, name: str | None) -> Round | None:
    """The round of a name, or the one that people mean now; None where there is none."""
    if name is None:
        return windows.current_round(role.contest, clock.contest_now(role.contest))
    found: Round | None = role.contest.rounds.filter(name=name).first()
    if found is None:
        raise not_found("round")
    return found
