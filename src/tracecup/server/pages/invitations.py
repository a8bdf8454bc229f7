"""The invitations of a team: one-time links that its captains make and revoke.

Who is in the team, and the join code that many may use, are on the members' page.
"""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from tracecup.server.errors import Refused, not_found
from tracecup.server.models import Team
from tracecup.server.pages.account import site_of
from tracecup.server.pages.context import Place, place
from tracecup.server.pages.peopleforms import InviteForm, refuse
from tracecup.server.services import letters, people, teams
from tracecup.server.services.pagedata import people as pagedata


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def invite(request: HttpRequest, slug: str) -> HttpResponse:
    """Whom do we invite? The answer to a POST is the only place that shows the link."""
    here, team = _managed(request, slug)
    form = InviteForm(request.POST if request.method == "POST" else None)
    made = ""
    if form.is_valid():
        given = form.cleaned_data
        try:
            secret = people.new_link("member", here.actor, team=team, **given)
        except Refused as refused:
            refuse(form, refused)
        else:
            link = f"/link/{secret}/"
            if given["email"]:
                letters.invite(team, given["name"], given["email"], link, site_of(request))
            form, made = InviteForm(), site_of(request) + link
    context = here.context(page=pagedata.members(here.role, team), form=form, made=made)
    status = 422 if form.is_bound else 200
    return render(request, "server/account/invite.html", context, status=status)


@require_POST
def revoke(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Make an open invitation of the team worthless."""
    here, team = _managed(request, slug)
    link = people.link_by_number(here.contest, number)
    if link.team_id != team.pk:
        raise not_found("link")
    people.revoke_link(link, here.actor)
    messages.success(request, _("The invitation no longer works."))
    return redirect("team-invite", slug)


def _managed(request: HttpRequest, slug: str) -> tuple[Place, Team]:
    here = place(request, slug)
    team = here.require_team()
    teams.require_manager(here.role, team)
    return here, team


urlpatterns = [
    path("c/<slug:slug>/team/invite/", invite, name="team-invite"),
    path("c/<slug:slug>/team/invite/<int:number>/revoke/", revoke, name="team-invite-revoke"),
]
