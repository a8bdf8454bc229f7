"""The rules of a contest as the fields of a form: taken from the rules, put back into their text.

What no field is about stays in the text as it is; what is wrong is said beside its field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from django.utils.translation import gettext as _

from tracecup.contest.rules import (
    PHASES,
    PRESETS,
    ROUND_WEIGHTS,
    Phases,
    RoundRules,
    Rules,
    SampleRules,
)
from tracecup.contest.rules.file import MAX_ROUNDS, parse_rules
from tracecup.contest.rules.values import Refusal
from tracecup.errors import Problem
from tracecup.server.errors import Refused
from tracecup.server.organising.rulesasked import KEYS, kind_of
from tracecup.server.organising.ruletext import rewritten
from tracecup.server.organising.rulewords import CONFLICTS
from tracecup.server.reasons import check_instant

LENGTHS = ("preparing", "anonymizing", "judging", "attacking")
"""How long it is from each phase to the next."""


@dataclass(frozen=True)
class Plan:
    """When rounds take place: the first instant, lengths from phase to phase, the gap between."""

    starts: datetime
    lengths: Sequence[timedelta]
    between: timedelta = timedelta(0)

    def phases(self, k: int = 0) -> Phases:
        """The phases of the round number k."""
        check_instant(self.starts)
        try:
            at = self.starts + k * (sum(self.lengths, timedelta(0)) + self.between)
            instants = [at + sum(self.lengths[:n], timedelta(0)) for n in range(len(PHASES))]
        except OverflowError:
            raise Refused("invalid", _("That is too far away.")) from None
        for one in instants:
            check_instant(one)
        return Phases(**dict(zip(PHASES, instants, strict=True)))


def values_of(rules: Rules) -> dict[str, Any]:
    """What the fields hold for some rules.

    >>> held = values_of(Rules())
    >>> held["floor"], held["samples"], held["rounds"]
    (0.7, 'paper', ['final'])
    """
    held = {name: _get(rules, key) for name, key in KEYS.items()}
    named = (one for one in PRESETS if Rules.preset(one).samples == rules.samples)
    return held | {
        "samples": next(named, ""),
        "rounds": [one.name for one in rules.rounds],
    }


def lengths_of(phases: Phases) -> dict[str, timedelta]:
    """The lengths from phase to phase; nothing without instants."""
    if not phases.scheduled:
        return {}
    instants = [getattr(phases, phase) for phase in PHASES]
    spans = [after - before for before, after in pairwise(instants)]
    return dict(zip(LENGTHS, spans, strict=True))


def with_values(text: str, values: Mapping[str, Any], plan: Plan | None = None) -> str:
    """The rules' text with what the fields say; None and unnamed fields are as they were.

    With a plan all rounds get their times. `Refused` names the fields that do not fit.

    >>> with_values("users = 9  # us", {"users": 30})
    'users = 30  # us'
    """
    wanted, problems = parse_rules(text), []
    for name, key in KEYS.items():
        if values.get(name) is None:
            continue
        try:
            wanted = _set(wanted, key, kind_of(key).read(values[name]))
        except Refusal as refusal:
            problems.append(Problem(0, name, str(values[name])[:80], refusal.expected).as_dict())
    if problems:
        raise Refused("invalid", _("These rules cannot be accepted."), problems)
    if values.get("samples"):
        wanted = replace(wanted, samples=_samples(values["samples"]))
    if values.get("rounds") is not None:
        wanted = replace(wanted, rounds=_rounds(wanted, values["rounds"]))
    if plan is not None:
        rounds = [replace(one, phases=plan.phases(k)) for k, one in enumerate(wanted.rounds)]
        wanted = replace(wanted, rounds=tuple(rounds))
    require_sound(wanted)
    return rewritten(text, wanted)


def with_round(text: str, name: str, values: Mapping[str, Any]) -> str:
    """The rules' text with another weight or other days of a round; 0 days: as the contest's."""
    rules = parse_rules(text)
    changes: dict[str, Any] = {}
    if values.get("weight") is not None:
        changes["weight"] = values["weight"]
    if values.get("days") is not None:
        changes["days"] = values["days"] or None
    rounds = [replace(one, **changes) if one.name == name else one for one in rules.rounds]
    wanted = replace(rules, rounds=tuple(rounds))
    require_sound(wanted)
    return rewritten(text, wanted)


def require_sound(rules: Rules) -> None:
    """`Refused` for rules that contradict themselves, each problem with the field it is about."""
    problems = [Problem(0, name, "", said).as_dict() for name, said in _conflicts(rules)]
    if problems:
        raise Refused("invalid", _("These rules cannot be accepted."), problems)


def field_of(key: str) -> str:
    """The field that a key of the rules is asked in; of a round the key's last part."""
    if key.startswith("samples."):
        return "samples"
    if key.startswith("rounds."):
        parts = key.split(".")
        return parts[-1] if len(parts) > 2 else "rounds"
    return next((name for name, one in KEYS.items() if one == key), "")


def beside_fields(problems: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Problems of a text for a form that has no lines: each is about a field of it."""
    return [
        {**one, "line": 0, "field": field_of(str(one.get("field", ""))) or one.get("field", "")}
        for one in problems
    ]


def _conflicts(rules: Rules) -> Iterator[tuple[str, str]]:
    """What contradicts what, in the words of a form."""
    names = [one.name for one in rules.rounds]
    if not 1 <= len(names) <= MAX_ROUNDS:
        yield "rounds", str(CONFLICTS["round-names"].sentence)
    if not all(_is_name(name) for name in names):
        yield "rounds", _("Names of rounds are small letters, digits and hyphens, one per line.")
    for one in rules.all_conflicts():
        yield CONFLICTS[one.code].field, str(CONFLICTS[one.code].sentence)


def _is_name(name: str) -> bool:
    """Whether a round may be called so."""
    spec = next(one for one in fields(RoundRules) if one.name == "name").metadata["spec"]
    try:
        spec.kind.read(name)
    except Refusal:
        return False
    return True


def _get(rules: Rules, key: str) -> Any:
    found: Any = rules
    for part in key.split("."):
        found = getattr(found, part)
    return found


def _set(rules: Rules, key: str, value: Any) -> Rules:
    table, _dot, name = key.rpartition(".")
    if not table:
        return replace(rules, **{name: value})
    return replace(rules, **{table: replace(getattr(rules, table), **{name: value})})


def _samples(preset: str) -> SampleRules:
    if preset not in PRESETS:
        expected = ", ".join(PRESETS)
        problem = Problem(0, "samples", preset[:80], expected).as_dict()
        raise Refused("invalid", _("These rules cannot be accepted."), [problem])
    return Rules.preset(preset).samples


def _rounds(rules: Rules, names: Sequence[str]) -> tuple[RoundRules, ...]:
    """Rounds by name: those that were there stay as they are."""
    held = {one.name: one for one in rules.rounds}
    names = [name.strip() for name in names if name.strip()]
    return tuple(
        held.get(name) or RoundRules(name, ROUND_WEIGHTS.get(name, 1.0)) for name in names[:21]
    )
