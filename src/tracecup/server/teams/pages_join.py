"""How people come into teams: join codes, and registration where a contest allows it.

Whoever has no account makes one on the way.
"""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from tracecup.server.errors import Refused
from tracecup.server.models import Person, Team
from tracecup.server.people import membership, throttle, visits
from tracecup.server.people.forms import NewAccountForm, refuse
from tracecup.server.people.pages import actor_of
from tracecup.server.teams import registration
from tracecup.server.teams.forms import CodeForm, TeamAndAccountForm, TeamForm
from tracecup.server.web.context import place


@never_cache
def join_by_code(request: HttpRequest) -> HttpResponse:
    """I have a join code."""
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            team = membership.team_of_code(form.cleaned_data["code"])
        except Refused as refused:
            refuse(form, refused)
        else:
            return redirect("join", code=team.join_code)
    status = 422 if form.is_bound else 200
    return render(request, "teams/code.html", {"form": form}, status=status)


@never_cache
@sensitive_post_parameters("password")
def join(request: HttpRequest, code: str) -> HttpResponse:
    """Which team does this code lead to, and do I want to join it?"""
    team = membership.team_of_code(code)
    if request.user.is_authenticated:
        if request.method == "POST":
            membership.join(code, request.user, actor_of(request))
            messages.success(request, _("You are in the team now."))
            return redirect("team", slug=team.contest.slug)
        return render(request, "teams/join.html", {"team": team})
    form = NewAccountForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            _count_sign_up(request)
            joined, person = registration.join_with_new_account(code, **form.cleaned_data)
        except Refused as refused:
            refuse(form, refused)
        else:
            return _welcome(request, person, joined)
    status = 422 if form.is_bound else 200
    return render(request, "teams/join.html", {"team": team, "form": form}, status=status)


@never_cache
@sensitive_post_parameters("password")
def register(request: HttpRequest, slug: str) -> HttpResponse:
    """May we take part? Where the organisers allow it, a team registers by itself."""
    here = place(request, slug)
    contest, person = here.contest, here.role.person
    is_open = registration.registration_open(contest)
    form: forms.Form = (TeamForm if person else TeamAndAccountForm)(
        contest.divisions, request.POST or None
    )
    if request.method == "POST" and form.is_valid():
        given = dict(form.cleaned_data)
        team_name = given.pop("team")
        try:
            if person is not None:
                team = registration.register_team(contest, team_name, person, here.actor, **given)
            else:
                _count_sign_up(request)
                team, person = registration.register_with_new_account(contest, team_name, **given)
        except Refused as refused:
            refuse(form, registration.about_team(refused))
        else:
            return _welcome(request, person, team)
    context = here.context(form=form, is_open=is_open)
    status = 422 if form.is_bound else 200
    return render(request, "teams/register.html", context, status=status)


def _count_sign_up(request: HttpRequest) -> None:
    """Accounts that nobody invited are counted by address."""
    address = visits.address_of(request)
    throttle.spend(throttle.SIGN_UP, address, address)


def _welcome(request: HttpRequest, person: Person, team: Team) -> HttpResponse:
    if not request.user.is_authenticated:
        visits.begin_visit(request, person)
    messages.success(request, _("You are in team {team} now.").format(team=team.name))
    return redirect("team", slug=team.contest.slug)


urlpatterns = [
    path("join/", join_by_code, name="join-code"),
    path("join/<str:code>/", join, name="join"),
    path("c/<slug:slug>/join/", register, name="register"),
]
