"""The kinds of values a rules file may hold: how each is read, checked, written and explained.

A kind turns a TOML value into what the program keeps, or refuses it and says what is accepted.
"""

from __future__ import annotations

import dataclasses
import json
import re
import zoneinfo
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, tzinfo
from typing import Any, Protocol

from tracecup.contest.challenges import CHALLENGES, AttackKind
from tracecup.errors import InvalidParameter, TraceCupError
from tracecup.registry import parse
from tracecup.safeio import show

YEARS = (1970, 9000)
MAX_TEXT = 200
MAX_ZONE = 60
MAX_LISTED_METHODS = 50
HUGE_BITS = 200


class Refusal(ValueError):
    """A value that a kind does not accept; `element` is its place in an array, if in one."""

    def __init__(self, expected: str, element: int | None = None) -> None:
        self.expected = expected
        self.element = element
        super().__init__(expected)


class ValueKind(Protocol):
    """What a key may hold."""

    @property
    def expected(self) -> str:
        """What is accepted, as people write it."""

    def read(self, value: object) -> object:
        """The value as the program keeps it, or a `Refusal`."""

    def spell(self, value: Any) -> str:
        """The kept value as TOML."""


@dataclass(frozen=True)
class Text:
    """A line of text, possibly with a shape of its own."""

    expected: str = f"a line of text of 1 to {MAX_TEXT} characters"
    pattern: str = ""

    def read(self, value: object) -> str:
        """Printable text of the right shape."""
        if not isinstance(value, str) or not 1 <= len(value) <= MAX_TEXT:
            raise Refusal(self.expected)
        if not value.isprintable() or (self.pattern and not re.fullmatch(self.pattern, value)):
            raise Refusal(self.expected)
        return value

    def spell(self, value: str) -> str:
        """A TOML string; printable text needs no escapes but JSON's."""
        return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True)
class Whole:
    """A whole number from `low` to `high`."""

    low: int
    high: int

    @property
    def expected(self) -> str:
        """The range."""
        return f"a whole number from {self.low} to {self.high}"

    def read(self, value: object) -> int:
        """The number."""
        if isinstance(value, bool) or not isinstance(value, int):
            raise Refusal(self.expected)
        if not self.low <= value <= self.high:
            raise Refusal(self.expected)
        return value

    def spell(self, value: int) -> str:
        """Decimal digits."""
        return str(value)


@dataclass(frozen=True)
class Number:
    """A number from `low` (or above it) to `high`."""

    low: float
    high: float
    above: bool = False

    @property
    def expected(self) -> str:
        """The range."""
        start = f"above {self.low:g} and at most" if self.above else f"from {self.low:g} to"
        return f"a number {start} {self.high:g}"

    def read(self, value: object) -> float:
        """The number as a float; not a number is out of every range."""
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise Refusal(self.expected)
        enough = value > self.low if self.above else value >= self.low
        if not enough or not value <= self.high:
            raise Refusal(self.expected)
        return float(value)

    def spell(self, value: float) -> str:
        """Shortest digits that give the same number; whole numbers without a point."""
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


@dataclass(frozen=True)
class Rising:
    """An array of a fixed length of rising numbers between 0 and 1."""

    count: int

    @property
    def expected(self) -> str:
        """The shape."""
        return f"{self.count} rising numbers between 0 and 1"

    def read(self, value: object) -> tuple[float, ...]:
        """The numbers."""
        if not isinstance(value, list) or len(value) != self.count:
            raise Refusal(self.expected)
        kind = Number(0, 1)
        for k, element in enumerate(value):
            try:
                kind.read(element)
            except Refusal as refusal:
                raise Refusal(refusal.expected, k) from None
            if k and not element > value[k - 1]:
                raise Refusal("more than the number before", k)
        return tuple(float(element) for element in value)

    def spell(self, value: tuple[float, ...]) -> str:
        """An array on one line."""
        return "[" + ", ".join(Number(0, 1).spell(element) for element in value) + "]"


@dataclass(frozen=True)
class Flag:
    """Yes or no."""

    expected: str = "true or false"

    def read(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise Refusal(self.expected)
        return value

    def spell(self, value: bool) -> str:
        """TOML's spelling."""
        return "true" if value else "false"


@dataclass(frozen=True)
class Word:
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def expected(self) -> str:
        quoted = [f'"{word}"' for word in self.words]
        return quoted[0] if len(quoted) == 1 else f"one of {', '.join(quoted)}"

    def read(self, value: object) -> str:
        if not isinstance(value, str) or value not in self.words:
            raise Refusal(self.expected)
        return value

    def spell(self, value: str) -> str:
        """A quoted word."""
        return json.dumps(value)


@dataclass(frozen=True)
class TimeOfDay:
    """A time of day in whole minutes, kept as minutes since midnight."""

    expected: str = "a time of day in whole minutes, like 08:00:00"

    def read(self, value: object) -> int:
        """Minutes since midnight."""
        if isinstance(value, str) and re.fullmatch(r"\d\d:\d\d", value, re.ASCII):
            hour, minute = int(value[:2]), int(value[3:])
            if hour < 24 and minute < 60:
                return 60 * hour + minute
        if not isinstance(value, time) or value.second or value.microsecond:
            raise Refusal(self.expected)
        return 60 * value.hour + value.minute

    def spell(self, value: int) -> str:
        """A TOML local time."""
        return f"{value // 60:02d}:{value % 60:02d}:00"


@dataclass(frozen=True)
class Instant:
    """A date and time, with its offset or in the contest's zone."""

    expected: str = "a date and time like 2030-05-01T10:00:00, or with an offset like +09:00"

    def read(self, value: object) -> datetime:
        """The instant in UTC if it has an offset, else as written."""
        if not isinstance(value, datetime) or not YEARS[0] <= value.year <= YEARS[1]:
            raise Refusal(f"{self.expected}, in the years {YEARS[0]} to {YEARS[1]}")
        return value if value.tzinfo is None else value.astimezone(UTC)

    def spell(self, value: datetime) -> str:
        """A TOML date-time."""
        return value.isoformat()


@dataclass(frozen=True)
class Zone:
    """The name of a time zone."""

    expected: str = 'the name of a time zone, like "UTC" or "Asia/Tokyo"'

    def read(self, value: object) -> str:
        """A zone that this computer knows."""
        if not isinstance(value, str):
            raise Refusal(self.expected)
        try:
            zone_of(value)
        except InvalidParameter:
            raise Refusal(self.expected) from None
        return value

    def spell(self, value: str) -> str:
        """A quoted name."""
        return json.dumps(value)


@dataclass(frozen=True)
class AttackList:
    """A list of attacks by name, as the registry writes them."""

    challenge: AttackKind

    @property
    def expected(self) -> str:
        """What the list holds."""
        what = CHALLENGES[self.challenge].title.replace(" ", "-")
        return f"a list of at most {MAX_LISTED_METHODS} names of {what} attacks, each once"

    def read(self, value: object) -> tuple[str, ...]:
        """The names, spelled as the registry prints them."""
        import tracecup.attack  # noqa: F401  importing the room makes its attacks known by name

        if not isinstance(value, list) or len(value) > MAX_LISTED_METHODS:
            raise Refusal(self.expected)
        names: list[str] = []
        for k, element in enumerate(value):
            if not isinstance(element, str):
                raise Refusal("the name of an attack in quotes", k)
            try:
                name = str(parse(CHALLENGES[self.challenge].method, element))
            except TraceCupError as error:
                raise Refusal(f"an attack ({error})", k) from None
            if name in names:
                raise Refusal("every attack once", k)
            names.append(name)
        return tuple(names)

    def spell(self, value: tuple[str, ...]) -> str:
        """An array on one line."""
        return "[" + ", ".join(json.dumps(name) for name in value) + "]"


@dataclass(frozen=True)
class Spec:
    """A key of a rules file: what it means and holds, an example (TOML) where it may be unset."""

    meaning: str
    kind: ValueKind | None = None
    example: str = ""
    many: bool = False


def key(default: object, meaning: str, kind: ValueKind, example: str = "") -> Any:
    """Declare a key of a table: default, meaning, kind; None means that it may stay unset."""
    return dataclasses.field(default=default, metadata=about(meaning, kind, example))


def about(
    meaning: str, kind: ValueKind | None = None, example: str = "", many: bool = False
) -> dict[str, Spec]:
    """What is declared about a field; without a kind it is a table, or (`many`) several."""
    return {"spec": Spec(meaning, kind, example, many)}


def zone_of(name: str) -> tzinfo:
    """The time zone of a name, or `InvalidParameter`.

    >>> zone_of("UTC")
    datetime.timezone.utc
    """
    if name == "UTC":  # known even where the system has no table of zones
        return UTC
    try:
        if not re.fullmatch(rf"[A-Za-z0-9_+\-/]{{1,{MAX_ZONE}}}", name):
            raise ValueError(name)
        return zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        raise InvalidParameter(f"{show(name)} is not a time zone known here") from None


def local_to_utc(value: datetime, zone: tzinfo) -> datetime:
    """A local time of a zone as UTC; a `Refusal` where the clock jumps over it or shows it twice.

    >>> local_to_utc(datetime(2019, 10, 21, 10), zone_of("UTC")).isoformat()
    '2019-10-21T10:00:00+00:00'
    """
    first, second = (value.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if first.astimezone(zone).replace(tzinfo=None, fold=0) != value:
        raise Refusal("a time that exists in the contest's zone (the clock is put forward then)")
    if first != second:
        raise Refusal("a time with its offset (the clock is put back and shows this one twice)")
    return first


def shown(value: object) -> str:
    """How a value found in a rules file is shown to people; never long."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return "a huge number" if value.bit_length() > HUGE_BITS else str(value)
    if isinstance(value, (float, date, time)):
        return value.isoformat() if isinstance(value, (date, time)) else repr(value)
    if isinstance(value, str):
        return show(value)
    return f"an array of {len(value)}" if isinstance(value, list) else "a table"
