"""Methods by name: one grammar and one registry for obfuscations, attacks and synthesizers.

`"MRLH(1,1,0.5)"` means the same on the command line, in contest files, pages and studies.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from typing import Any, ClassVar, Literal, TypeVar, cast

from tracecup.errors import InvalidParameter, UnknownMethod

Kind = Literal["obfuscator", "reid", "inference", "synthesizer"]
KINDS: tuple[Kind, ...] = ("obfuscator", "reid", "inference", "synthesizer")
ENTRY_POINTS: dict[str, str] = {
    "obfuscator": "tracecup.obfuscators",
    "reid": "tracecup.attacks",
    "inference": "tracecup.attacks",
    "synthesizer": "tracecup.synthesizers",
}
MAX_NAME_LENGTH = 500

Value = float | int | str | bool


@dataclass(frozen=True)
class Parameter:
    """One declared parameter of a method: its type, its allowed values, what it means.

    `attribute` is the field that holds it: the name, with an underscore after Python's keywords
    (parameter `lambda`, field `lambda_`).
    """

    name: str
    default: Value
    meaning: str
    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    words: tuple[str, ...] = ()
    positional: bool = True
    attribute: str = ""

    @property
    def allowed(self) -> str:
        """The allowed range, as people write it."""
        if isinstance(self.default, bool):
            return "true or false"
        if self.words:
            return "one of " + ", ".join(self.words)
        whole = "a whole number" if isinstance(self.default, int) else "a number"
        lower = "" if self.low == -math.inf else f" {'>' if self.low_open else '>='} {self.low:g}"
        upper = "" if self.high == math.inf else f" <= {self.high:g}"
        return whole + " and".join(part for part in (lower, upper) if part)

    def convert(self, value: Value, owner: str) -> Value:
        """The value in the parameter's type, or an `InvalidParameter` that names the rule."""
        good: Value | None = None
        if isinstance(self.default, bool):
            good = {"true": True, "false": False}.get(str(value).lower())
        elif self.words:
            good = {w.lower(): w for w in self.words}.get(str(value).lower())
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            above = value > self.low if self.low_open else value >= self.low
            if math.isfinite(value) and above and value <= self.high:
                if not isinstance(self.default, int):
                    good = float(value)
                elif float(value).is_integer():
                    good = int(value)
        if good is None:
            raise InvalidParameter(f"{owner}.{self.name} must be {self.allowed}, got {value!r}")
        return good


def parameter(
    default: Value,
    meaning: str,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    low_open: bool = False,
    words: tuple[str, ...] = (),
    positional: bool = True,
) -> Any:
    """Declare a field of a method: default, meaning, allowed range.

    A float default accepts numbers, an int default whole numbers, a bool true/false, and
    `words` a choice. Positional parameters are always printed, the others only when they differ
    from their default (as `key=value`).
    """
    rule = Parameter("", default, meaning, low, high, low_open, words, positional)
    return dataclasses.field(default=default, metadata={"rule": rule})


class Method:
    """Base of every named method: a frozen dataclass whose fields are `parameter(...)`s.

    The constructor only stores; `check()` runs when work starts, and when a name is parsed.
    """

    name: ClassVar[str] = ""
    kind: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    citation: ClassVar[str] = ""

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """The declared parameters, in order."""
        fields = dataclasses.fields(cast(Any, cls))
        return tuple(
            dataclasses.replace(f.metadata["rule"], name=f.name.rstrip("_"), attribute=f.name)
            for f in fields
            if "rule" in f.metadata
        )

    def check(self) -> None:
        """Raise `InvalidParameter` if a parameter is outside its declared range."""
        for rule in self.parameters():
            rule.convert(getattr(self, rule.attribute), self.name or type(self).__name__)

    def guarantee(self, events: int = 400) -> str:
        """What the method promises by proof for a trace of `events` events; "" for nothing."""
        return ""

    def __str__(self) -> str:
        rules = self.parameters()
        words = [spell(getattr(self, r.attribute)) for r in rules if r.positional]
        words += [
            f"{r.name}={spell(getattr(self, r.attribute))}"
            for r in rules
            if not r.positional and getattr(self, r.attribute) != r.default
        ]
        return f"{self.name}({','.join(words)})" if words else self.name


def spell(value: Value) -> str:
    """A parameter as names print it: 1, 0.5, words as they are.

    >>> spell(1.0), spell(0.33), spell(True)
    ('1', '0.33', 'true')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


M = TypeVar("M", bound=type[Method])

_methods: dict[str, dict[str, type[Method]]] = {kind: {} for kind in KINDS}
_loaded: set[str] = set()


def register(kind: Kind, name: str, summary: str, citation: str = "") -> Callable[[M], M]:
    """Class decorator: make a `Method` known under `name` (matched without regard to case)."""

    def add(cls: M) -> M:
        cls.name, cls.kind, cls.summary, cls.citation = name, kind, summary, citation
        known = _methods[kind].get(name.lower())
        if known is not None and (known.__module__, known.__qualname__) != (
            cls.__module__,
            cls.__qualname__,
        ):
            raise InvalidParameter(f"{kind} {name!r} is already taken by {known.__module__}")
        _methods[kind][name.lower()] = cls
        return cls

    return add


def methods(kind: Kind) -> dict[str, type[Method]]:
    """All known methods of a kind, name -> class, including those of entry points."""
    _load_entry_points(kind)
    return {cls.name: cls for cls in _methods[kind].values()}


def parse(kind: Kind, text: str) -> Method:
    """The method that `text` names: `Name`, `Name(arg, arg)`, `Name(arg, key=value)`.

    Raises `UnknownMethod` with the nearest name, or `InvalidParameter` with the allowed range.
    """
    name, words, keywords = split_name(text)
    known = methods(kind)
    by_lower = {k.lower(): cls for k, cls in known.items()}
    if name.lower() not in by_lower:
        near = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.4)
        hint = f"; did you mean {by_lower[near[0]].name}?" if near else ""
        raise UnknownMethod(
            f"no {kind} is called {name!r}{hint} (known: {', '.join(sorted(known))})"
        )
    cls = by_lower[name.lower()]
    rules = cls.parameters()
    positional = [r for r in rules if r.positional]
    if len(words) > len(positional):
        signature = ",".join(r.name for r in positional)
        raise InvalidParameter(
            f"{cls.name}({signature}) takes at most {len(positional)} values, got {len(words)}"
        )
    given: dict[str, Value] = {}
    for rule, word in zip(positional, words, strict=False):
        given[rule.attribute] = rule.convert(word, cls.name)
    by_name = {r.name.lower(): r for r in rules}
    for key, word in keywords:
        if key.lower() not in by_name:
            near = difflib.get_close_matches(key.lower(), by_name, n=1, cutoff=0.3)
            hint = f"; did you mean {by_name[near[0]].name}?" if near else ""
            raise InvalidParameter(f"{cls.name} has no parameter {key!r}{hint}")
        rule = by_name[key.lower()]
        if rule.attribute in given:
            raise InvalidParameter(f"{cls.name}.{rule.name} is given twice in {text!r}")
        given[rule.attribute] = rule.convert(word, cls.name)
    method = cls(**given)
    method.check()
    return method


_NAME = re.compile(r"\s*([A-Za-z][A-Za-z0-9_+\-]*)\s*(?:\((.*)\))?\s*\Z", re.DOTALL)


def split_name(text: str) -> tuple[str, list[Value], list[tuple[str, Value]]]:
    """Split `Name(arg, key=value)` into name, positional values and keyword values.

    >>> split_name("Fuzzy-R(0.33, 1, idf=log)")
    ('Fuzzy-R', [0.33, 1], [('idf', 'log')])
    """
    found = _NAME.match(text) if len(text) <= MAX_NAME_LENGTH else None
    if found is None:
        raise InvalidParameter(
            f"a method is written Name or Name(value, key=value), got {text[:60]!r}"
        )
    name, inside = found.group(1), found.group(2)
    words: list[Value] = []
    keywords: list[tuple[str, Value]] = []
    if inside is None or not inside.strip():
        return name, words, keywords
    for part in inside.split(","):
        key, equals, word = part.partition("=")
        if not equals:
            key, word = "", part
        if not word.strip() or (equals and not key.strip()):
            raise InvalidParameter(f"an empty value in {text!r}")
        if equals:
            keywords.append((key.strip(), _value(word.strip())))
        elif keywords:
            raise InvalidParameter(f"{word.strip()!r} stands after a key=value in {text!r}")
        else:
            words.append(_value(word.strip()))
    return name, words, keywords


def _value(word: str) -> Value:
    for number in (int, float):
        try:
            return number(word)
        except ValueError:
            continue
    return word


def _load_entry_points(kind: Kind) -> None:
    group = ENTRY_POINTS[kind]
    if group in _loaded:
        return
    _loaded.add(group)
    for entry in metadata.entry_points(group=group):
        entry.load()
