"""Pages for everybody: contests, one contest, its results, lessons, receipts.

Each renders what `services.pagedata` returns, as the API does.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from django.views.i18n import set_language

from tracecup.charts.maps import city_map
from tracecup.server import clock
from tracecup.server.site import data as public
from tracecup.server.web.context import person_of, place


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """What contests are there?"""
    return render(request, "site/home.html", {"page": public.home(person_of(request))})


@require_safe
def learn(request: HttpRequest) -> HttpResponse:
    """Why are pseudonyms not enough?"""
    return render(request, "site/learn.html")


@require_safe
def contest(request: HttpRequest, slug: str) -> HttpResponse:
    """What is this contest?"""
    here = place(request, slug)
    page = public.contest_page(here.role, here.round)
    chart = city_map(page.city, _) if page.city else None
    context = here.context(page=page, city_chart=chart)
    return render(request, "site/contest.html", context)


@require_safe
def receipt(request: HttpRequest, secret: str) -> HttpResponse:
    """Did my file arrive? Works without an account for whoever has the link."""
    from tracecup.server.submissions import service as submissions

    submission = submissions.receipt_of(secret)
    page = public.receipt(submission)
    context = {
        "page": page,
        "contest": submission.contest,
        "now": clock.contest_now(submission.contest),
    }
    template = "site/receipt.html"
    if getattr(request, "htmx", False):
        template = "site/parts/receipt_state.html"
        if request.GET.get("state") == page.state:
            return HttpResponse(status=204)  # nothing to say again to those who listen
    answer = render(request, template, context)
    answer["Referrer-Policy"] = "no-referrer"
    answer["Cache-Control"] = "private, no-store"
    answer["X-Robots-Tag"] = "noindex"
    return answer


urlpatterns = [
    path("", home, name="home"),
    path("learn/", learn, name="learn"),
    path("language/", set_language, name="language"),
    path("c/<slug:slug>/", contest, name="contest"),
    path("receipt/<str:secret>/", receipt, name="receipt"),
]
