"""Why a release is valid or not: codes with values, and how archives word them.

Archives and tables hold the English wording; pages word the code in the reader's language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

WORDING: Mapping[str, str] = {
    "reaches-floor": "utility {value} reaches the floor {floor}",
    "below-floor": "utility {value} is below the floor {floor}",
    "nothing": "nothing was handed in",
    "format": "not in the format of obfuscated traces: {error}",
    "invalid-in-sheet": "invalid in the sheet",
    "truth-missing": "cannot be scored: {files} not in the folder",
}
OTHER = "other"


class Reason(str):
    """A reason as it is written in archives, with its `code` and `values`.

    >>> reason = Reason.of("below-floor", value="0.578984", floor="0.7")
    >>> str(reason), Reason.read(str(reason)).values
    ('utility 0.578984 is below the floor 0.7', {'value': '0.578984', 'floor': '0.7'})
    >>> Reason.read("withdrawn by the organisers").code
    'other'
    """

    __slots__ = ("code", "values")
    code: str
    values: Mapping[str, str]

    @classmethod
    def of(cls, code: str, **values: str) -> Reason:
        """The reason of that code, a key of `WORDING`."""
        return cls._made(WORDING[code].format(**values), code, values)

    @classmethod
    def read(cls, text: str) -> Reason:
        """What a stored wording says; `other` for words that are none of these."""
        for code in WORDING:
            if found := _pattern(code).fullmatch(text):
                return cls._made(text, code, found.groupdict())
        return cls._made(text, OTHER, {})

    @classmethod
    def _made(cls, text: str, code: str, values: Mapping[str, str]) -> Reason:
        made = cls(text)
        made.code, made.values = code, values
        return made


@cache
def _pattern(code: str) -> re.Pattern[str]:
    """The wording as a pattern with a group for each value."""
    parts = re.split(r"\{(\w+)\}", WORDING[code])
    words = [re.escape(part) for part in parts[::2]]
    groups = [f"(?P<{name}>.+)" for name in parts[1::2]]
    return re.compile(
        "".join(word + group for word, group in zip(words, [*groups, ""], strict=True)), re.DOTALL
    )
