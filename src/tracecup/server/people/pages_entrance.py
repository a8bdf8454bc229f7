"""The ways in: log-in and log-out, forgotten passwords, one-time links, join codes, registration.

Nothing here says whether an account exists, and nobody is sent to another site.
"""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from tracecup.server.errors import Refused
from tracecup.server.models import OneTimeLink, Person, Team
from tracecup.server.people import data as pagedata
from tracecup.server.people import letters, links, throttle, visits
from tracecup.server.people.forms import (
    CodeForm,
    LogInForm,
    NewAccountForm,
    NewPasswordForm,
    ResetForm,
    TeamAndAccountForm,
    TeamForm,
    refuse,
)
from tracecup.server.people.pages import actor_of, remember_language, site_of
from tracecup.server.teams import members, registration
from tracecup.server.web.context import place


def safe_next(request: HttpRequest, default: str = "/") -> str:
    """Where to go afterwards: an address of this site, or the default."""
    wanted = str(request.POST.get("next") or request.GET.get("next") or "")
    allowed = url_has_allowed_host_and_scheme(
        wanted, {request.get_host()}, require_https=request.is_secure()
    )
    return wanted if allowed else default


@never_cache
@sensitive_post_parameters("password")
def log_in(request: HttpRequest) -> HttpResponse:
    """Who are you?"""
    onward = safe_next(request, reverse("home"))
    form = LogInForm(request.POST or None)
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                person = visits.sign_in(request, **form.cleaned_data)
            except Refused as refused:
                refuse(form, refused)
                status = refused.status
                return _with_wait(_log_in_page(request, form, onward, status), refused)
            return remember_language(redirect(onward), person)
    elif request.user.is_authenticated:
        return redirect(onward)
    return _log_in_page(request, form, onward, status)


@require_POST
def log_out(request: HttpRequest) -> HttpResponse:
    """Goodbye."""
    visits.sign_out(request)
    return redirect("home")


@never_cache
def reset(request: HttpRequest) -> HttpResponse:
    """I forgot my password. The answer is the same whether there is such an account."""
    form = ResetForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            letters.ask_reset(
                form.cleaned_data["who"], visits.address_of(request), site_of(request)
            )
        except Refused as refused:
            refuse(form, refused)
            page = render(request, "people/reset.html", {"form": form}, status=429)
            return _with_wait(page, refused)
        return render(request, "people/reset_sent.html")
    status = 422 if form.is_bound else 200
    return render(request, "people/reset.html", {"form": form}, status=status)


@never_cache
@sensitive_post_parameters("password")
def link(request: HttpRequest, token: str) -> HttpResponse:
    """What is this link for? Looking at it does not use it."""
    found = links.link_of(token)
    invited = found.purpose in ("organiser", "member")
    if request.method == "POST" and "accept" in request.POST and request.user.is_authenticated:
        links.accept(token, request.user)
        messages.success(request, _("Welcome."))
        return redirect(_goal(found))
    form = _link_form(request, found)
    if request.method == "POST" and form.is_valid():
        try:
            person = links.redeem(token, **{"username": "", **form.cleaned_data})
        except Refused as refused:
            refuse(form, refused)
        else:
            visits.begin_visit(request, person)
            if found.purpose == "reset":
                letters.tell_password_changed(person, site_of(request), by_link=True)
            said = _("Welcome.")
            if found.purpose == "reset":
                said = _(
                    "Your new password is set. You are logged out everywhere else and all your API "
                    "tokens are revoked; make new ones for your programs here."
                )
            messages.success(request, said)
            return remember_language(redirect(_goal(found)), person)
    context = {
        "link": pagedata.link(found),
        "form": form,
        "may_accept": invited and request.user.is_authenticated,
        "invited": invited,
    }
    status = 422 if form.is_bound else 200
    return render(request, "people/link.html", context, status=status)


@never_cache
def join_by_code(request: HttpRequest) -> HttpResponse:
    """I have a join code."""
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            team = members.team_of_code(form.cleaned_data["code"])
        except Refused as refused:
            refuse(form, refused)
        else:
            return redirect("join", code=team.join_code)
    status = 422 if form.is_bound else 200
    return render(request, "people/code.html", {"form": form}, status=status)


@never_cache
@sensitive_post_parameters("password")
def join(request: HttpRequest, code: str) -> HttpResponse:
    """Which team does this code lead to, and do I want to join it?"""
    team = members.team_of_code(code)
    if request.user.is_authenticated:
        if request.method == "POST":
            members.join(code, request.user, actor_of(request))
            messages.success(request, _("You are in the team now."))
            return redirect(_team_page(team))
        return render(request, "people/join.html", {"team": team})
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
    return render(request, "people/join.html", {"team": team, "form": form}, status=status)


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
    return render(request, "people/register.html", context, status=status)


def _log_in_page(request: HttpRequest, form: forms.Form, onward: str, status: int) -> HttpResponse:
    context = {"form": form, "next": onward}
    return render(request, "people/login.html", context, status=status)


def _with_wait(response: HttpResponse, refused: Refused) -> HttpResponse:
    if "retry_after" in refused.details:
        response.headers["Retry-After"] = str(refused.details["retry_after"])
    return response


def _link_form(request: HttpRequest, found: OneTimeLink) -> forms.Form:
    sent = request.POST if request.method == "POST" else None
    if found.purpose == "reset":
        return NewPasswordForm(sent)
    return NewAccountForm(sent, initial={"name": found.name, "email": found.email})


def _goal(found: OneTimeLink) -> str:
    """The first page after a link was used."""
    if found.purpose == "member":
        return _team_page(found.team)
    if found.purpose == "organiser" and found.contest is not None:
        return reverse("run", args=[found.contest.slug])
    return reverse("account") if found.purpose == "reset" else reverse("home")


def _team_page(team: Team) -> str:
    return reverse("team", args=[team.contest.slug])


def _count_sign_up(request: HttpRequest) -> None:
    """Accounts that nobody invited are counted by address."""
    address = visits.address_of(request)
    throttle.spend(throttle.SIGN_UP, address, address)


def _welcome(request: HttpRequest, person: Person, team: Team) -> HttpResponse:
    if not request.user.is_authenticated:
        visits.begin_visit(request, person)
    messages.success(request, _("You are in team {team} now.").format(team=team.name))
    return redirect(_team_page(team))


urlpatterns = [
    path("login/", log_in, name="login"),
    path("logout/", log_out, name="logout"),
    path("reset/", reset, name="reset"),
    path("link/<str:token>/", link, name="link"),
    path("join/", join_by_code, name="join-code"),
    path("join/<str:code>/", join, name="join"),
    path("c/<slug:slug>/join/", register, name="register"),
]
