"""Lengths of time as people type them, `14 d` or `1 h 30 min`, and a form's field for one.

What is shown can be typed again.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

MAX_LENGTH = timedelta(days=3660)
# Seconds of a unit -> how people may write it; the first is how it is shown.
UNITS: dict[int, tuple[str, ...]] = {
    86400: ("d", "day", "days", "日"),
    3600: ("h", "hour", "hours", "時間"),
    60: ("min", "m", "minute", "minutes", "分"),
    1: ("s", "second", "seconds", "秒"),
}
_PART = re.compile(r"(\d{1,6})\s*([^\W\d]+)")


def parse_length(text: str) -> timedelta | None:
    """A length of time above 0; None where the text is none.

    >>> parse_length("1 h 30 min"), parse_length("14d"), parse_length("soon")
    (datetime.timedelta(seconds=5400), datetime.timedelta(days=14), None)
    """
    said = text.strip().lower()
    if not said or _PART.sub("", said).strip():
        return None
    seconds = 0
    for count, unit in _PART.findall(said):
        size = next((size for size, names in UNITS.items() if unit in names), None)
        if size is None:
            return None
        seconds += int(count) * size
    if not 0 < seconds <= MAX_LENGTH.total_seconds():
        return None
    return timedelta(seconds=seconds)


def length_text(length: timedelta) -> str:
    """A length of time to the second, as `parse_length` reads it.

    >>> length_text(timedelta(days=1, minutes=5))
    '1 d 5 min'
    """
    rest, parts = int(length.total_seconds()), []
    for size, names in UNITS.items():
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {names[0]}")
    return " ".join(parts) or "0 s"


class LengthField(forms.CharField):
    """A length of time; its value is a `timedelta`."""

    def __init__(self, **options: Any) -> None:
        shown = {"placeholder": "1 d 12 h", "autocomplete": "off"}
        options = {"max_length": 40, "widget": forms.TextInput(attrs=shown), **options}
        options["help_text"] = options.get("help_text") or _("Like 14 d, 36 h or 1 h 30 min.")
        super().__init__(**options)

    def clean(self, value: Any) -> Any:
        """The length, or None where nothing was typed."""
        said = super().clean(value)
        if not said:
            return None
        found = parse_length(said)
        if found is None:
            raise ValidationError(_("A length of time, like 14 d, 36 h or 1 h 30 min."))
        return found

    def prepare_value(self, value: Any) -> Any:
        """A length as a text."""
        return length_text(value) if isinstance(value, timedelta) else value
