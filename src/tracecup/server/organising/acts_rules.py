"""What organisers can do with the rules in fields: no file has to be opened.

Each function is declared once as an act of the page of settings and of the API; the text itself is
changed in `acts_contest`. What is left out stays as it is, also what no field is about.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Annotated, Any, TypeVar, cast

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from ninja import Field, Schema
from pydantic import create_model

from tracecup.contest.rules import PHASES, RoundRules
from tracecup.contest.rules.values import MAX_ZONE, Flag, Number, Whole, Word, Zone
from tracecup.server.errors import Refused
from tracecup.server.organising import data_site as run_site
from tracecup.server.organising import rulechange, running
from tracecup.server.organising.act import CONTEST, ROUND, Acts, At, Done, Route
from tracecup.server.organising.given import HIDDEN, Confirmed, Shown, rows
from tracecup.server.organising.rulefields import (
    LENGTHS,
    Plan,
    beside_fields,
    lengths_of,
    values_of,
    with_round,
    with_values,
)
from tracecup.server.organising.rulesasked import ASKED, AskedRule, kind_of
from tracecup.server.organising.rulewords import LABELS, VALUES
from tracecup.server.reasons import MAX_REASON
from tracecup.server.web.choosing import zones
from tracecup.server.web.context import Place

Body = TypeVar("Body", bound=type[Schema])
ACTS = Acts()
RULES = CONTEST + "/run/rules"
MOST = timedelta(days=3660)
SAMPLE_CHOICES = [
    ("", _("as they are in the file")),
    ("paper", _("those of the paper")),
    ("strong", _("strong ones, which tell how private a release is")),
    ("organisers2019", _("those of the contest of 2019")),
]


def _rule(name: str, label: Any, help: Any = "", choices: Any = (), **options: Any) -> Shown:
    """A field for a rule, with the value of today."""

    def initial(place: Place) -> Any:
        return values_of(place.contest.rules)[name]

    return Shown(label, help, choices, initial, options=options)


def _field(one: AskedRule) -> tuple[Any, Any]:
    """The type and the limits of a field, by what its key may hold."""
    kind = kind_of(one.key)
    taken: Any = str
    choices: Any = ()
    limits: dict[str, Any] = {}
    if isinstance(kind, Flag):
        taken = bool
    elif isinstance(kind, Whole):
        taken, limits = int, {"ge": kind.low, "le": kind.high}
    elif isinstance(kind, Number):
        taken, limits = float, {"gt" if kind.above else "ge": kind.low, "le": kind.high}
    elif isinstance(kind, Word):
        choices = [(word, VALUES[one.key, word]) for word in kind.words]
        limits = {"pattern": f"^({'|'.join(kind.words)})$"}
    elif isinstance(kind, Zone):
        choices, limits = zones(), {"max_length": MAX_ZONE}
    else:
        raise TypeError(f"no field is known for {one.key}, which holds {kind.expected}")
    shown = _rule(one.name, LABELS[one.key], one.help, choices)
    return Annotated[taken | None, shown], Field(None, **limits)


def _asking(body: Body) -> Body:
    """The same body with a field for every rule of `ASKED`; each may be left out."""
    made: Any = {one.name: _field(one) for one in ASKED if one.key}
    made |= {"__base__": body, "__doc__": body.__doc__, "__module__": body.__module__}
    return cast(Body, create_model(body.__name__, **made))


@_asking
class RuleValues(Schema):
    """Rules in fields; what is left out stays as it is."""

    rounds: Annotated[
        list[str] | None,
        _rule(
            "rounds",
            _("Rounds"),
            _("One name per line, in order: small letters, digits, hyphens."),
            **rows(2),
        ),
    ] = Field(None, max_length=20)
    samples: Annotated[
        str | None,
        _rule(
            "samples",
            _("Sample attacks"),
            _("The judge runs them on every release; all count."),
            SAMPLE_CHOICES,
        ),
    ] = Field(None, max_length=40)


class RuleFields(RuleValues, Confirmed):
    """Changed rules; `version` is the one they were made from."""

    name: Annotated[str | None, _rule("name", LABELS["name"])] = Field(None, max_length=200)
    version: Annotated[
        int | None, Shown(initial=lambda place: place.contest.rules_version, options=HIDDEN)
    ] = Field(None, ge=1, le=2**31 - 1)


class RulesQuestion(RuleFields):
    """Rules to be looked at; they need no reason yet."""

    why: Annotated[str, Shown(_("Reason"), _("Required to save; kept in the log permanently."))] = (
        Field("", max_length=MAX_REASON)
    )


@ACTS.act("run-settings", Route("POST", RULES + "/fields/plan", run_site.PlanRow))
def fields_check(at: At, body: RulesQuestion) -> Done:
    """What other rules, in fields, would do; changes nothing."""
    text = with_values(at.contest.rules_text, body.dict())
    plan = rulechange.plan_rules(at.contest, text)
    _require_possible(plan)
    row = run_site.plan_row(plan)
    return Done("", lambda: row, {"plan": row})


@ACTS.act("run-settings", Route("PATCH", RULES, run_site.PlanRow))
def fields_save(at: At, body: RuleFields) -> Done:
    """Change rules, given in fields; what is left out stays as it is."""
    text = with_values(at.contest.rules_text, body.dict())
    done = _change(at, text, body, body.version)
    said = gettext("The rules were changed. The text before is in the list below.")
    return Done(said, lambda: run_site.plan_row(done))


def _require_possible(plan: rulechange.RulesPlan) -> None:
    """A problem that has a field is said beside it."""
    if plan.problems:
        raise Refused(
            "invalid", gettext("These rules cannot be accepted."), beside_fields(plan.problems)
        )


def _change(at: At, text: str, body: Confirmed, version: int | None = None) -> rulechange.RulesPlan:
    """Take a text that fields made; what is wrong is said beside them."""
    try:
        return rulechange.change_rules(at.contest, text, at.actor, body.why, version, body.confirm)
    except Refused as error:
        problems = beside_fields(error.problems)
        raise Refused(error.code, error.message, problems, **error.details) from None


def _length(place: Place, name: str) -> timedelta | None:
    return lengths_of(place.round.rules.phases).get(name) if place.round else None


def lasts(label: Any, name: str) -> Shown:
    """How long a part of a round lasts, as it is now."""
    return Shown(label, initial=lambda place: _length(place, name))


def _starts(place: Place) -> datetime | None:
    now = place.round.rules.phases.announce if place.round else None
    return now and now.astimezone(place.contest.rules.tzinfo).replace(tzinfo=None)


LENGTH_LABELS = (
    _("Teams have their data before anonymization begins"),
    _("Anonymization"),
    _("Judge"),
    _("Attack"),
)


class Lengths(Schema):
    """How long the parts of a round last; the API takes ISO 8601 durations."""

    preparing: Annotated[timedelta, lasts(LENGTH_LABELS[0], LENGTHS[0])] = Field(
        gt=timedelta(0), le=MOST
    )
    anonymizing: Annotated[timedelta, lasts(LENGTH_LABELS[1], LENGTHS[1])] = Field(
        gt=timedelta(0), le=MOST
    )
    judging: Annotated[timedelta, lasts(LENGTH_LABELS[2], LENGTHS[2])] = Field(
        gt=timedelta(0), le=MOST
    )
    attacking: Annotated[timedelta, lasts(LENGTH_LABELS[3], LENGTHS[3])] = Field(
        gt=timedelta(0), le=MOST
    )


class Beginning(Confirmed):
    """When a round begins; without an offset in the contest's zone."""

    starts: Annotated[datetime, Shown(_("Announcement: teams get their data"), initial=_starts)]


class Schedule(Lengths, Beginning):
    """When a round begins and how long its parts last; with `follow` later rounds move along."""

    follow: Annotated[bool, Shown(_("Later rounds keep their distance"))] = True


@ACTS.act("run-settings", Route("PUT", ROUND + "/schedule", run_site.PlanRow, in_round=True))
def schedule(at: At, body: Schedule) -> Done:
    """Times of a round by its beginning and the lengths of its parts."""
    phases = Plan(body.starts, [getattr(body, name) for name in LENGTHS]).phases()
    try:
        plan = running.set_phases(
            at.require_round(),
            {phase: getattr(phases, phase) for phase in PHASES},
            at.actor,
            body.why,
            body.confirm,
            follow=body.follow,
        )
    except Refused as error:
        problems = [{**one, "field": _part(one.get("field", ""))} for one in error.problems]
        raise Refused(error.code, error.message, problems, **error.details) from None
    return Done(gettext("The phases have their times."), lambda: run_site.plan_row(plan))


def _part(phase: str) -> str:
    """The field that moves a phase: of the first its instant, of others the length before."""
    if phase not in PHASES:
        return phase
    return ("starts", *LENGTHS)[PHASES.index(phase)]


def _of_round(name: str) -> Callable[[Place], Any]:
    def now(place: Place) -> Any:
        return getattr(place.round.rules, name) if place.round else None

    return now


class RoundFields(Confirmed):
    """Another weight or other days of a round."""

    weight: Annotated[
        float | None,
        Shown(
            LABELS["weight"],
            _("Scores of the rounds are added with these weights."),
            initial=_of_round("weight"),
        ),
    ] = Field(None, ge=0, le=1e6)
    days: Annotated[
        int | None,
        Shown(
            LABELS["days"],
            _("0: as many as in the other rounds."),
            initial=lambda place: _of_round("days")(place) or 0,
        ),
    ] = Field(None, ge=0, le=3660)


@ACTS.act("run-settings", Route("PATCH", ROUND, run_site.PlanRow, in_round=True))
def round_fields(at: At, body: RoundFields) -> Done:
    """Weight and days of a round."""
    found: RoundRules = at.require_round().rules
    text = with_round(at.contest.rules_text, found.name, body.dict())
    done = _change(at, text, body)
    return Done(gettext("Saved."), lambda: run_site.plan_row(done))
