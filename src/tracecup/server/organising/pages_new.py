"""The page on which staff make a contest: fields with a size to begin with, the file for experts.

Fields are put into the file's text, so that what no field is about stays as it is.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from tracecup.contest.rules.file import rules_text
from tracecup.contest.rules.values import zone_of
from tracecup.errors import InvalidParameter
from tracecup.server.access import Actor
from tracecup.server.errors import Refused, not_found
from tracecup.server.models import Person
from tracecup.server.organising import contests
from tracecup.server.organising import data_site as run_site
from tracecup.server.organising.acts_rules import LENGTH_LABELS, RuleValues
from tracecup.server.organising.given import INSTANT_FORMATS, fields_of, instant_widget, keep
from tracecup.server.organising.lengths import LengthField
from tracecup.server.organising.rulechange import read_text, tidy
from tracecup.server.organising.rulefields import (
    LENGTHS,
    Plan,
    beside_fields,
    lengths_of,
    values_of,
    with_values,
)
from tracecup.server.organising.sizes import SIZES
from tracecup.server.people.forms import refuse
from tracecup.server.web.context import person_of

MAX_RULES = 256 * 1024
KEPT = ("name", "slug", "is_public", "join_open", "divisions", "zone", "starts")
"""What somebody typed and a size or a file does not change."""


class NewForm(forms.Form):
    """A new contest; the fields of its rules are those of the settings."""

    name = forms.CharField(label=_("Name"), max_length=200)
    slug = forms.CharField(
        label=_("Address"),
        max_length=60,
        help_text=_("Small letters, digits, hyphens; the contest will be at /c/ADDRESS/."),
    )
    is_public = forms.BooleanField(label=_("Everybody may see this contest"), required=False)
    join_open = forms.BooleanField(label=_("Teams may register themselves"), required=False)
    divisions = forms.CharField(
        label=_("Divisions"),
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("One per line; empty if there are none."),
    )
    starts = forms.DateTimeField(
        label=_("Announcement: teams get their data"),
        required=False,
        input_formats=INSTANT_FORMATS,
        widget=instant_widget(INSTANT_FORMATS[0]),
        help_text=_(
            "Year-month-day, 24-hour clock, in the time zone above. Empty: set the times later."
        ),
    )
    between = LengthField(label=_("Between two rounds"), required=False)
    base = forms.CharField(
        max_length=MAX_RULES, strip=False, required=False, widget=forms.HiddenInput
    )
    text = forms.CharField(
        label=_("Rules (contest.toml)"),
        max_length=MAX_RULES,
        strip=False,
        required=False,
        widget=forms.Textarea(attrs={"class": "code", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.fields |= fields_of(RuleValues, {})[0]
        for name, label in zip(LENGTHS, LENGTH_LABELS, strict=True):
            self.fields[name] = LengthField(label=label, required=False)
        for name, value in self.initial.items():
            keep(self.fields[name], value)

    def is_valid(self) -> bool:
        """Instants are in the zone that was chosen in the same form."""
        try:
            zone = zone_of(str(self.data.get("zone") or "UTC"))
        except InvalidParameter:
            zone = zone_of("UTC")
        with timezone.override(zone):
            return super().is_valid()

    def clean(self) -> dict[str, Any]:
        """A beginning needs all lengths, several rounds the time between them."""
        held = self.cleaned_data
        if held.get("starts"):
            wanted = [*LENGTHS, *(["between"] if len(held.get("rounds") or []) > 1 else [])]
            for name in wanted:
                if name not in self.errors and held.get(name) is None:
                    self.add_error(name, gettext("Needed for the times."))
        return held

    def rules_text(self) -> str:
        """The text of the rules that the fields say, put into the text they began with."""
        held = self.cleaned_data
        plan = None
        if held["starts"]:
            lengths = [held[name] for name in LENGTHS]
            plan = Plan(held["starts"], lengths, held["between"] or lengths[0] * 0)
        return with_values(tidy(held["base"]), held, plan)

    def file_was_edited(self) -> bool:
        """Whether somebody typed into the file."""
        return tidy(self.cleaned_data["text"]).strip() != tidy(self.cleaned_data["base"]).strip()


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Create a contest, or bring a deleted one back."""
    person = person_of(request)
    page = run_site.new_page(person)
    actor = Actor(person, "page")
    act = request.POST.get("act", "create")
    if act == "undelete":
        return _undelete(request, person, actor)
    if request.method != "POST":
        return _shown(request, page, _of_size(request.GET.get("size", ""), {}))
    run_site.require_staff(person)
    if act.startswith("size-"):
        return _shown(request, page, _of_size(act.removeprefix("size-"), request.POST))
    if act == "to_fields":
        return _to_fields(request, page)
    return _made(request, page, actor, act)


def _made(request: HttpRequest, page: run_site.NewPage, actor: Actor, act: str) -> HttpResponse:
    """Write the file that the fields say, or create the contest."""
    form = NewForm(request.POST)
    if not form.is_valid():
        return _shown(request, page, form, 422)
    try:
        if act == "to_file":
            text = form.rules_text()
            shown = NewForm(initial={**form.cleaned_data, "text": text, "base": text})
            return _shown(request, page, shown, opened=True)
        made = _create(form, actor, from_file=act == "create_file")
    except Refused as error:
        return _refused(request, page, form, error, act)
    messages.success(request, gettext("The contest exists. Next: teams, texts, a rehearsal."))
    return redirect("run", made.slug)


def _create(form: NewForm, actor: Actor, *, from_file: bool) -> Any:
    held = form.cleaned_data
    if not from_file and form.file_was_edited():
        raise Refused(
            "conflict",
            gettext(
                "The file was edited: create the contest from the file, or read the fields from "
                "it first."
            ),
        )
    return contests.create_contest(
        actor,
        name=held["name"],
        slug=held["slug"],
        rules_text=held["text"] if from_file else form.rules_text(),
        is_public=held["is_public"],
        join_open=held["join_open"],
        divisions=held["divisions"].splitlines(),
    )


def _of_size(name: str, typed: Any) -> NewForm:
    """The form with the values of a size; what was typed about the contest itself stays."""
    size = SIZES.get(name) or SIZES["class"]
    text = rules_text(size.rules)
    held = _typed(typed)
    lengths = dict(zip(LENGTHS, size.lengths, strict=True))
    given = values_of(size.rules) | lengths | {"between": size.between, "name": ""}
    return NewForm(initial={**_known(given), **held, "base": text, "text": text})


def _to_fields(request: HttpRequest, page: run_site.NewPage) -> HttpResponse:
    """The fields as a text says; a text with mistakes is shown with them."""
    text = tidy(request.POST.get("text", ""))
    try:
        rules = read_text(text)
    except Refused as error:
        form = NewForm(request.POST)
        form.is_valid()
        return _refused(request, page, form, error, "create_file")
    phases = rules.rounds[0].phases
    given: dict[str, Any] = values_of(rules) | lengths_of(phases)
    typed = _typed(request.POST)
    held = {**typed, **given, "name": typed.get("name") or given["name"]}
    if phases.announce is not None:
        held["starts"] = phases.announce.astimezone(rules.tzinfo).replace(tzinfo=None)
    shown = NewForm(initial={**_known(held), "base": text, "text": text})
    return _shown(request, page, shown)


def _typed(data: Any) -> dict[str, Any]:
    return {name: data[name] for name in KEPT if name in data}


def _known(values: dict[str, Any]) -> dict[str, Any]:
    """Values that the form has a field for, as it holds them."""
    names = {*NewForm().fields}
    return {name: value for name, value in values.items() if name in names}


def _refused(
    request: HttpRequest, page: run_site.NewPage, form: NewForm, error: Refused, act: str
) -> HttpResponse:
    """A refusal: beside its field, or, where it is about the file, with its lines."""
    from_file = act == "create_file"
    if not from_file:
        error = Refused(error.code, error.message, beside_fields(error.problems), **error.details)
    refuse(form, error)
    # What the page says on top need not be said in the form again.
    if form.errors.get("__all__") == [error.message]:
        del form.errors["__all__"]
    opened = from_file or error.code == "conflict"
    return _shown(request, page, form, error.status, refused=error, opened=opened)


def _shown(
    request: HttpRequest, page: run_site.NewPage, form: NewForm, status: int = 200, **more: Any
) -> HttpResponse:
    context = {"page": page, "form": form, "sizes": SIZES, **more}
    return render(request, "organising/new.html", context, status=status)


def _undelete(request: HttpRequest, person: Person | None, actor: Actor) -> HttpResponse:
    slug = request.POST.get("slug", "")
    found = next((one for one in run_site.deleted_contests(person) if one.slug == slug), None)
    if found is None:
        raise not_found("contest")
    contests.undelete(found, actor)
    messages.success(request, gettext("The contest is back as it was."))
    return redirect("run", found.slug)


urlpatterns = [path("new/", new, name="run-new")]
