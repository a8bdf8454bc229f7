"""The grammar of names: `Name(value, key=value)` as text, split and spelled.

What the names stand for is known to the registry.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from numbers import Integral

from tracecup.errors import InvalidParameter

MAX_NAME_LENGTH = 500
MAX_SHOWN = 60

Value = float | int | str | bool

# A plus only at the end (PPMTF+): between names it joins the stages of a chain.
WORD = re.compile(r"[A-Za-z][A-Za-z0-9_\-]*\+*", re.ASCII)
NAME = re.compile(rf"\s*({WORD.pattern})\s*(?:\((.*)\))?\s*", re.DOTALL | re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+|\d+\.\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def spell(value: Value) -> str:
    """A parameter as names print it: 1, 0.5, words as they are.

    >>> spell(1.0), spell(0.33), spell(True)
    ('1', '0.33', 'true')
    """
    if isinstance(value, bool | str):
        return str(value).lower() if isinstance(value, bool) else value
    if is_a(value, Integral):
        return repr(int(value))
    number = float(value)
    short = number.is_integer() and abs(number) < 1e15
    return repr(int(number)) if short else repr(number)


def is_a(value: object, sort: type) -> bool:
    """isinstance for the abstract number types, which NumPy's numbers share with Python's."""
    return isinstance(value, sort)


def split_name(text: str) -> tuple[str, list[Value], list[tuple[str, Value]]]:
    """Split `Name(arg, key=value)` into name, positional values and keyword values.

    A value may be a name with values of its own.

    >>> split_name("Fuzzy-R(0.33, 1, idf=log)")
    ('Fuzzy-R', [0.33, 1], [('idf', 'log')])
    >>> split_name("Bayes-R(channel=known(PL(4,1)))")
    ('Bayes-R', [], [('channel', 'known(PL(4,1))')])
    """
    found = NAME.fullmatch(text) if len(text) <= MAX_NAME_LENGTH else None
    if found is None:
        raise InvalidParameter(
            f"a method is written Name or Name(value, key=value), got {text[:MAX_SHOWN]!r}"
        )
    name, inside = found.group(1), found.group(2)
    words: list[Value] = []
    keywords: list[tuple[str, Value]] = []
    if inside is None or not inside.strip():
        return name, words, keywords
    for part in _cut(inside, text):
        key, equals, word = part.partition("=")
        if not equals or "(" in key:
            key, equals, word = "", "", part
        if not word.strip() or (equals and not key.strip()):
            raise InvalidParameter(f"an empty value in {text!r}")
        if equals:
            keywords.append((key.strip(), _value(word.strip())))
        elif keywords:
            raise InvalidParameter(f"{word.strip()!r} stands after a key=value in {text!r}")
        else:
            words.append(_value(word.strip()))
    return name, words, keywords


def _cut(inside: str, text: str) -> list[str]:
    """The values between commas; commas within the parentheses of a value do not count."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(inside):
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            break
        if letter == "," and depth == 0:
            parts.append(inside[begin:at])
            begin = at + 1
    if depth != 0:
        raise InvalidParameter(f"parentheses do not match in {text[:MAX_SHOWN]!r}")
    return [*parts, inside[begin:]]


def nearest(word: str, known: Iterable[str]) -> str:
    """The end of a message on an unknown word: the most similar known one, if any is similar.

    >>> nearest("visitprob", ["VisitProb-R", "Fuzzy-R"])
    '; did you mean VisitProb-R?'
    """
    by_lower = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.4)
    return f"; did you mean {by_lower[near[0]]}?" if near else ""


def short_method(name: str, digits: int = 4) -> str:
    """A method's name with its tuned numbers cut to what people compare.

    >>> short_method("MRLH(1,1,0.14370915963680297)"), short_method("PL(3.25581,1)", 3)
    ('MRLH(1,1,0.1437)', 'PL(3.26,1)')
    """
    return re.sub(r"\d+\.\d{5,}", lambda found: f"{float(found[0]):.{digits}g}", name)


def _value(word: str) -> Value:
    if not _NUMBER.fullmatch(word):
        return word
    try:
        return int(word)
    except ValueError:
        return float(word)
