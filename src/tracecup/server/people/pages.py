"""The account's page: name and language, password, API tokens, sessions, erasure.

Every change is a form of its own; one that is refused comes back with its errors beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from tracecup.server.access import Actor
from tracecup.server.errors import Refused
from tracecup.server.models import Person
from tracecup.server.people import accounts, erasure, letters, tokens, visits
from tracecup.server.people import data as pagedata
from tracecup.server.people.forms import (
    ChangePasswordForm,
    EraseForm,
    ProfileForm,
    TokenForm,
    refuse,
)

View = Callable[..., HttpResponse]


def signed_in(view: View) -> View:
    """A page for people who are logged in."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **parts: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            raise Refused("not-signed-in", _("Please log in first."))
        return view(request, *args, **parts)

    return wrapped


def actor_of(request: HttpRequest) -> Actor:
    """Who acts on a page."""
    return Actor(request.user if request.user.is_authenticated else None, "page")


def site_of(request: HttpRequest) -> str:
    """The address of this site, for letters and links: as it is configured, else where we listen.

    Never what the request says (`Host`): whoever asks for somebody's letter writes that header.
    """
    served: str = settings.CONFIG.site_url or getattr(settings, "SERVED_AT", "")
    scheme = "https" if settings.CONFIG.secure or request.is_secure() else "http"
    return served.rstrip("/") or f"{scheme}://{settings.CONFIG.hosts[0]}"


def remember_language(response: HttpResponse, person: Person) -> HttpResponse:
    """Have the browser ask for the account's language from now on."""
    if person.language:
        response.set_cookie(
            settings.LANGUAGE_COOKIE_NAME,
            person.language,
            max_age=365 * 86400,
            samesite="Lax",
            secure=settings.SESSION_COOKIE_SECURE,
        )
    return response


@signed_in
@sensitive_post_parameters("password")
def account(request: HttpRequest) -> HttpResponse:
    """Who am I here? A POST changes name, e-mail, language and zone."""
    if request.method != "POST":
        return _page(request)
    form = ProfileForm(request.POST)
    person, before = request.user, request.user.email
    if form.is_valid():
        try:
            accounts.change_profile(person, actor_of(request), **form.cleaned_data)
        except Refused as refused:
            person.refresh_from_db()
            refuse(form, refused)
        else:
            if before and person.email != before:
                letters.tell_email_changed(person, before, site_of(request))
            messages.success(request, _("Saved."))
            return remember_language(redirect("account"), person)
    return _page(request, profile=form)


@require_POST
@signed_in
@sensitive_post_parameters("old", "new")
def password(request: HttpRequest) -> HttpResponse:
    """Change the password; every other session ends."""
    form = ChangePasswordForm(request.POST)
    if form.is_valid():
        try:
            accounts.change_password(request.user, **form.cleaned_data, actor=actor_of(request))
        except Refused as refused:
            refuse(form, refused)
        else:
            visits.end_other_sessions(request.user, request.session.session_key, actor_of(request))
            update_session_auth_hash(request, request.user)  # gives this session a new key
            visits.seen(request)
            letters.tell_password_changed(request.user, site_of(request))
            messages.success(
                request,
                _(
                    "The password is changed; you are logged out everywhere else. Your API tokens "
                    "still work; revoke those that you do not know."
                ),
            )
            return redirect("account")
    return _page(request, password=form)


@require_POST
@signed_in
def new_token(request: HttpRequest) -> HttpResponse:
    """Make an API token; this answer is the only place that shows it."""
    form = TokenForm(request.POST)
    if form.is_valid():
        try:
            token, secret = tokens.new_token(
                request.user, **form.cleaned_data, actor=actor_of(request)
            )
        except Refused as refused:
            refuse(form, refused)
        else:
            return _page(request, made=pagedata.token_info(token), secret=secret)
    return _page(request, token=form)


@require_POST
@signed_in
def revoke_token(request: HttpRequest, number: int) -> HttpResponse:
    """Make a token worthless."""
    tokens.revoke_by_number(request.user, number, actor_of(request))
    messages.success(request, _("The token is revoked."))
    return redirect("account")


@require_POST
@signed_in
def end_session(request: HttpRequest, number: int) -> HttpResponse:
    """End one session."""
    visits.end_visit(request.user, number, actor_of(request))
    messages.success(request, _("The session has ended."))
    return redirect("account")


@require_POST
@signed_in
def end_others(request: HttpRequest) -> HttpResponse:
    """End every session but this one."""
    visits.end_other_sessions(request.user, request.session.session_key, actor_of(request))
    messages.success(request, _("You are logged out everywhere else."))
    return redirect("account")


@require_POST
@signed_in
@sensitive_post_parameters("password")
def erase(request: HttpRequest) -> HttpResponse:
    """Forget the account."""
    form = EraseForm(request.POST)
    if form.is_valid():
        try:
            accounts.require_password(request.user, form.cleaned_data["password"])
            erasure.erase(request.user, actor_of(request))
        except Refused as refused:
            refuse(form, refused)
        else:
            visits.sign_out(request)
            messages.success(request, _("Your account and your data are gone."))
            return redirect("home")
    return _page(request, erase=form)


def _page(
    request: HttpRequest, made: Any = None, secret: str = "", **bound: forms.Form
) -> HttpResponse:
    """The page with fresh forms, but for the one that was refused."""
    person = request.user
    fresh: dict[str, forms.Form] = {
        "profile": ProfileForm(
            initial={
                "name": person.first_name,
                "email": person.email,
                "language": person.language,
                "zone": person.zone,
            }
        ),
        "password": ChangePasswordForm(auto_id="password_%s"),
        "token": TokenForm(auto_id="token_%s"),
        "erase": EraseForm(auto_id="erase_%s"),
    }
    for name, form in bound.items():
        form.auto_id = fresh[name].auto_id
    context = {
        "page": pagedata.account(person, request.session.session_key),
        "forms": fresh | bound,
        "made": made,
        "secret": secret,
    }
    return render(request, "people/account.html", context, status=422 if bound else 200)


urlpatterns = [
    path("account/", account, name="account"),
    path("account/password/", password, name="account-password"),
    path("account/tokens/", new_token, name="account-token-new"),
    path("account/tokens/<int:number>/revoke/", revoke_token, name="account-token-revoke"),
    path("account/sessions/<int:number>/end/", end_session, name="account-session-end"),
    path("account/sessions/end-others/", end_others, name="account-sessions-end"),
    path("account/erase/", erase, name="account-erase"),
]
