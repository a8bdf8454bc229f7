"""Pages of a team: what to do now, its data, the attacks on it.

Handing in is in `submissions.pages`, the members are in `pages_members`.
"""

from __future__ import annotations

from typing import get_args

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from tracecup.charts.figure import Figure
from tracecup.charts.risk import own_risks
from tracecup.server.models import Appeal, Question
from tracecup.server.results import data_defence as defence_data
from tracecup.server.results import downloads
from tracecup.server.site import data as public
from tracecup.server.submissions.movement import user_chart
from tracecup.server.teams import data as team_data
from tracecup.server.teams import data_files as teamdata
from tracecup.server.teams import data_map, questions
from tracecup.server.teams import messages as letters
from tracecup.server.web.context import Place, number_in, place


@require_safe
def team(request: HttpRequest, slug: str) -> HttpResponse:
    """What should we do now?"""
    here = place(request, slug)
    own = here.require_team()
    page = team_data.team_page(here.role, here.require_round())
    appeals = Appeal.objects.filter(team=own).order_by("-at")
    asked = Question.objects.filter(team=own).order_by("-at")
    context = here.context(page=page, appeals=appeals, questions=asked)
    return render(request, "teams/team.html", context)


@require_safe
def data(request: HttpRequest, slug: str) -> HttpResponse:
    """Where is our data?"""
    here = place(request, slug)
    page = teamdata.data_page(here.role, here.require_round())
    return render(request, "teams/data.html", here.context(page=page))


@require_safe
def file(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """A file that the visitor may have, whole or a range of it."""
    here = place(request, slug)
    found = downloads.open_file(here.role, here.require_round(), name)
    if _plain(request):
        return downloads.plain_response(request, found)
    return downloads.ranged_response(request, found)


@require_safe
def files_zip(request: HttpRequest, slug: str) -> HttpResponse:
    """All files that the visitor may have, as one archive."""
    here = place(request, slug)
    if _plain(request):
        return downloads.plain_archive_response(request, here.role, here.require_round())
    return downloads.archive_response(request, here.role, here.require_round())


@require_safe
def show_map(request: HttpRequest, slug: str) -> HttpResponse:
    """Where were our people?"""
    here = place(request, slug)
    shows = {"both": _("before and after"), "before": _("before"), "after": _("after")}
    said = request.GET.get("show", "")
    show: data_map.Show = next((one for one in get_args(data_map.Show) if one == said), "both")
    user, challenge = number_in(request.GET, "user") or 1, request.GET.get("challenge", "")
    page = data_map.map_page(here.role, here.require_round(), user, show, challenge)
    city, charts = public.city_map(here.contest), []
    if page.trace is not None and city is not None:
        charts.append(user_chart(city, page.trace, page.user, before=show != "after"))
    query = urlencode({"round": page.round, "challenge": page.challenge, "show": show})
    context = here.context(page=page, charts=charts, shows=shows.items(), query=query)
    return render(request, "teams/map.html", context)


@require_safe
def defence(request: HttpRequest, slug: str) -> HttpResponse:
    """Which attack hurts us?"""
    here = place(request, slug)
    user = number_in(request.GET, "user")
    page = defence_data.defence_page(here.role, here.require_round(), user)
    context = here.context(page=page, charts=_defence_charts(here, page))
    return render(request, "teams/defence.html", context)


@require_POST
def appeal(request: HttpRequest, slug: str) -> HttpResponse:
    """Say something against a decision."""
    here = place(request, slug)
    letters.appeal(here.require_team(), request.POST.get("text", ""), here.actor)
    messages.success(request, _("The organisers have your appeal; the answer will be here."))
    return redirect(f"{reverse('team', args=[slug])}#appeal")


@require_POST
def question(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask the organisers something."""
    here = place(request, slug)
    questions.ask(here.require_team(), request.POST.get("text", ""), here.actor)
    messages.success(request, _("The organisers have your question; the answer will be here."))
    return redirect(f"{reverse('team', args=[slug])}#questions")


def _plain(request: HttpRequest) -> bool:
    """Whether packed files are wanted as plain ones: `?plain=1`."""
    return request.GET.get("plain") == "1"


def _defence_charts(here: Place, page: defence_data.DefencePage) -> list[Figure]:
    charts = [own_risks(page.scores, _)]
    city = public.city_map(here.contest)
    if page.trace is not None and city is not None:
        charts.append(user_chart(city, page.trace, page.user))
    return [one for one in charts if one is not None]


urlpatterns = [
    path("c/<slug:slug>/team/", team, name="team"),
    path("c/<slug:slug>/team/data/", data, name="team-data"),
    path("c/<slug:slug>/team/map/", show_map, name="team-map"),
    path("c/<slug:slug>/team/defence/", defence, name="team-defence"),
    path("c/<slug:slug>/team/appeal/", appeal, name="team-appeal"),
    path("c/<slug:slug>/team/question/", question, name="team-question"),
    path("c/<slug:slug>/files.zip", files_zip, name="files-zip"),
    path("c/<slug:slug>/files/<str:name>", file, name="file"),
]
