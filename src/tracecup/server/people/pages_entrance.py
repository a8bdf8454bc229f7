"""The ways in: log-in and log-out, forgotten passwords, one-time links.

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
from tracecup.server.models import OneTimeLink
from tracecup.server.people import data as pagedata
from tracecup.server.people import letters, links, visits
from tracecup.server.people.forms import (
    LogInForm,
    NewAccountForm,
    NewPasswordForm,
    ResetForm,
    refuse,
)
from tracecup.server.people.pages import remember_language, site_of


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
        return reverse("team", args=[found.team.contest.slug])
    if found.purpose == "organiser" and found.contest is not None:
        return reverse("run", args=[found.contest.slug])
    return reverse("account") if found.purpose == "reset" else reverse("home")


urlpatterns = [
    path("login/", log_in, name="login"),
    path("logout/", log_out, name="logout"),
    path("reset/", reset, name="reset"),
    path("link/<str:token>/", link, name="link"),
]
