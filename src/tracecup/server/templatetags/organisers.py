"""Tags and filters of the organisers' pages: what the log holds, the rules as fields.

Output is escaped by the template like every other text.
"""

from __future__ import annotations

import json
from typing import Any

from django import template

from tracecup.server.organising.rulesasked import ASKED, GROUPS

register = template.Library()
LONGEST = 20_000


@register.filter
def pretty_json(value: Any) -> str:
    """JSON for people; a text inside keeps its lines."""
    if isinstance(value, dict):
        return "\n".join(f"{name}: {_said(one)}" for name, one in value.items())[:LONGEST]
    return _said(value)[:LONGEST]


@register.inclusion_tag("organising/rulefields.html")
def rule_fields(form: Any) -> Any:
    """The fields of the rules in their groups."""
    return {
        "groups": [
            (title, [form[one.name] for one in ASKED if one.group is title]) for title in GROUPS
        ]
    }


@register.simple_tag
def form_fields(form: Any, *names: str) -> list[Any]:
    """Some fields of a form, in this order."""
    return [form[name] for name in names if name in form.fields]


def _said(value: Any) -> str:
    if isinstance(value, str) and "\n" in value:
        return "\n" + value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
