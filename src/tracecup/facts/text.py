"""Words of participants and long names, fit to be shown on a page, in a picture or in a table.

Names come from participants, so they are cleaned of what could disturb a page or a picture.
"""

from __future__ import annotations

import unicodedata

LONGEST_NAME = 60
# Joiners belong to scripts and emoji; every other invisible format character can be used to
# reorder or hide text and is dropped.
KEPT_FORMAT = frozenset({"\u200c", "\u200d"})

Cell = str | int | float | None
"""A cell of a table: a word, a count, a number with some digits, or nothing."""


def clean(text: str, longest: int = LONGEST_NAME) -> str:
    """A name fit to be shown: one line, no control, bidi or invisible characters, not too long.

    >>> clean("a\\u202eb\\n c\\x00")
    'ab c'
    >>> clean("x" * 100, longest=5)
    'xxxx…'
    """
    shown = "".join(
        " " if character.isspace() else character for character in text if _harmless(character)
    )
    shown = " ".join(shown.split())
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def spelled(cell: Cell, digits: int = 3) -> str:
    """A cell as tables write it: numbers with some digits, counts without, a dash for nothing.

    >>> spelled(0.25), spelled(7), spelled("PL(4,1)"), spelled(None)
    ('0.250', '7', 'PL(4,1)', '–')
    """
    if cell is None:
        return "–"
    return f"{cell:.{digits}f}" if isinstance(cell, float) else str(cell)


def _harmless(character: str) -> bool:
    if character.isspace():
        return True
    code = ord(character)
    if code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:  # not characters, invalid in SVG
        return False
    category = unicodedata.category(character)
    return category not in {"Cc", "Cs", "Cf", "Co"} or character in KEPT_FORMAT
