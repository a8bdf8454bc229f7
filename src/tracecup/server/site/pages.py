"""Pages for everybody: contests, one contest, lessons.

Each renders what `data` returns, as the API does.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from django.views.i18n import set_language

from tracecup.charts.maps import city_map
from tracecup.server.site import data as public
from tracecup.server.web.context import person_of, place
from tracecup.server.web.formats import FORMATS


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """What contests are there?"""
    return render(request, "site/home.html", {"page": public.home(person_of(request))})


@require_safe
def learn(request: HttpRequest) -> HttpResponse:
    """Why are pseudonyms not enough?"""
    return render(request, "site/learn.html")


@require_safe
def help_page(request: HttpRequest) -> HttpResponse:
    """How do I do it? Files, the client, packed files, handing in."""
    return render(request, "site/help.html", {"formats": FORMATS})


@require_safe
def contest(request: HttpRequest, slug: str) -> HttpResponse:
    """What is this contest?"""
    here = place(request, slug)
    page = public.contest_page(here.role, here.round)
    chart = city_map(page.city, _, page.density) if page.city else None
    context = here.context(page=page, city_chart=chart)
    return render(request, "site/contest.html", context)


urlpatterns = [
    path("", home, name="home"),
    path("learn/", learn, name="learn"),
    path("help/", help_page, name="help"),
    path("language/", set_language, name="language"),
    path("c/<slug:slug>/", contest, name="contest"),
]
