"""Template tags of the site: times, states, gauges, forms, charts.

Pages hand in `contest`, `now` and `role`; the tags read them from the context.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, tzinfo
from typing import Any
from urllib.parse import urlsplit

from django import template
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.html import format_html, json_script
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from tracecup.charts.figure import FOLLOW_THE_PAGE, Figure
from tracecup.contest.rules.values import zone_of
from tracecup.facts import ReleaseFacts
from tracecup.score.utility import is_valid
from tracecup.server import clock
from tracecup.server.lessons import words as lessonwords
from tracecup.server.people.pages import site_of
from tracecup.server.results import naming
from tracecup.server.teams import words as teamwords
from tracecup.server.web import words
from tracecup.server.web.charts import script_url

register = template.Library()
COMPONENTS = "web/components"
# Words that templates ask for by the name of a thing.
WORDS: dict[str, Callable[..., str]] = {
    "size": words.size,
    "phase_title": words.phase,
    "phase_about": words.phase_about,
    "challenge_title": words.kind,
    "verdict": words.verdict,
    "file_about": teamwords.file_about,
    "not_eligible": teamwords.not_eligible,
    "measure_title": lessonwords.measure,
    "goal_words": lambda goal: lessonwords.goal(goal.measure, goal.most, goal.least),
    "step_words": teamwords.step,
    "step_button": teamwords.step_button,
    "file_group": lambda key: teamwords.file_group(key)[0],
    "file_group_about": lambda key: teamwords.file_group(key)[1],
    "award_title": lambda key: naming.award(key)[0],
    "award_measure": lambda key: naming.award(key)[1],
    "refusal_title": lambda code: words.refusal(code)[0],
    "refusal_advice": lambda code: words.refusal(code)[1],
}
for _name, _function in WORDS.items():
    register.filter(_name, _function)
register.simple_tag(words.gap)


@register.inclusion_tag(f"{COMPONENTS}/when.html", takes_context=True)
def when(
    context: template.Context,
    at: datetime | str | None,
    relative: bool = True,
    real: bool = False,
) -> Any:
    """An instant: in the contest's zone, in the viewer's where it differs, and from now.

    `real`: it was taken from the server's clock and not from the contest's, which in a
    demonstration runs ahead: entries of the log, sessions, announcements, jobs.
    """
    zone = getattr(getattr(context.get("contest"), "rules", None), "tzinfo", None)
    now = None if real else context.get("now")
    return _shown(at, zone, now or clock.now(), relative=relative)


@register.inclusion_tag(f"{COMPONENTS}/when.html")
def when_in(at: datetime | None, zone: str, now: datetime | None = None) -> Any:
    """An instant in a named zone, for lists of several contests."""
    return _shown(at, zone_of(zone), now or clock.now(), relative=True)


@register.simple_tag
def left(until: datetime | None, now: datetime | None = None) -> SafeString | str:
    """The time left until an instant, kept up to date in the browser."""
    if until is None:
        return ""
    seconds = (until - (now or clock.now())).total_seconds()
    return format_html(
        '<span class="left" data-left="{}">{}</span>', str(round(seconds)), words.relative(seconds)
    )


@register.simple_tag
def words_block() -> SafeString:
    """The words that site.js needs, in the page's language."""
    return json_script(words.for_script(), "words")


@register.inclusion_tag(f"{COMPONENTS}/badge.html")
def badge(state: str) -> Any:
    """A state as a sign and a word; colour only repeats it."""
    sign, tone = words.SIGNS.get(state, ("•", ""))
    return {"sign": sign, "tone": tone, "words": words.state(state)}


@register.inclusion_tag(f"{COMPONENTS}/problems.html")
def problems(rows: Sequence[Any]) -> Any:
    """The first ten bad places of a file or form."""
    return {"rows": [one if isinstance(one, Mapping) else _dump(one) for one in rows[:10]]}


@register.filter
def strongest(attackers: Iterable[Any]) -> list[Any]:
    """Attackers by what they left of the others, the strongest first; without a sum last."""
    return sorted(attackers, key=lambda one: (one.sum is None, one.sum or 0.0))


@register.inclusion_tag(f"{COMPONENTS}/gauge.html")
def gauge(
    value: float | None,
    floor: float | None = None,
    low: float | None = None,
    high: float | None = None,
    label: str = "",
) -> Any:
    """A number from 0 to 1 as a bar, against a floor, with its interval."""
    shown = 0.0 if value is None else min(max(value, 0.0), 1.0)
    text = _("not known") if value is None else f"{value:.4f}"
    sentence = f"{label}: {text}" if label else text
    below = value is not None and floor is not None and not is_valid(value, floor)
    if floor is not None:
        side = _("below the floor of {floor}") if below else _("not below the floor of {floor}")
        sentence += f", {side.format(floor=f'{floor:g}')}"
    return {
        "below": below,
        "words": sentence,
        "width": round(380 * shown, 1),
        "value_x": _x(shown),
        "value_anchor": _anchor(shown),
        "value_text": text,
        "floor_x": None if floor is None else _x(floor),
        "floor_anchor": _anchor(floor or 0.0),
        "floor_text": None if floor is None else f"{floor:g}",
        "spread": low is not None and high is not None,
        "low_x": _x(low or 0.0),
        "high_x": _x(high or 0.0),
    }


@register.inclusion_tag(f"{COMPONENTS}/pager.html", takes_context=True)
def pager(context: template.Context, page: Any) -> Any:
    """Links to the pages before and after; the other parameters of the address stay."""
    query = context["request"].GET.copy()

    def address(number: int) -> str:
        query["page"] = str(number)
        return f"?{query.urlencode()}"

    return {
        "page": page,
        "before": address(page.number - 1),
        "after": address(page.number + 1),
    }


@register.inclusion_tag(f"{COMPONENTS}/field.html")
def field(field: Any) -> Any:
    """A form's field: label, input, help and errors, tied together for screen readers."""
    attributes = {}
    described = [f"{field.auto_id}_helptext"] if field.help_text else []
    if field.errors:
        attributes["aria-invalid"] = "true"
        described.append(f"{field.auto_id}_error")
    if described:
        attributes["aria-describedby"] = " ".join(described)
    return {
        "field": field,
        "checkbox": getattr(field.field.widget, "input_type", "") == "checkbox",
        "input": field.as_widget(attrs=attributes),
    }


@register.inclusion_tag(f"{COMPONENTS}/form.html")
def fields(form: Any) -> Any:
    """All fields of a form, with the errors of the whole form on top."""
    return {"form": form}


@register.inclusion_tag(f"{COMPONENTS}/command.html")
def command(text: str) -> Any:
    """A command to copy."""
    return {"text": text}


@register.inclusion_tag(f"{COMPONENTS}/deadline.html", takes_context=True)
def deadline(context: template.Context, window: Any) -> Any:
    """The exact rule of a deadline, for the place next to the button."""
    return {"window": window, "contest": context.get("contest"), "now": context.get("now")}


@register.inclusion_tag(f"{COMPONENTS}/crumbs.html")
def crumbs(*parts: str) -> Any:
    """The way here: name, address, name, address, ..., and the name of this page."""
    pairs = [
        (parts[k], parts[k + 1] if k + 1 < len(parts) else "") for k in range(0, len(parts), 2)
    ]
    return {"crumbs": pairs}


@register.inclusion_tag(f"{COMPONENTS}/crumbs.html", takes_context=True)
def contest_crumbs(context: template.Context, *parts: str, via: str = "") -> Any:
    """The way to a page of a contest; `via` is the page above it: `team`, `run` or none."""
    contest = context["contest"]
    above = [_("Contests"), reverse("home"), contest.name, reverse("contest", args=[contest.slug])]
    if via:
        name = context["team"].name if via == "team" else _("Run")
        above += [name, reverse(via, args=[contest.slug])]
    return crumbs(*above, *parts)


@register.inclusion_tag(f"{COMPONENTS}/nav.html", takes_context=True)
def contest_nav(context: template.Context) -> Any:
    """The pages of a contest that the viewer has."""
    role, request = context["role"], context["request"]
    here = getattr(getattr(request, "resolver_match", None), "url_name", "")
    rows = [[("contest", _("The contest")), ("results", _("Results"))]]
    if role.team is not None:
        rows[0] += [
            ("team", _("Our team")),
            ("team-data", _("Data")),
            ("team-map", _("Map")),
            ("team-release", _("Release")),
            ("team-attack", _("Attack")),
            ("team-defence", _("Defence")),
            ("team-members", _("Members")),
        ]
        if role.contest.rules.lessons.open:
            rows[0].append(("lessons", _("Lessons")))
    if role.organiser:
        rows.append(
            [
                ("run", _("Run")),
                ("run-teams", _("Teams")),
                ("run-submissions", _("Submissions")),
                ("run-judge", _("Judge")),
                ("run-scores", _("Scores")),
                ("run-settings", _("Settings")),
                ("run-texts", _("Texts")),
                ("run-audit", _("Log")),
                ("run-backup", _("Backup")),
            ]
        )
        if role.contest.rules.lessons.open:
            rows[1].append(("run-lessons", _("Lessons")))
    slug = role.contest.slug
    linked = [
        [
            {"name": name, "url": url, "here": key == here}
            for key, name in row
            if (url := _address(key, slug))
        ]
        for row in rows
    ]
    return {"contest": role.contest, "rows": [row for row in linked if row]}


@register.inclusion_tag(f"{COMPONENTS}/chart.html")
def chart(chart: Figure) -> Any:
    """A chart: place, text for those who do not see it, data, and the table behind it."""
    data = {
        "views": {
            view.key: {"spec": {**view.spec, **FOLLOW_THE_PAGE}, "aspect": view.aspect}
            for view in chart.views
        },
        "control": asdict(chart.control) if chart.control else None,
    }
    return {
        "chart": chart,
        "data": script_json(data),
        "last": len(chart.control.labels) - 1 if chart.control else 0,
    }


@register.simple_tag
def chart_script() -> SafeString:
    """The program that draws charts; for the `scripts` block of pages that have some."""
    return format_html('<script type="module" src="{}"></script>', script_url())


@register.simple_tag
def number_class(columns: Sequence[Any], place: int) -> SafeString:
    """The class of a cell in a column of numbers."""
    return mark_safe(' class="number"' if columns[place].number else "")


@register.filter
def score(value: float | None, places: int = 3) -> str:
    """A score with as many decimals everywhere; a dash where there is none."""
    return "–" if value is None else f"{value:.{places}f}"


@register.filter
def sum_command(name: str) -> str:
    """The command that tells a file's SHA-256; a name from elsewhere is quoted."""
    return f"sha256sum -- {shlex.quote(name)}"


@register.filter
def own_address(address: str, request: HttpRequest) -> str:
    """An address of this site as its path, anything else as the first page."""
    parts = urlsplit(address)
    if parts.netloc and parts.netloc != request.get_host():
        return reverse("home")
    path = parts.path if parts.path.startswith("/") else "/"
    return "/" + path.lstrip("/") + (f"?{parts.query}" if parts.query else "")


@register.filter
def by_place(releases: Sequence[ReleaseFacts]) -> list[ReleaseFacts]:
    """Releases from the first place to the last, then those without a place."""
    return sorted(releases, key=lambda one: one.place or len(releases) + 1)


@register.inclusion_tag(f"{COMPONENTS}/command.html")
def client_command(contest: Any, verb: str, what: str = "") -> Any:
    """What does the same with the client."""
    return {"text": words.client_command(contest.slug, verb, what)}


@register.inclusion_tag(f"{COMPONENTS}/command.html", takes_context=True)
def client_login(context: template.Context, contest: Any = None) -> Any:
    """How the client on somebody's machine gets to know this server, and a contest of it."""
    page = reverse("contest", args=[contest.slug]) if contest else "/"
    return {"text": f"tracecup client login {site_of(context['request'])}{page}"}


@register.inclusion_tag(f"{COMPONENTS}/fact.html", takes_context=True)
def refusal_time(context: template.Context, name: str, at: Any) -> Any:
    """An instant of a refusal: when it opens, closed, arrived."""
    shown = {key: context.get(key) for key in ("contest", "now")}
    return {"name": words.instant(name), "at": at, **shown}


def script_json(data: Any) -> SafeString:
    """JSON for a data block: cannot end the element around it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return mark_safe(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _shown(
    at: datetime | str | None, zone: tzinfo | None, now: datetime, *, relative: bool
) -> dict[str, Any]:
    said = parse_datetime(at) if isinstance(at, str) else at
    if said is None:
        return {"at": None}
    here = timezone.get_current_timezone()
    there, mine = said.astimezone(zone or here), said.astimezone(here)
    differs = there.utcoffset() != mine.utcoffset()
    left = (said - now).total_seconds()
    return {
        "at": said,
        "shown": f"{there:%Y-%m-%d %H:%M} {there.tzname()}",
        "mine": f"{mine:%Y-%m-%d %H:%M} {mine.tzname()}" if differs else "",
        "left": str(round(left)),
        "relative": words.relative(left) if relative else "",
    }


def _dump(one: Any) -> Any:
    return {name: getattr(one, name, None) for name in ("line", "field", "found", "expected")}


def _x(value: float) -> float:
    return round(10 + 380 * min(max(value, 0.0), 1.0), 1)


def _anchor(value: float) -> str:
    return "start" if value < 0.12 else "end" if value > 0.88 else "middle"


def _address(key: str, slug: str) -> str:
    try:
        return str(reverse(key, args=[slug]))
    except NoReverseMatch:
        return ""
