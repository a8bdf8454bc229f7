"""The organisers' pages: is everything all right, who takes part, what came in, may we publish?

Each renders the data that the API gives too; a post does one act and comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods

from tracecup.charts.arrivals import hours_chart
from tracecup.charts.matrices import heat_map
from tracecup.server.errors import Refused, not_found
from tracecup.server.models import LogEntry
from tracecup.server.organising import (
    acts_clock,
    acts_contest,
    acts_rounds,
    acts_rules,
    acts_teams,
    acts_texts,
)
from tracecup.server.organising import (
    data as run,
)
from tracecup.server.organising import (
    data_log as run_log,
)
from tracecup.server.organising import (
    data_scores as run_scores,
)
from tracecup.server.organising import (
    data_site as run_site,
)
from tracecup.server.organising import (
    data_teams as run_teams,
)
from tracecup.server.organising.act import Act, acts_on, at_place
from tracecup.server.organising.given import ActForm
from tracecup.server.organising.rulechange import history
from tracecup.server.people.forms import refuse
from tracecup.server.people.pages import site_of
from tracecup.server.teams.teamlist import teams_csv
from tracecup.server.web import words
from tracecup.server.web.context import Place, place

Data = Callable[[HttpRequest, Place], dict[str, Any]]


@dataclass(frozen=True)
class Page:
    """A page: its name, its template, its data, its acts."""

    name: str
    title: Any
    data: Data
    acts: Mapping[str, Act]

    @property
    def template(self) -> str:
        """Where its template is."""
        return f"organising/{self.name.removeprefix('run-')}.html"

    def view(self) -> Callable[..., HttpResponse]:
        """The page as Django wants it."""

        @require_http_methods(["GET", "HEAD", "POST"])
        def shown(request: HttpRequest, slug: str) -> HttpResponse:
            here = place(request, slug)
            here.role.require_organiser()
            return (
                self.post(request, here) if request.method == "POST" else self.show(request, here)
            )

        return shown

    def show(
        self, request: HttpRequest, here: Place, status: int = 200, **more: Any
    ) -> HttpResponse:
        """The page; `more` is what an act wants to show."""
        given: dict[str, ActForm] = more.pop("forms", {})
        chosen = {"team": request.GET["team"]} if "team" in request.GET else {}
        blank = {
            name: act.form(place=here, auto_id=f"{name}_%s", initial=chosen)
            for name, act in self.acts.items()
        }
        if chosen:
            for form in [*blank.values(), *given.values()]:
                form.hide("team")
        data = self.data(request, here)
        context = here.context(forms={**blank, **given}, title=self.title, **data, **more)
        return render(request, self.template, context, status=status)

    def post(self, request: HttpRequest, here: Place) -> HttpResponse:
        """Do one act; a refusal is shown in its form."""
        name = request.POST.get("act", "")
        act = self.acts.get(name)
        if act is None:
            raise not_found("act")
        form = act.form(request.POST, request.FILES, place=here, auto_id=f"{name}_%s")
        with timezone.override(here.contest.rules.tzinfo):
            valid = form.is_valid()
        if not valid:
            return self.show(request, here, 422, forms={name: form}, failed=name)
        try:
            done = act.from_page(at_place(here, site_of(request)), form.cleaned_data)
        except Refused as error:
            refuse(form, error)
            # What the page says on top need not be said in the form again.
            if form.errors.get("__all__") == [error.message]:
                del form.errors["__all__"]
            return self.show(
                request,
                here,
                error.status,
                forms={name: form},
                failed=name,
                refused=error,
                has_lines=any(one.get("line") for one in error.problems),
            )
        if done.shown:
            if done.message:
                messages.success(request, done.message)
            return self.show(request, here, forms={name: form}, acted=name, **done.shown)
        messages.success(request, done.message)
        if done.goto:
            return redirect(done.goto if done.goto[0] == "/" else reverse("run", args=[done.goto]))
        return redirect(request.get_full_path())


def _run(request: HttpRequest, here: Place) -> dict[str, Any]:
    page = run.run_page(here.role, here.round)
    return {
        "page": page,
        "chart": hours_chart(page.hours, here.contest.rules.tzinfo, gettext),
        "came_in": any(one.releases or one.answers or one.rejected for one in page.hours),
        "phase_words": words.phase(page.round.phase if page.round else None),
    }


def _teams(request: HttpRequest, here: Place) -> dict[str, Any]:
    page = run_teams.teams_page(here.role, here.round)
    number = _number(request, "team")
    shown = next((team for team in page.teams if team.number == number), None)
    return {"page": page, "shown": shown}


def _submissions(request: HttpRequest, here: Place) -> dict[str, Any]:
    page = run_teams.submissions_page(
        here.role,
        here.round,
        state=request.GET.get("state", ""),
        kind=request.GET.get("kind", ""),
        team=_number(request, "team"),
        page=_number(request, "page") or 1,
        show=request.GET.get("show", ""),
    )
    return {"page": page, "query": _query(request, "page", "show")}


def _judge(request: HttpRequest, here: Place) -> dict[str, Any]:
    return {"page": run_scores.judge_page(here.role, here.round)}


def _scores(request: HttpRequest, here: Place) -> dict[str, Any]:
    page = run_scores.scores_page(here.role, here.round, _number(request, "set"))
    shown = [one.facts() for one in page.matrices if one.attackers]
    return {"page": page, "charts": [heat_map(one, gettext, detailed=True) for one in shown]}


def _settings(request: HttpRequest, here: Place) -> dict[str, Any]:
    """The rules; `?entry=N` puts the text of an earlier change into the editor."""
    number = _number(request, "entry")
    entry = next((one for one in history(here.contest) if one.number == number), None)
    earlier = ((entry.before or {}) if entry else {}).get("rules")
    return {"page": run_site.settings_page(here.role), "earlier": earlier}


def _texts(request: HttpRequest, here: Place) -> dict[str, Any]:
    return {"page": run_site.texts_page(here.role)}


def _audit(request: HttpRequest, here: Place) -> dict[str, Any]:
    page = run_log.audit_page(
        here.role,
        action=request.GET.get("action", "")[:60],
        actor=request.GET.get("actor", "")[:160],
        text=request.GET.get("text", "")[:200],
        page=_number(request, "page") or 1,
        check="check" in request.GET,
    )
    return {"page": page, "query": _query(request, "page")}


def _backup(request: HttpRequest, here: Place) -> dict[str, Any]:
    return {"page": run_site.backup_page(here.role)}


DECLARED = (
    acts_clock.ACTS,
    acts_contest.ACTS,
    acts_rules.ACTS,
    acts_teams.ACTS,
    acts_teams.OF_TEAMS,
    acts_texts.ACTS,
    acts_rounds.ACTS,
)
PAGES = tuple(
    Page(name, title, data, acts_on(name, DECLARED))
    for name, title, data in (
        ("run", _("Run"), _run),
        ("run-teams", _("Teams"), _teams),
        ("run-submissions", _("Submissions"), _submissions),
        ("run-judge", _("Judge"), _judge),
        ("run-scores", _("Scores"), _scores),
        ("run-settings", _("Settings"), _settings),
        ("run-texts", _("Texts"), _texts),
        ("run-audit", _("Log"), _audit),
        ("run-backup", _("Backup"), _backup),
    )
)


@require_GET
def teams_export(request: HttpRequest, slug: str) -> HttpResponse:
    """Who takes part, with names, as a table that can be put in again."""
    here = place(request, slug)
    here.role.require_organiser()
    # Spreadsheets take a file without a mark for one in the machine's own encoding.
    content = "\ufeff" + teams_csv(here.contest)
    response = HttpResponse(content, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{here.contest.slug}-teams.csv"'
    return response


@require_GET
def log_export(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """The contest's entries of the log, one JSON object a line, oldest first."""
    here = place(request, slug)
    here.role.require_organiser()
    rows = LogEntry.objects.filter(contest=here.contest.slug).order_by("number")
    entries = (run_log.log_row(one) for one in rows.iterator())
    lines = (one.model_dump_json(exclude=run_log.NAMES_OF_TODAY) + "\n" for one in entries)
    response = StreamingHttpResponse(lines, content_type="application/x-ndjson")
    response["Content-Disposition"] = f'attachment; filename="{here.contest.slug}-log.jsonl"'
    return response


def _number(request: HttpRequest, name: str) -> int | None:
    """A whole number of the address; anything else is none."""
    said = request.GET.get(name, "")
    return int(said) if said.isascii() and said.isdigit() and len(said) < 10 else None


def _query(request: HttpRequest, *without: str) -> str:
    """The address's parameters, less some."""
    kept = request.GET.copy()
    for name in without:
        kept.pop(name, None)
    return str(kept.urlencode())


urlpatterns = [
    *(
        path(
            f"c/<slug:slug>/run/{page.name.removeprefix('run').removeprefix('-')}/".replace(
                "//", "/"
            ),
            page.view(),
            name=page.name,
        )
        for page in PAGES
    ),
    path("c/<slug:slug>/run/teams/teams.csv", teams_export, name="run-teams-export"),
    path("c/<slug:slug>/run/audit/log.jsonl", log_export, name="run-audit-export"),
]
