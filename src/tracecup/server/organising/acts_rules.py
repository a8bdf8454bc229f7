"""What organisers can do with the rules in fields: no file has to be opened.

Each function is declared once as an act of the page of settings and of the API; the text itself is
changed in `acts_contest`. What is left out stays as it is, also what no field is about.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Annotated, Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from ninja import Field, Schema

from tracecup.contest.rules import PHASES, RoundRules
from tracecup.server.errors import Refused
from tracecup.server.organising import data_site as run_site
from tracecup.server.organising import rulechange, running
from tracecup.server.organising.act import CONTEST, ROUND, Acts, At, Done, Route
from tracecup.server.organising.given import HIDDEN, Choices, Confirmed, Shown, rows
from tracecup.server.organising.rulefields import (
    KEYS,
    LENGTHS,
    Plan,
    beside_fields,
    kind_of,
    lengths_of,
    values_of,
    with_round,
    with_values,
)
from tracecup.server.organising.rulewords import LABELS, VALUES
from tracecup.server.web.choosing import zones
from tracecup.server.web.context import Place

ACTS = Acts()
RULES = CONTEST + "/run/rules"
MOST = timedelta(days=3660)
SAMPLE_CHOICES = [
    ("", _("as they are in the file")),
    ("paper", _("those of the paper")),
    ("strong", _("strong ones, which tell how private a release is")),
    ("organisers2019", _("those of the contest of 2019")),
]


def _words(key: str) -> Choices:
    """The words that a key may hold, as a form offers them."""
    return [(word, said) for (one, word), said in VALUES.items() if one == key]


def _rule(name: str, help: Any = "", choices: Any = (), **options: Any) -> Shown:
    """A field for a rule: called as everywhere, with the value of today."""

    def initial(place: Place) -> Any:
        return values_of(place.contest.rules)[name]

    label = LABELS[KEYS[name]] if name in KEYS else ""
    return Shown(options.pop("label", label), help, choices, initial, options=options)


def _from_to(key: str) -> Any:
    """A number that may be left out, within the limits of a rule."""
    kind: Any = kind_of(key)
    return Field(None, ge=kind.low, le=kind.high)


class RuleValues(Schema):
    """Rules in fields; what is left out stays as it is."""

    zone: Annotated[str | None, _rule("zone", choices=zones())] = Field(None, max_length=60)
    users: Annotated[int | None, _rule("users")] = _from_to("users")
    days: Annotated[int | None, _rule("days")] = _from_to("clock.days")
    slots: Annotated[int | None, _rule("slots", _("From 8:00, every half hour."))] = _from_to(
        "clock.slots"
    )
    trace_inference: Annotated[bool | None, _rule("trace_inference")] = None
    reidentification: Annotated[bool | None, _rule("reidentification")] = None
    rounds: Annotated[
        list[str] | None,
        _rule(
            "rounds",
            _("One name per line, in order: small letters, digits, hyphens."),
            label=_("Rounds"),
            **rows(2),
        ),
    ] = Field(None, max_length=20)
    floor: Annotated[
        float | None,
        _rule("floor", _("From 0 to 1. A release with less utility is invalid; its privacy is 0.")),
    ] = _from_to("scores.utility_floor")
    release_tries: Annotated[
        int | None,
        _rule("release_tries", _("Releases per data set; the last one counts.")),
    ] = _from_to("limits.release_tries")
    attack_tries: Annotated[int | None, _rule("attack_tries", _("The stronger answer counts."))] = (
        _from_to("limits.attack_tries")
    )
    grace_seconds: Annotated[int | None, _rule("grace_seconds")] = _from_to("limits.grace_seconds")
    late_minutes: Annotated[
        int | None,
        _rule(
            "late_minutes",
            _("Accepted from teams without a release; the judge waits that long. 0: refused."),
        ),
    ] = _from_to("limits.late_minutes")
    feedback: Annotated[str | None, _rule("feedback", choices=_words("feedback.policy"))] = Field(
        None, pattern="^(none|bands|exact)$"
    )
    board: Annotated[str | None, _rule("board", choices=_words("feedback.board"))] = Field(
        None, pattern="^(none|valid|utility)$"
    )
    samples: Annotated[
        str | None,
        _rule(
            "samples",
            _("The judge runs them on every release; all count."),
            SAMPLE_CHOICES,
            label=_("Sample attacks"),
        ),
    ] = Field(None, max_length=40)
    attack_targets: Annotated[
        str | None, _rule("attack_targets", choices=_words("awards.attack_targets"))
    ] = Field(None, pattern="^(trace-inference|all)$")
    winner_excluded: Annotated[bool | None, _rule("winner_excluded")] = None
    lessons: Annotated[bool | None, _rule("lessons")] = None


class RuleFields(RuleValues, Confirmed):
    """Changed rules; `version` is the one they were made from."""

    name: Annotated[str | None, _rule("name")] = Field(None, max_length=200)
    version: Annotated[
        int | None, Shown(initial=lambda place: place.contest.rules_version, options=HIDDEN)
    ] = Field(None, ge=1, le=2**31 - 1)


class RulesQuestion(RuleFields):
    """Rules to be looked at; they need no reason yet."""

    why: Annotated[str, Shown(_("Reason"), _("Required to save; kept in the log permanently."))] = (
        Field("", max_length=2000)
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
