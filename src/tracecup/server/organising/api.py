"""The organisers' API: the twins of their pages, and what they can do to contest, clock and teams.

What they can do is declared in `acts_clock`, `acts_contest` and `acts_teams`; rounds are in
`api_rounds`.
"""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest
from ninja import Field, Query, Router, Schema, Status

from tracecup.server.access import role_in
from tracecup.server.errors import not_found
from tracecup.server.organising import (
    acts_clock,
    acts_contest,
    acts_rules,
    acts_teams,
    acts_texts,
    contests,
)
from tracecup.server.organising import data as run
from tracecup.server.organising import data_log as run_log
from tracecup.server.organising import data_site as run_site
from tracecup.server.organising import data_teams as run_teams
from tracecup.server.organising.act import CONTEST
from tracecup.server.organising.acts_contest import MAX_RULES, SLUG, Division, Made
from tracecup.server.people.asking import RoundName, organiser_of, round_in
from tracecup.server.people.auth import actor_of, person_of
from tracecup.server.teams import api as teams_api
from tracecup.server.teams import messages, questions

router = Router()


@router.get(CONTEST + "/run", response=run.RunPage)
def page(request: HttpRequest, slug: str, round: RoundName = None) -> run.RunPage:
    """Is everything all right: phase, next act, queue, disk, checks."""
    role = organiser_of(request, slug)
    return run.run_page(role, round_in(role, round))


@router.get(CONTEST + "/run/teams", response=run_teams.TeamsPage)
def teams(request: HttpRequest, slug: str, round: RoundName = None) -> run_teams.TeamsPage:
    """Who takes part."""
    role = organiser_of(request, slug)
    return run_teams.teams_page(role, round_in(role, round))


@router.get(CONTEST + "/run/settings", response=run_site.SettingsPage)
def settings(request: HttpRequest, slug: str) -> run_site.SettingsPage:
    """The rules as text, and their changes."""
    return run_site.settings_page(organiser_of(request, slug))


@router.get(CONTEST + "/run/texts", response=run_site.TextsPage)
def texts(request: HttpRequest, slug: str) -> run_site.TextsPage:
    """The texts for everybody, in Markdown."""
    return run_site.texts_page(organiser_of(request, slug))


@router.get(CONTEST + "/run/audit", response=run_log.AuditPage)
def audit(
    request: HttpRequest,
    slug: str,
    action: Annotated[str, Query(max_length=60)] = "",
    actor: Annotated[str, Query(max_length=160)] = "",
    text: Annotated[str, Query(max_length=200)] = "",
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
    check: bool = False,
) -> run_log.AuditPage:
    """The log, newest first; `check` walks the chain."""
    role = organiser_of(request, slug)
    return run_log.audit_page(role, action=action, actor=actor, text=text, page=page, check=check)


class NewContest(Schema):
    """A contest to be made; without rules it has the paper's, with strong sample attacks."""

    name: str = Field(min_length=1, max_length=200)
    slug: str = Field(min_length=1, max_length=60, pattern=SLUG)
    rules: str | None = Field(None, max_length=MAX_RULES)
    is_public: bool = False
    divisions: list[Division] = Field([], max_length=20)


@router.post("/site/contests", response={201: Made})
def create(request: HttpRequest, body: NewContest) -> Status[Made]:
    """Make a contest; for staff."""
    run_site.require_staff(person_of(request))
    made = contests.create_contest(
        actor_of(request),
        name=body.name,
        slug=body.slug,
        rules_text=body.rules,
        is_public=body.is_public,
        divisions=body.divisions,
    )
    return Status(201, Made(slug=made.slug, name=made.name))


@router.post(CONTEST + "/undelete", response=Made)
def undelete(request: HttpRequest, slug: str) -> Made:
    """Bring a deleted contest back; for its organisers."""
    deleted = run_site.deleted_contests(person_of(request))
    found = next((one for one in deleted if one.slug == slug), None)
    if found is None:
        raise not_found("contest")
    contests.undelete(found, actor_of(request))
    return Made(slug=found.slug, name=found.name)


class AppealText(Schema):
    """What a team says against a decision."""

    text: str = Field(min_length=1, max_length=20_000)


@router.post(CONTEST + "/appeals", response={201: run.AppealRow})
def appeal(request: HttpRequest, slug: str, body: AppealText) -> Status[run.AppealRow]:
    """Appeal against a decision, as a team, while the window is open."""
    team = role_in(slug, person_of(request)).require_team()
    return Status(201, run.appeal_row(messages.appeal(team, body.text, actor_of(request))))


class QuestionText(Schema):
    """What a team asks the organisers."""

    text: str = Field(min_length=1, max_length=4000)


@router.post(CONTEST + "/questions", response={201: run.QuestionRow})
def ask_question(request: HttpRequest, slug: str, body: QuestionText) -> Status[run.QuestionRow]:
    """Ask the organisers something, as a team."""
    team = role_in(slug, person_of(request)).require_team()
    return Status(201, run.question_row(questions.ask(team, body.text, actor_of(request))))


acts_clock.ACTS.add_routes(router, __name__)
acts_contest.ACTS.add_routes(router, __name__)
acts_rules.ACTS.add_routes(router, __name__)
acts_teams.ACTS.add_routes(router, __name__)
acts_texts.ACTS.add_routes(router, __name__)
acts_teams.OF_TEAMS.add_routes(teams_api.router, teams_api.__name__)
