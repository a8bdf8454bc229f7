"""The language of the charts: every text goes through a function `tell`, as gettext is one.

Texts stand in English in the charts; who shows them in another language passes its `Tell`.
"""

from __future__ import annotations

from collections.abc import Callable

from tracecup.facts.board import MatrixRow, ReleaseFacts
from tracecup.facts.text import clean

Tell = Callable[[str], str]
"""Gives a text in the reader's language; what stands in braces stays as it is."""


def plain(text: str) -> str:
    """English, as it is written here."""
    return text


def who(one: ReleaseFacts | MatrixRow, tell: Tell = plain) -> str:
    """Whose release it is."""
    return tell("Benchmark") if one.benchmark else clean(one.name)


def status(name: str, tell: Tell = plain) -> str:
    """The word for the status of a release (`facts.board.STATUSES`)."""
    return {
        "team": tell("team"),
        "benchmark": tell("benchmark"),
        "hors concours": tell("out of competition"),
        "invalid": tell("invalid"),
    }[name]
