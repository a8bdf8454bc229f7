"""Template tags of the teams' pages: what their releases were worth.

The chart is that of `charts.history`.
"""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.translation import gettext as _

from tracecup.charts.history import Attempt, utility_history
from tracecup.server.submissions.data import ReleaseSet
from tracecup.server.templatetags.tracecup import COMPONENTS, chart

register = template.Library()


@register.inclusion_tag(f"{COMPONENTS}/chart.html")
def history(held: ReleaseSet, floor: float) -> Any:
    """The utility of a data set's releases, in the order they came in."""
    attempts = [
        Attempt(one.attempt, one.utility, bool(one.valid), one.counts)
        for one in held.scored
        if one.utility is not None
    ]
    return chart(utility_history(f"history-{held.challenge}", attempts, floor, _))
