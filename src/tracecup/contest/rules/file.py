"""`contest.toml`: reading it with errors that name the line, and writing it with comments.

Every key may be left out; an empty file means the paper's contest.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from datetime import datetime
from os import PathLike
from typing import Any, cast

from tracecup.contest.rules import PHASES, ROUND_WEIGHTS, CityRules, Conflict, RoundRules, Rules
from tracecup.contest.rules.toml_lines import Path, key_lines, line_of
from tracecup.contest.rules.values import Refusal, Spec, ValueKind, local_to_utc, shown
from tracecup.errors import InvalidFile, Problem
from tracecup.safeio import Limits, atomic_write, read_lines

RULES_FILE = "contest.toml"
RULES_LIMITS = Limits(max_bytes=256 * 1024, max_line=8 * 1024, max_rows=20_000)
MAX_ROUNDS = 20

_PLACE = re.compile(r"\(at line (\d+), column \d+\)")


def read_rules(path: str | PathLike[str]) -> Rules:
    """The rules of a `contest.toml`; `InvalidFile` names every line that is wrong."""
    return parse_rules("\n".join(read_lines(path, RULES_LIMITS)), path)


def parse_rules(text: str, path: str | PathLike[str] = RULES_FILE) -> Rules:
    """The rules of a TOML text; `path` is what messages call it.

    >>> parse_rules("users = 500\\n[scores]\\nutility_floor = 0.8").scores.utility_floor
    0.8
    """
    try:
        document = tomllib.loads(text)
        lines = key_lines(text)
    except RecursionError:
        problem = Problem(0, "", "values nested too deeply", "a contest's rules in TOML")
        raise InvalidFile(path, [problem]) from None
    except ValueError as error:
        raise InvalidFile(path, [_syntax(str(error))]) from None
    reader = _Reader(lines)
    rules = reader.rules(document)
    if rules is None or reader.problems:
        raise InvalidFile(path, sorted(reader.problems, key=lambda problem: problem.line))
    return rules


def write_rules(path: str | PathLike[str], rules: Rules) -> None:
    """Write a commented `contest.toml` that appears whole or not at all."""
    rules.check()
    with atomic_write(path) as file:
        file.write(rules_text(rules).encode())


def rules_text(rules: Rules | None = None) -> str:
    """A commented `contest.toml` that says everything; reading it gives the same rules.

    >>> parse_rules(rules_text()) == Rules()
    True
    """
    lines = [
        "# The rules of a contest. Every key may be left out and then has the default named here:",
        "# the paper's value, where the paper has one. Distances are in km.",
        *_written(rules or Rules(), ""),
    ]
    return "\n".join(lines) + "\n"


def _syntax(message: str) -> Problem:
    """What is not TOML at all."""
    place = _PLACE.search(message)
    said = _PLACE.sub("", message).strip() or "something else"
    return Problem(int(place[1]) if place else 0, "", f"no TOML ({said[:120]})", "valid TOML")


def _specs(cls: type) -> dict[str, tuple[dataclasses.Field[Any], Spec]]:
    """The keys of a table: name -> field and what is declared about it."""
    return {f.name: (f, f.metadata["spec"]) for f in dataclasses.fields(cls)}


class _Reader:
    """Walks a parsed document along the declared tables and collects what is wrong."""

    def __init__(self, lines: dict[Path, int]) -> None:
        self.lines = lines
        self.problems: list[Problem] = []

    def rules(self, document: Mapping[str, object]) -> Rules | None:
        rules = cast(Rules | None, self.table(Rules, document, ()))
        if rules is None or self.problems:
            return None
        rounds = tuple(
            self.in_zone(rules, one, ("rounds", k, "phases")) for k, one in enumerate(rules.rounds)
        )
        rules = dataclasses.replace(rules, rounds=rounds)
        self.conflicts(rules.conflicts(), ())
        return rules

    def table(self, cls: type, value: object, path: Path) -> object | None:
        """A dataclass of rules from a TOML table."""
        if not isinstance(value, dict):
            self.refuse(path, value, f"a table [{_dotted(path)}]")
            return None
        specs = _specs(cls)
        before = len(self.problems)
        given: dict[str, object] = {}
        for name, found in value.items():
            here = (*path, name)
            if name not in specs:
                self.unknown(here, list(specs))
                continue
            field, spec = specs[name]
            if spec.kind is not None:
                self.value(spec.kind, found, here, given)
            elif spec.many:
                given[name] = self.tables(RoundRules, found, here)
            else:
                given[name] = self.table(cast(type, field.default_factory), found, here)
        if len(self.problems) > before:
            return None
        if cls is RoundRules and "weight" not in given:
            given["weight"] = ROUND_WEIGHTS.get(str(given.get("name", "final")), 1.0)
        if cls is CityRules and "file" in given and "builtin" not in given:
            given["builtin"] = None
        made = cls(**given)
        if cls is not Rules:
            self.conflicts(made.conflicts() if hasattr(made, "conflicts") else iter(()), path)
        return cast(object, made)

    def tables(self, cls: type, value: object, path: Path) -> tuple[object, ...]:
        """An array of tables, at least one."""
        name = _dotted(path)
        if not isinstance(value, list) or not 1 <= len(value) <= MAX_ROUNDS:
            self.refuse(path, value, f"1 to {MAX_ROUNDS} tables [[{name}]]")
            return ()
        return tuple(self.table(cls, one, (*path, k)) for k, one in enumerate(value))

    def value(self, kind: ValueKind, found: object, path: Path, given: dict[str, object]) -> None:
        """One key of a table."""
        try:
            given[str(path[-1])] = kind.read(found)
        except Refusal as refusal:
            if refusal.element is not None and isinstance(found, list):
                path, found = (*path, refusal.element), found[refusal.element]
            self.refuse(path, found, refusal.expected)

    def in_zone(self, rules: Rules, one: RoundRules, path: Path) -> RoundRules:
        """A round whose local times are put into the contest's zone."""
        before = len(self.problems)
        instants: dict[str, datetime] = {}
        for name in PHASES:
            instant = getattr(one.phases, name)
            if instant is None or instant.tzinfo is not None:
                continue
            try:
                instants[name] = local_to_utc(instant, rules.tzinfo)
            except Refusal as refusal:
                self.refuse((*path, name), instant, refusal.expected)
        phases = dataclasses.replace(one.phases, **instants)
        if len(self.problems) == before:
            self.conflicts(phases.conflicts(), path)
        return dataclasses.replace(one, phases=phases)

    def conflicts(self, found: Iterator[Conflict], path: Path) -> None:
        for one in found:
            line = line_of(self.lines, (*path, *one.path))
            self.problems.append(Problem(line, "", one.found, one.expected))

    def refuse(self, path: Path, value: object, expected: str) -> None:
        found = f"{_dotted(path)} = {shown(value)}"
        self.problems.append(Problem(line_of(self.lines, path), "", found, expected))

    def unknown(self, path: Path, known: list[str]) -> None:
        name = str(path[-1])
        near = difflib.get_close_matches(name[:60].lower(), known, n=1, cutoff=0.5)
        where = f"[{_dotted(path[:-1])}]" if path[:-1] else "the file"
        hint = f"{near[0]} (nearest), or another" if near else "a"
        expected = f"{hint} key of {where}: {', '.join(known)}"
        found = f"the unknown key {shown(name)}"
        self.problems.append(Problem(line_of(self.lines, path), "", found, expected))


def _dotted(path: Path) -> str:
    """A path as people write it: rounds.phases.attack (numbers of arrays are left out)."""
    return ".".join(str(part) for part in path if isinstance(part, str))[:100]


def _written(made: object, prefix: str) -> Iterator[str]:
    """The lines of a table: its own keys first, then the tables below."""
    specs = _specs(type(made))
    for name, (field, spec) in specs.items():
        if spec.kind is None:
            continue
        default = field.default
        if default is dataclasses.MISSING:
            default = cast(Any, field.default_factory)()
        standard = "unset by default"
        if default is not None:
            standard = f"default {spec.kind.spell(default)}"
        yield ""
        yield from _comment(f"{spec.meaning} {_sentence(spec.kind.expected)}; {standard}.")
        value = getattr(made, name)
        if value is None:
            yield f"# {name} = {spec.example or spec.kind.spell(default)}"
        else:
            yield f"{name} = {spec.kind.spell(value)}"
    for name, (_, spec) in specs.items():
        if spec.kind is not None:
            continue
        path = f"{prefix}{name}"
        below = getattr(made, name)
        for one in below if spec.many else (below,):
            yield ""
            yield from _comment(spec.meaning)
            yield f"[[{path}]]" if spec.many else f"[{path}]"
            yield from _written(one, f"{path}.")


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(text, 96, break_on_hyphens=False)]
