"""The text of `contest.toml` as an organiser wrote it, with other values put into it.

Comments and layout stay as they are wherever the text allows it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Any

from tracecup.contest.rules import PHASES, PhaseName, Rules
from tracecup.contest.rules.file import parse_rules, rules_text
from tracecup.contest.rules.toml_lines import Path, key_lines
from tracecup.errors import InvalidFile

Instants = Mapping[tuple[str, PhaseName], datetime]
"""(name of a round, phase) -> when it begins."""

_INSTANT = r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:\d{2})?"
_VALUE = rf"{_INSTANT}|\"(?:[^\"\\]|\\.)*\"|'[^']*'|\[[^\]#]*\]|[^\s,#\]}}]+"


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
    wanted = _rules_with(parse_rules(text), instants)
    result = rewritten(text, wanted)
    parse_rules(result)
    return result


def rewritten(text: str, wanted: Rules) -> str:
    """The rules' text saying other rules: keys that differ are put in place, comments stay.

    What cannot be put in place (other rounds, inline tables, odd quoting) is written anew as a
    whole. O(changed keys x length).

    >>> text = "users = 500  # a class\\n[limits]\\nattack_tries = 3"
    >>> wanted = replace(parse_rules(text), users=40)
    >>> rewritten(text, wanted).splitlines()
    ['users = 40  # a class', '[limits]', 'attack_tries = 3']
    """
    held = parse_rules(text)
    before, after = flat(held), flat(wanted)
    edited = text
    if [one.name for one in held.rounds] == [one.name for one in wanted.rounds]:
        spelled = _spelled(wanted)
        for key in after:
            if before[key] != after[key]:
                edited = _put(edited, place_of(wanted, key), spelled[key])
            if edited is not text and not _is_toml(edited):
                return rules_text(wanted)
    return edited if _reads_as(edited, wanted) else rules_text(wanted)


def without_instants(text: str) -> str:
    """The rules' text with all phases unscheduled, written anew."""
    rules = parse_rules(text)
    rounds = tuple(replace(one, phases=type(one.phases)()) for one in rules.rounds)
    return rules_text(replace(rules, rounds=rounds))


def renamed(text: str, name: str) -> str:
    """The rules' text under another name of the contest."""
    return rewritten(text, parse_rules(text).renamed(name))


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


def _flatten(made: Any, prefix: str, found: dict[str, str], zone: tzinfo = UTC) -> None:
    for field in fields(made):
        spec, value = field.metadata["spec"], getattr(made, field.name)
        key = f"{prefix}{field.name}"
        if isinstance(value, datetime):
            value = value.astimezone(zone)
        if spec.kind is not None:
            found[key] = "" if value is None else spec.kind.spell(value)
        elif spec.many:
            for one in value:
                _flatten(one, f"{key}.{one.name}.", found, zone)
        elif is_dataclass(value):
            _flatten(value, f"{key}.", found, zone)


def _spelled(rules: Rules) -> dict[str, str]:
    """Every key as `flat` has it, instants in the contest's zone."""
    found: dict[str, str] = {}
    _flatten(rules, "", found, rules.tzinfo)
    return found


def _put(text: str, path: Path, value: str) -> str:
    """A TOML text with one key set; "" unsets it. Only values of one line are found."""
    lines, places = text.split("\n"), key_lines(text)
    number = places.get(path)
    if number is not None:
        _replace(lines, number - 1, str(path[-1]), value)
    elif value:
        _insert(lines, places, path, value)
    return "\n".join(lines)


def _replace(lines: list[str], at: int, name: str, value: str) -> None:
    """Another value on a line; the comment behind it stays."""
    pattern = re.compile(rf"^(.*?\b{re.escape(name)}[\"']?\s*=\s*)({_VALUE})")
    if value:
        lines[at] = pattern.sub(lambda found: found[1] + value, lines[at], count=1).rstrip()
    else:
        lines[at] = f"# {lines[at]}"


def _insert(lines: list[str], places: Mapping[Path, int], path: Path, value: str) -> None:
    """A new key: below the header of its table, or of the nearest around it, else at the end."""
    if len(path) == 1:
        lines.insert(0, f"{path[0]} = {value}")
        return
    headers = [number for number in places.values() if lines[number - 1].lstrip().startswith("[")]
    for end in range(len(path) - 1, 0, -1):
        number = places.get(path[:end])
        if number in headers and isinstance(path[end], str):
            dotted = ".".join(str(part) for part in path[end:])
            lines.insert(number, f"{dotted} = {value}")
            return
    lines += [f"[{path[0]}]", f"{path[1]} = {value}"]


def _rules_with(rules: Rules, instants: Instants) -> Rules:
    rounds = []
    for one in rules.rounds:
        changed: dict[str, Any] = {
            phase: instants[one.name, phase] for phase in PHASES if (one.name, phase) in instants
        }
        rounds.append(replace(one, phases=replace(one.phases, **changed)))
    return replace(rules, rounds=tuple(rounds))


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except ValueError:
        return False
    return True


def _reads_as(text: str, wanted: Rules) -> bool:
    try:
        return parse_rules(text) == wanted
    except InvalidFile:
        return False
