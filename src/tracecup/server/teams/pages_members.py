"""The members' page of a team: who we are, how others come in.

Everybody in the team sees it; captains and organisers change it, and everybody may leave.
"""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from tracecup.server.errors import Refused, not_found
from tracecup.server.models import Team
from tracecup.server.people import data as pagedata
from tracecup.server.people import letters, links
from tracecup.server.people import membership as members
from tracecup.server.people.forms import (
    refuse,
)
from tracecup.server.people.membership import (
    count_invitation,
)
from tracecup.server.people.pages import site_of
from tracecup.server.teams.forms import (
    InviteForm,
)
from tracecup.server.web.context import Place, place


@require_safe
def show(request: HttpRequest, slug: str) -> HttpResponse:
    """Who are we?"""
    here = place(request, slug)
    return _page(request, here, here.require_team(), InviteForm())


@require_POST
def invite(request: HttpRequest, slug: str) -> HttpResponse:
    """A one-time link into the team; this answer is the only place that shows it."""
    here, team = _managed(request, slug)
    form = InviteForm(request.POST)
    if not form.is_valid():
        return _page(request, here, team, form, status=422)
    given = form.cleaned_data
    try:
        count_invitation(here.role)
        secret = links.new_link("member", here.actor, team=team, **given)
    except Refused as refused:
        refuse(form, refused)
        return _page(request, here, team, form, status=422)
    link = links.link_path(secret)
    if given["email"]:
        letters.invite(team, given["name"], given["email"], link, site_of(request))
    return _page(request, here, team, InviteForm(), made=site_of(request) + link)


@require_POST
def revoke_invitation(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Make an open invitation of the team worthless."""
    here, team = _managed(request, slug)
    link = links.link_by_number(here.contest, number)
    if link.team_id != team.pk:
        raise not_found("link")
    links.revoke_link(link, here.actor)
    messages.success(request, _("The invitation no longer works."))
    return redirect("team-members", slug)


@require_POST
def new_code(request: HttpRequest, slug: str) -> HttpResponse:
    """A new join code."""
    here, team = _managed(request, slug)
    members.new_code(team, here.actor)
    messages.success(request, _("The team has a new join code; the old one no longer works."))
    return redirect("team-members", slug)


@require_POST
def captain(request: HttpRequest, slug: str, person: int) -> HttpResponse:
    """Make somebody a captain, or no longer one."""
    here, team = _managed(request, slug)
    found = members.person_in(team, person)
    members.set_captain(team, found, here.actor, request.POST.get("on") == "yes")
    messages.success(request, _("Saved."))
    return redirect("team-members", slug)


@require_POST
def remove(request: HttpRequest, slug: str, person: int) -> HttpResponse:
    """Take somebody out of the team, or leave it."""
    here = place(request, slug)
    team = here.require_team()
    leaving = here.role.person is not None and here.role.person.pk == person
    if not leaving:
        members.require_manager(here.role, team)
    members.remove_member(team, members.person_in(team, person), here.actor)
    if leaving:
        messages.success(request, _("You have left the team."))
        return redirect("account")
    messages.success(request, _("This person has left the team, and the team has a new join code."))
    return redirect("team-members", slug)


def _managed(request: HttpRequest, slug: str) -> tuple[Place, Team]:
    here = place(request, slug)
    team = here.require_team()
    members.require_manager(here.role, team)
    return here, team


def _page(
    request: HttpRequest,
    here: Place,
    team: Team,
    form: InviteForm,
    *,
    made: str = "",
    status: int = 200,
) -> HttpResponse:
    page = pagedata.members(here.role, team)
    context = here.context(
        page=page,
        form=form,
        made=made,
        join_address=site_of(request) + page.join_path,
        tokens=pagedata.tokens(request.user),
    )
    return render(request, "teams/members.html", context, status=status)


urlpatterns = [
    path("c/<slug:slug>/team/members/", show, name="team-members"),
    path("c/<slug:slug>/team/members/invite/", invite, name="member-invite"),
    path(
        "c/<slug:slug>/team/members/invitations/<int:number>/revoke/",
        revoke_invitation,
        name="member-invitation-revoke",
    ),
    path("c/<slug:slug>/team/members/code/", new_code, name="member-code"),
    path("c/<slug:slug>/team/members/<int:person>/captain/", captain, name="member-captain"),
    path("c/<slug:slug>/team/members/<int:person>/remove/", remove, name="member-remove"),
]
