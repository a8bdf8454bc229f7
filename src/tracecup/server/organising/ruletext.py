"""The text of `contest.toml` as an organiser wrote it, with other instants put into it.

Comments and layout stay as they are wherever the text allows it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from typing import Any

from tracecup.contest.rules import PHASES, PhaseName, Rules
from tracecup.contest.rules.file import parse_rules, rules_text
from tracecup.contest.rules.toml_lines import Path, key_lines
from tracecup.errors import InvalidFile

Instants = Mapping[tuple[str, PhaseName], datetime]
"""(name of a round, phase) -> when it begins."""

_INSTANT = r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:\d{2})?"


def instants_of(rules: Rules) -> dict[tuple[str, PhaseName], datetime]:
    """All instants of the rules, by round and phase.

    >>> instants_of(Rules())
    {}
    """
    return {
        (one.name, phase): getattr(one.phases, phase)
        for one in rules.rounds
        for phase in PHASES
        if getattr(one.phases, phase) is not None
    }


def with_instants(text: str, instants: Instants) -> str:
    """The rules' text with some phases at other instants; `InvalidFile` if they do not fit.

    >>> text = '''[[rounds]]
    ... [rounds.phases]  # spring
    ... announce = 2030-04-01T00:00:00Z
    ... anonymize = 2030-04-02T00:00:00Z
    ... judge = 2030-04-03T00:00:00Z
    ... attack = 2030-04-04T00:00:00Z
    ... results = 2030-04-05T00:00:00Z
    ... '''
    >>> later = datetime.fromisoformat("2030-04-06T00:00:00+00:00")
    >>> with_instants(text, {("final", "results"): later}).splitlines()[-1]
    'results = 2030-04-06T00:00:00+00:00'
    """
    rules = parse_rules(text)
    wanted = _rules_with(rules, instants)
    lines, places = text.split("\n"), key_lines(text)
    for k, one in enumerate(rules.rounds):
        for phase in PHASES:
            at = instants.get((one.name, phase))
            number = places.get(("rounds", k, "phases", phase))
            if at is not None and number is not None:
                found = re.compile(rf"({phase}\"?\s*=\s*){_INSTANT}")
                local = at.astimezone(rules.tzinfo)
                lines[number - 1] = found.sub(
                    rf"\g<1>{local.isoformat()}", lines[number - 1], count=1
                )
    edited = "\n".join(lines)
    # What cannot be edited in place (inline tables, odd quoting) is written anew.
    result = edited if _reads_as(edited, wanted) else rules_text(wanted)
    parse_rules(result)
    return result


def without_instants(text: str) -> str:
    """The rules' text with all phases unscheduled, written anew."""
    rules = parse_rules(text)
    rounds = tuple(replace(one, phases=type(one.phases)()) for one in rules.rounds)
    return rules_text(replace(rules, rounds=rounds))


def renamed(text: str, name: str) -> str:
    """The rules' text under another name of the contest."""
    wanted = parse_rules(text).renamed(name)
    number = key_lines(text).get(("name",))
    spelled = rules_text(wanted).split("\n")
    line = next(line for line in spelled if line.startswith("name = "))
    lines = text.split("\n")
    if number is None:
        lines.insert(0, line)
    else:
        lines[number - 1] = line
    edited = "\n".join(lines)
    return edited if _reads_as(edited, wanted) else rules_text(wanted)


def flat(rules: Rules) -> dict[str, str]:
    """Every key of the rules with its value as TOML; rounds are told by their names.

    >>> flat(Rules())["limits.attack_tries"], flat(Rules())["rounds.final.weight"]
    ('2', '9')
    """
    found: dict[str, str] = {}
    _flatten(rules, "", found)
    return found


def place_of(rules: Rules, key: str) -> Path:
    """The path of a key of `flat` in the text of the same rules."""
    parts = key.split(".")
    if parts[0] != "rounds":
        return tuple(parts)
    names = [one.name for one in rules.rounds]
    if parts[1] not in names:
        return ("rounds",)
    return ("rounds", names.index(parts[1]), *parts[2:])


def _flatten(made: Any, prefix: str, found: dict[str, str]) -> None:
    for field in fields(made):
        spec, value = field.metadata["spec"], getattr(made, field.name)
        key = f"{prefix}{field.name}"
        if spec.kind is not None:
            found[key] = "" if value is None else spec.kind.spell(value)
        elif spec.many:
            for one in value:
                _flatten(one, f"{key}.{one.name}.", found)
        elif is_dataclass(value):
            _flatten(value, f"{key}.", found)


def _rules_with(rules: Rules, instants: Instants) -> Rules:
    rounds = []
    for one in rules.rounds:
        changed: dict[str, Any] = {
            phase: instants[one.name, phase] for phase in PHASES if (one.name, phase) in instants
        }
        rounds.append(replace(one, phases=replace(one.phases, **changed)))
    return replace(rules, rounds=tuple(rounds))


def _reads_as(text: str, wanted: Rules) -> bool:
    try:
        return parse_rules(text) == wanted
    except InvalidFile:
        return False
