"""Methods by name: one grammar and one registry for obfuscations, attacks and synthesizers.

`"MRLH(1,1,0.5)"` means the same on the command line, in contest files, pages and studies.
"""

from __future__ import annotations

import dataclasses
import importlib
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from inspect import isclass
from numbers import Integral, Real
from types import ModuleType
from typing import Any, ClassVar, Literal, TypeVar, cast

from tracecup.errors import InvalidParameter, UnknownMethod
from tracecup.methodnames import (
    MAX_NAME_LENGTH,
    MAX_SHOWN,
    NAME,
    WORD,
    Value,
    is_a,
    nearest,
    spell,
    split_name,
)

__all__ = [
    "ENTRY_POINTS",
    "KINDS",
    "MAX_NAME_LENGTH",
    "MAX_SHOWN",
    "MAX_WHOLE",
    "ROOMS",
    "BrokenPlugin",
    "Kind",
    "Method",
    "Parameter",
    "Value",
    "build",
    "methods",
    "nearest",
    "parameter",
    "parse",
    "register",
    "spell",
    "split_name",
]

Kind = Literal["obfuscator", "reid", "inference", "synthesizer", "measure"]
KINDS: tuple[Kind, ...] = ("obfuscator", "reid", "inference", "synthesizer", "measure")
ENTRY_POINTS: dict[str, str] = {
    "obfuscator": "tracecup.obfuscators",
    "reid": "tracecup.attacks",
    "inference": "tracecup.attacks",
    "synthesizer": "tracecup.synthesizers",
    "measure": "tracecup.measures",
}
ROOMS: dict[str, str] = {
    "obfuscator": "tracecup.obfuscate",
    "reid": "tracecup.attack",
    "inference": "tracecup.attack",
    "synthesizer": "tracecup.synth",
    "measure": "tracecup.attack",
}
"""Packages that register the built-in methods; loaded when a name of their kind is looked up."""
MAX_WHOLE = 2**53 - 1
"""Largest whole number of a parameter: up to here texts, floats and whole numbers agree."""


class BrokenPlugin(UserWarning):
    """An entry point that cannot be used; it is skipped and all other methods stay."""


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
    naming: tuple[str, ...] = ()
    text: bool = False

    @property
    def allowed(self) -> str:
        """The allowed range, as people write it."""
        if isinstance(self.default, bool):
            return "true or false"
        if self.words:
            return "one of " + ", ".join([*self.words, *(f"{w}(NAME)" for w in self.naming)])
        if self.text:
            return "a text without commas and parentheses"
        bounds = []
        if self.low != -math.inf:
            bounds.append(f"{'>' if self.low_open else '>='} {spell(self.low)}")
        if self.high != math.inf:
            bounds.append(f"<= {spell(self.high)}")
        sort = "a whole number" if isinstance(self.default, int) else "a number"
        return f"{sort} {' and '.join(bounds)}".rstrip()

    def convert(self, value: Value, owner: str) -> Value:
        """What people wrote, in the parameter's type, or an `InvalidParameter` with the rule.

        Words and true/false in any case, 3.0 for a whole number.
        """
        good: Value | None = None
        if isinstance(self.default, bool):
            good = {"true": True, "false": False}.get(str(value).lower())
        elif self.words:
            good = {w.lower(): w for w in self.words}.get(str(value).lower())
            good = good or self._named(value)
        elif self.text:
            good = value if isinstance(value, str) else spell(value)
        else:
            number = self._within(value)
            if number is not None and not isinstance(self.default, int):
                good = number
            elif number is not None and number.is_integer():
                good = int(number)
        if good is None:
            raise self._refusal(value, owner)
        return good

    def check(self, value: Value, owner: str) -> None:
        """Raise `InvalidParameter` unless a method may compute with `value` as it is."""
        if isinstance(self.default, bool):
            good = isinstance(value, bool)
        elif self.words:
            good = isinstance(value, str) and (value in self.words or value == self._named(value))
        elif self.text:
            good = isinstance(value, str) and bool(value) and not set(value) & set("(),")
        else:
            typed = not isinstance(self.default, int) or is_a(value, Integral)
            good = typed and self._within(value) is not None
        if not good:
            raise self._refusal(value, owner)

    def _named(self, value: Value) -> str | None:
        """`word(NAME)` for a word of `naming`, the name without spaces; None for anything else."""
        found = NAME.fullmatch(str(value))
        words = {w.lower(): w for w in self.naming}
        if found is None or found.group(1).lower() not in words or not found.group(2):
            return None
        return f"{words[found.group(1).lower()]}({''.join(found.group(2).split())})"

    def _within(self, value: object) -> float | None:
        """The value as a float if it is a number of the declared range."""
        if isinstance(value, bool) or not isinstance(value, Real):
            return None
        try:
            number = float(value)
        except OverflowError:
            return None
        above = number > self.low if self.low_open else number >= self.low
        small = abs(number) <= MAX_WHOLE if isinstance(self.default, int) else True
        good = math.isfinite(number) and above and number <= self.high and small
        return number if good else None

    def _refusal(self, value: Value, owner: str) -> InvalidParameter:
        got, allowed = repr(value), self.allowed
        if isinstance(value, int | float) and isinstance(self.default, int) and value > MAX_WHOLE:
            allowed += f"; whole numbers end at {MAX_WHOLE}"
        shown = got if len(got) <= MAX_SHOWN else got[:MAX_SHOWN] + "..."
        return InvalidParameter(f"{owner}.{self.name} must be {allowed}, got {shown}")


def parameter(
    default: Value,
    meaning: str,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    low_open: bool = False,
    words: tuple[str, ...] = (),
    positional: bool = True,
    naming: tuple[str, ...] = (),
    text: bool = False,
) -> Any:
    """Declare a field of a method: default, meaning, allowed range.

    A float default accepts numbers, an int default whole numbers, a bool true/false, and
    `words` a choice. Words of `naming` take the name of a method: `known(PL(4,1))`; the method
    that declares them checks the name. `text` takes any text, such as a file. Positional
    parameters are always printed, the others only when they differ from their default (as
    `key=value`).
    """
    if isinstance(default, str) and not words and not text:
        raise InvalidParameter(
            f"parameter({default!r}) is a word: declare all words=(...), or text=True"
        )
    rule = Parameter(
        "default", default, meaning, low, high, low_open, words, positional, naming=naming,
        text=text,
    )  # fmt: skip
    rule.check(default, "parameter")
    return dataclasses.field(default=default, metadata={"rule": rule})


class Method:
    """Base of every named method: a frozen dataclass whose fields are `parameter(...)`s.

    The constructor only stores; `check()` runs when work starts, and when a name is parsed.
    """

    name: ClassVar[str] = ""
    kind: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    needs_model: ClassVar[bool] = False
    """Whether it answers only on the city and the day that its model file was trained for."""
    citation: ClassVar[str] = ""

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """The declared parameters, in order; inherited ones by keyword only come last."""
        fields = sorted(dataclasses.fields(cast(Any, cls)), key=lambda field: bool(field.kw_only))
        return tuple(
            dataclasses.replace(f.metadata["rule"], name=f.name.rstrip("_"), attribute=f.name)
            for f in fields
            if "rule" in f.metadata
        )

    def check(self) -> None:
        """Raise `InvalidParameter` if a parameter is outside its declared range."""
        for rule in self.parameters():
            rule.check(getattr(self, rule.attribute), self.name or type(self).__name__)

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


C = TypeVar("C", bound=type[Method])
M = TypeVar("M", bound=Method)

_methods: dict[str, dict[str, type[Method]]] = {kind: {} for kind in KINDS}
_loaded: set[str] = set()


def register(kind: Kind, name: str, summary: str, citation: str = "") -> Callable[[C], C]:
    """Class decorator: make a `Method` known under `name` (matched without regard to case).

    Stands above `@dataclass(frozen=True)`. A name begins with a letter and goes on with letters,
    digits, `-` and `_`; a plus may stand at its end.
    """

    def add(cls: C) -> C:
        _check_declaration(cls, kind, name)
        known = _methods[kind].get(name.lower())
        if known is not None and (known.__module__, known.__qualname__) != (
            cls.__module__,
            cls.__qualname__,
        ):
            raise InvalidParameter(f"{kind} {name!r} is already taken by {known.__module__}")
        cls.name, cls.kind, cls.summary, cls.citation = name, kind, summary, citation
        _methods[kind][name.lower()] = cls
        return cls

    return add


def methods(kind: Kind) -> dict[str, type[Method]]:
    """All known methods of a kind, name -> class: the built-in ones, then those of entry points.

    An entry point that fails to load is a `BrokenPlugin` warning and is left out.
    """
    # By name, since no room may be imported here: a name must mean the same whoever asks first.
    importlib.import_module(ROOMS[kind])
    _load_entry_points(ENTRY_POINTS[kind])
    return {cls.name: cls for cls in _methods[kind].values()}


def parse(kind: Kind, text: str) -> Method:
    """The method that `text` names: `Name`, `Name(arg, arg)`, `Name(arg, key=value)`.

    Raises `UnknownMethod` with the nearest name, or `InvalidParameter` with the allowed range.
    """
    name, known = split_name(text)[0], methods(kind)
    for spelling, cls in known.items():
        if spelling.lower() == name.lower():
            return build(cls, text)
    raise UnknownMethod(
        f"no {kind} is called {name[:MAX_SHOWN]!r}{nearest(name, known)} "
        f"(known: {', '.join(sorted(known))})"
    )


def build(cls: type[M], text: str) -> M:
    """A `cls` with the parameters that stand in `text`, whatever name stands before them."""
    _, words, keywords = split_name(text)
    rules, owner = cls.parameters(), cls.name or cls.__name__
    positional = [r for r in rules if r.positional]
    if len(words) > len(positional):
        signature = ",".join(r.name for r in positional)
        raise InvalidParameter(
            f"{owner}({signature}) takes at most {len(positional)} values, got {len(words)}"
        )
    given: dict[str, Value] = {}
    for rule, word in zip(positional, words, strict=False):
        given[rule.attribute] = rule.convert(word, owner)
    by_name = {r.name.lower(): r for r in rules}
    for key, word in keywords:
        if key.lower() not in by_name:
            known = [r.name for r in rules]
            raise InvalidParameter(
                f"{owner} has no parameter {key[:MAX_SHOWN]!r}{nearest(key, known)} "
                f"(known: {', '.join(known) or 'none'})"
            )
        rule = by_name[key.lower()]
        if rule.attribute in given:
            raise InvalidParameter(f"{owner}.{rule.name} is given twice in {text!r}")
        given[rule.attribute] = rule.convert(word, owner)
    method = cls(**given)
    method.check()
    return method


def _check_declaration(cls: type[Method], kind: str, name: str) -> None:
    if kind not in KINDS:
        raise InvalidParameter(f"a kind is one of {', '.join(KINDS)}, got {kind!r}")
    if not WORD.fullmatch(name):
        raise InvalidParameter(
            f"{name!r} cannot be a method's name: letters, digits, - and _, a letter first, "
            "a plus only at the end"
        )
    if not (isclass(cls) and issubclass(cls, Method)):
        raise InvalidParameter(f"{name} must be registered with a class derived from Method")
    own = vars(cls).get("__dataclass_params__")
    if own is None or not own.frozen:
        raise InvalidParameter(
            f"{cls.__name__} must be a frozen dataclass: write @dataclass(frozen=True) between "
            "@register(...) and class"
        )
    for field in dataclasses.fields(cast(Any, cls)):
        missing = (field.default, field.default_factory) == (dataclasses.MISSING,) * 2
        if field.init and missing:
            raise InvalidParameter(
                f"{cls.__name__}.{field.name} has no default: declare it with parameter(...)"
            )
    names = [rule.name.lower() for rule in cls.parameters()]
    if len(set(names)) < len(names):
        raise InvalidParameter(f"two parameters of {cls.__name__} differ in nothing but case")


def _load_entry_points(group: str) -> None:
    if group in _loaded:
        return
    _loaded.add(group)
    for entry in sorted(metadata.entry_points(group=group), key=lambda e: (e.name, e.value)):
        # A plug-in may fail in any way, even by leaving the program; the others go on.
        try:
            problem = _unregistered(entry.load())
        except (Exception, SystemExit) as error:
            problem = f"{type(error).__name__}: {error}"
        if problem:
            warnings.warn(
                f"plug-in {entry.name} = {entry.value} (entry points {group}) is left out: "
                f"{problem}",
                BrokenPlugin,
                stacklevel=3,
            )


def _unregistered(loaded: object) -> str:
    """What is wrong with an entry point that loads but makes no method known; "" if it does."""
    known = [cls for by_name in _methods.values() for cls in by_name.values()]
    if isinstance(loaded, ModuleType):
        inside = (loaded.__name__, f"{loaded.__name__}.")
        found = any(c.__module__ == inside[0] or c.__module__.startswith(inside[1]) for c in known)
    else:
        found = loaded in known
    return "" if found else "it registers no method; put @register(...) above the class"
