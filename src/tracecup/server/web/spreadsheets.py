"""Texts of people in tables that others open as spreadsheets: never a formula there.

Programs of many countries take `;` for the separator, so a formula can begin behind one, too.
"""

from __future__ import annotations

import re

# Full-width signs are formulas in Japanese programs.
_BEGINS = "=+\\-@\uff1d\uff0b\uff0d\uff20"
_FORMULA = re.compile(rf"(^|[;\t\r\n])([\s\"]*)(?=[{_BEGINS}])")


def harmless(text: str) -> str:
    """A text that no spreadsheet takes for a formula, whatever it takes for separators.

    >>> harmless("=1+1"), harmless("a;=1+1"), harmless("PL(4,-1); fine")
    ("'=1+1", "a;'=1+1", 'PL(4,-1); fine')
    """
    return _FORMULA.sub(r"\1\2'", text)
