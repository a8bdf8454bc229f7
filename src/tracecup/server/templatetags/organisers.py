"""Filters of the organisers' pages: what the log holds, for people.

Output is escaped by the template like every other text.
"""

from __future__ import annotations

import json
from typing import Any

from django import template

register = template.Library()
LONGEST = 20_000


@register.filter
def pretty_json(value: Any) -> str:
    """JSON for people; a text inside keeps its lines."""
    if isinstance(value, dict):
        return "\n".join(f"{name}: {_said(one)}" for name, one in value.items())[:LONGEST]
    return _said(value)[:LONGEST]


def _said(value: Any) -> str:
    if isinstance(value, str) and "\n" in value:
        return "\n" + value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
