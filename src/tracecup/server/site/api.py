"""Contests as JSON: the twins of the pages for everybody.

Each answer is the object that its page renders.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Router

from tracecup.server.access import role_in
from tracecup.server.people.asking import RoundName, round_in
from tracecup.server.people.auth import (
    anyone,
    person_of,
)
from tracecup.server.site import data as public

router = Router()


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
