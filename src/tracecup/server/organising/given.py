"""What an organiser gives with an act: the fields of a body, and the page's form made from them.

A body is what the API takes; `Shown` in a field's annotation says how the page asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from django import forms
from django.conf import settings
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from ninja import Field, Schema
from pydantic_core import PydanticUndefined

from tracecup.server.organising.lengths import LengthField
from tracecup.server.reasons import MAX_REASON
from tracecup.server.web.choosing import Choosing
from tracecup.server.web.context import Place

Choices = Sequence[tuple[str, Any]]


@dataclass(frozen=True)
class Shown:
    """A field on the page: its label, and where they are not as usual name, choices and widget.

    `choices` and `initial` may depend on the place; `options` go to Django's field as they are.
    """

    label: Any = ""
    help: Any = ""
    choices: Choices | Callable[[Place], Choices] = ()
    initial: Callable[[Place], Any] | None = None
    name: str = ""
    kind: type[forms.Field] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


INSTANT_FORMATS = [
    f"%Y-%m-%d{between}{clock}" for between in (" ", "T") for clock in ("%H:%M", "%H:%M:%S")
]
HIDDEN: Mapping[str, Any] = {"widget": forms.HiddenInput}


def rows(count: int) -> Mapping[str, Any]:
    """A field of several lines."""
    return {"widget": forms.Textarea(attrs={"rows": count})}


def instant_widget(format: str) -> forms.DateTimeInput:
    """An instant as text on a 24-hour clock: browsers' own fields say AM and PM in some countries,
    and 12:00 at night was taken for noon.
    """
    shown = {
        "placeholder": "2030-04-03 18:00",
        "autocomplete": "off",
        "pattern": r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2})?",
    }
    return forms.DateTimeInput(attrs=shown, format=format)


def team_choices(place: Place) -> Choices:
    """Teams by number and name."""
    teams = place.contest.teams.filter(deleted_at=None)
    return [(str(team.number), f"{team.number} {team.name}") for team in teams]


Number = Annotated[int, Shown(name="id", options=HIDDEN)]
"""What an act is about, by its number in the address; on the page hidden in a row's form."""
TeamNumber = Annotated[int, Shown(_("Team"), choices=team_choices, name="team")]
"""The team that an act is about, by its number in the address; on the page chosen from a list."""
Reference = Annotated[str, Shown(name="ref", options={**HIDDEN, "max_length": 12})]
"""The submission that an act is about."""


def reason(help: Any) -> Shown:
    """The field for a reason."""
    widget = forms.TextInput(attrs={"autocomplete": "off"})
    return Shown(_("Reason"), help, options={"widget": widget})


class Why(Schema):
    """The reason; it is kept in the log."""

    why: Annotated[str, reason(_("It is kept in the log permanently."))] = Field(
        min_length=1, max_length=MAX_REASON
    )


class Confirmed(Why):
    """With `confirm`, the contest's address, what ends something at once is done all the same."""

    confirm: Annotated[str, Shown(_("To confirm"), options=HIDDEN)] = Field("", max_length=60)


class Switch(Why):
    """On or off."""

    on: Annotated[bool, Shown(options=HIDDEN)]


class ActForm(forms.Form):
    """A form of one act; it knows the place it is shown at."""

    shown: Mapping[str, Shown] = {}

    @property
    def is_row(self) -> bool:
        """Whether it is in a row of a table, where its errors have no place."""
        apart = ("confirm", "version", "team")
        held = [one for name, one in self.fields.items() if name not in apart]
        return any(isinstance(one.widget, forms.HiddenInput) for one in held)

    def __init__(self, *args: Any, place: Place, **more: Any) -> None:
        super().__init__(*args, **more)
        if "mail" in self.fields and not settings.CONFIG.mail_url:
            self.fields["mail"].help_text = _(
                "No mail server is set: letters are only printed where this server was started."
            )
        zone = {"zone": place.contest.rules.zone}
        for one in self.fields.values():
            if isinstance(one, forms.DateTimeField):
                told = _("Year-month-day, 24-hour clock, in the contest's time zone, %(zone)s.")
                one.help_text = format_lazy("{} {}", told % zone, one.help_text)
        for name, shown in self.shown.items():
            if callable(shown.choices):
                self.fields[name].choices = shown.choices(place)
            if shown.initial is not None:
                keep(self.fields[name], shown.initial(place))

    def hide(self, name: str) -> None:
        """Do not ask for what the page is about already."""
        if name in self.fields:
            self.fields[name].widget = forms.HiddenInput()


def keep(field: forms.Field, value: Any) -> None:
    """What a field begins with; a list of choices that lacks it gets it, so that it stays."""
    field.initial = value
    if isinstance(field, forms.ChoiceField) and value:
        choices = list(field.choices)
        if str(value) not in [str(key) for key, _said in choices]:
            field.choices = [*choices, (value, value)]


class Lines(forms.CharField):
    """Several texts, one a line."""

    widget = forms.Textarea

    def clean(self, value: Any) -> Any:
        return super().clean(value).splitlines()

    def prepare_value(self, value: Any) -> Any:
        """Lines as a text."""
        return "\n".join(value) if isinstance(value, list) else value


def form_of(body: type[Schema] | None, address: Mapping[str, Any]) -> type[ActForm]:
    """The page's form: what the address names, then the fields of the body, the reason last."""
    fields, looks = fields_of(body, address)
    return type("DerivedForm", (ActForm,), {**fields, "shown": looks})


def fields_of(
    body: type[Schema] | None, address: Mapping[str, Any]
) -> tuple[dict[str, forms.Field], dict[str, Shown]]:
    """Django's fields by name, and how each is shown."""
    asked = [
        (name, kind.__origin__, kind.__metadata__, PydanticUndefined)
        for name, kind in address.items()
    ]
    for name, info in (body.model_fields if body else {}).items():
        asked.append((name, info.annotation, tuple(info.metadata), info.default))
    asked.sort(key=lambda one: one[0] == "why")
    fields: dict[str, forms.Field] = {}
    looks: dict[str, Shown] = {}
    for name, kind, metadata, default in asked:
        shown = next((one for one in metadata if isinstance(one, Shown)), Shown())
        looks[shown.name or name] = shown
        fields[shown.name or name] = _field(kind, metadata, default, shown)
    return fields, looks


def _members(kind: Any) -> tuple[Any, ...]:
    """The types of a union; of anything else the type itself."""
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def _field(kind: Any, metadata: Iterable[Any], default: Any, shown: Shown) -> forms.Field:
    """Django's field for a type; what has a default that is not empty starts with it."""
    kinds = {get_origin(one) or one for one in _members(kind)}
    required = default is PydanticUndefined or bool(default)
    options: dict[str, Any] = {"label": shown.label, "help_text": shown.help}
    if default is not PydanticUndefined and default is not None:
        options["initial"] = default
    if shown.choices:
        made: type[forms.Field] = forms.TypedChoiceField
        options |= {"coerce": int if int in kinds else str, "widget": Choosing}
        options |= {"empty_value": None if int in kinds else ""}
        options |= {} if callable(shown.choices) else {"choices": shown.choices}
    elif bool in kinds:
        made, required = forms.BooleanField, False
    elif datetime in kinds:
        made = forms.DateTimeField
        options |= {
            "input_formats": INSTANT_FORMATS,
            "widget": instant_widget(INSTANT_FORMATS[0]),
        }
    elif timedelta in kinds:
        made = LengthField
    elif int in kinds or float in kinds:
        made = forms.IntegerField if int in kinds else forms.FloatField
        options["min_value"] = _limit(metadata, "ge")
        options["max_value"] = _limit(metadata, "le")
    elif list in kinds:
        made = Lines
    else:
        made = forms.CharField
        options["max_length"] = _limit(metadata, "max_length")
    return (shown.kind or made)(**{**options, "required": required, **shown.options})


def _limit(metadata: Iterable[Any], name: str) -> Any:
    """A limit of the body's field, where it has one."""
    return next((getattr(one, name) for one in metadata if hasattr(one, name)), None)
