"""Which rules organisers are asked for in fields: the one place that puts a rule into the form.

A row names a key of the rules and its place on the page; what the field takes, the API's schema and
the choices follow from the key's declaration in `contest.rules`, its label from `rulewords`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, cast

from django.utils.translation import gettext_lazy as _

from tracecup.contest.rules import Rules
from tracecup.contest.rules.values import ValueKind

PLAYED = _("What is played")
SIZE = _("Size")
HANDING_IN = _("Handing in")
AWARDS = _("Sample attacks and awards")
GROUPS: tuple[Any, ...] = (PLAYED, SIZE, HANDING_IN, AWARDS)
"""The groups of fields on the page, in order."""


@dataclass(frozen=True)
class AskedRule:
    """A field: its name, the key it is about, its group on the page and what is said below it.

    Without a group it is asked beside what is no rule (the time zone, beside the name). Without a
    key it is about several keys at once, and `acts_rules.RuleValues` says what it takes.
    """

    name: str
    key: str
    group: Any = None
    help: Any = ""


ASKED: tuple[AskedRule, ...] = (
    AskedRule("zone", "zone"),
    AskedRule("users", "users", SIZE),
    AskedRule("days", "clock.days", SIZE),
    AskedRule("slots", "clock.slots", SIZE, _("From 8:00, every half hour.")),
    AskedRule("trace_inference", "challenges.trace_inference", PLAYED),
    AskedRule("reidentification", "challenges.reidentification", PLAYED),
    AskedRule("rounds", "", PLAYED),
    AskedRule(
        "floor",
        "scores.utility_floor",
        HANDING_IN,
        _("From 0 to 1. A release with less utility is invalid; its privacy is 0."),
    ),
    AskedRule(
        "release_tries",
        "limits.release_tries",
        HANDING_IN,
        _("Releases per data set; the last one counts."),
    ),
    AskedRule("attack_tries", "limits.attack_tries", HANDING_IN, _("The stronger answer counts.")),
    AskedRule("grace_seconds", "limits.grace_seconds", HANDING_IN),
    AskedRule(
        "late_minutes",
        "limits.late_minutes",
        HANDING_IN,
        _("Accepted from teams without a release; the judge waits that long. 0: refused."),
    ),
    AskedRule("feedback", "feedback.policy", HANDING_IN),
    AskedRule("board", "feedback.board", HANDING_IN),
    AskedRule("samples", "", AWARDS),
    AskedRule("attack_targets", "awards.attack_targets", AWARDS),
    AskedRule("winner_excluded", "awards.winner_excluded", AWARDS),
    AskedRule("lessons", "lessons.open", PLAYED),
)
KEYS: dict[str, str] = {"name": "name"} | {one.name: one.key for one in ASKED if one.key}
"""Name of a field -> key of the rules; the name is asked with what else a contest itself has."""


def kind_of(key: str) -> ValueKind:
    """What a key of the rules may hold.

    >>> kind_of("limits.attack_tries").expected
    'a whole number from 1 to 1000'
    """
    table, _dot, name = key.rpartition(".")
    held = getattr(Rules(), table) if table else Rules()
    found = next(one for one in fields(held) if one.name == name)
    return cast(ValueKind, found.metadata["spec"].kind)
