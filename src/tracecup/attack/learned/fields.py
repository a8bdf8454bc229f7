"""Fields of a model file's header, each with its type and its range.

A file comes from anybody: what does not fit is refused by name, and texts are made printable.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

MAX_WHOLE = 2**53
SHOWN = 40


class Refused(ValueError):
    """A field with something that it may not hold."""

    def __init__(self, field: str, found: str, expected: str) -> None:
        super().__init__(f"{field}: found {found}, expected {expected}")
        self.field, self.found, self.expected = field, found, expected


class Fields:
    """The fields of one part of a header.

    >>> Fields({"noise": 5}, "settings").number("noise", 0, 10)
    5.0
    >>> try:
    ...     Fields({"noise": float("nan")}, "settings").number("noise", 0, 10)
    ... except Refused as error:
    ...     print(error)
    settings.noise: found nan, expected a number from 0 to 10
    """

    def __init__(self, held: object, inside: str = "") -> None:
        if not isinstance(held, Mapping):
            raise Refused(inside, _shown(held), "names and values")
        self.held, self.inside = held, inside

    def part(self, name: str, *only: str) -> Fields:
        """The fields inside a field; others than those in `only` are refused."""
        inside = Fields(self._of(name, "names and values"), name)
        for other in inside.held:
            if other not in only:
                raise inside.refused(str(other), "another field", f"only {', '.join(only)}")
        return inside

    def whole(self, name: str, low: int, high: int = MAX_WHOLE) -> int:
        """A whole number from `low` to `high`."""
        expected = f"a whole number from {low} to {high}"
        value = self._of(name, expected)
        if type(value) is not int or not low <= value <= high:
            raise self.refused(name, value, expected)
        return value

    def only(self, name: str, value: int) -> None:
        """The one whole number that fits."""
        found = self._of(name, str(value))
        if type(found) is not int or found != value:
            raise self.refused(name, found, str(value))

    def number(self, name: str, low: float, high: float, unknown: bool = False) -> float:
        """A number from `low` to `high`; NaN where it may be `unknown`."""
        expected = f"a number from {low:g} to {high:g}"
        value = self._of(name, expected)
        fits = type(value) in (int, float) and low <= value <= high
        if not fits and not (unknown and type(value) is float and math.isnan(value)):
            raise self.refused(name, value, expected)
        return float(value)

    def hexadecimal(self, name: str, digits: int) -> str:
        """A text of exactly so many hexadecimal digits, small letters."""
        expected = f"{digits} hexadecimal digits"
        value = self._of(name, expected)
        if not isinstance(value, str) or not re.fullmatch(f"[0-9a-f]{{{digits}}}", value):
            raise self.refused(name, value, expected)
        return value

    def text(self, name: str, longest: int) -> str:
        """A text of at most so many characters; what cannot be printed becomes a question mark."""
        expected = f"a text of at most {longest} characters"
        value = self._of(name, expected)
        if not isinstance(value, str) or len(value) > longest:
            raise self.refused(name, value, expected)
        return printable(value)

    def texts(self, name: str, most: int, longest: int) -> tuple[str, ...]:
        """At most `most` texts of at most `longest` characters, printable."""
        expected = f"at most {most} texts"
        value = self._of(name, expected)
        if not isinstance(value, list) or len(value) > most:
            raise self.refused(name, value, expected)
        several = Fields({f"{name}[{k}]": one for k, one in enumerate(value)}, self.inside)
        return tuple(several.text(one, longest) for one in several.held)

    def refused(self, name: str, found: object, expected: str) -> Refused:
        """The error for a field of that name."""
        field = f"{self.inside}.{name}" if self.inside else name
        return Refused(printable(field)[: 2 * SHOWN], _shown(found), expected)

    def _of(self, name: str, expected: str) -> Any:
        if name not in self.held:
            raise self.refused(name, "nothing", expected)
        return self.held[name]


def printable(text: str) -> str:
    """A text that does nothing but show itself.

    >>> printable("KMeans" + chr(27) + "[2J(100)")
    'KMeans?[2J(100)'
    """
    return "".join(one if one.isprintable() else "?" for one in text)


def _shown(value: object) -> str:
    """The beginning of a value, as people may read it."""
    if isinstance(value, list | Mapping):
        return f"{len(value)} values"
    text = value if isinstance(value, str) else repr(value)
    return printable(text) if len(text) <= SHOWN else f"{printable(text[:SHOWN])}..."
